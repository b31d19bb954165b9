package gitlab

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/forge"
	"agent/forge/forgetest"
	"agent/forge/rest"
)

// TestThreads: answers, notes on diffs and the forge's own notes stand in one feed, in order of time.
func TestThreads(t *testing.T) {
	g, _ := stage(t)
	c := connect(t, g, nil)
	m := g.AddMergeRequest("g/p", "T", "B", "ann", "b", "main")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	g.SetClock(func() time.Time { at = at.Add(time.Second); return at })
	first := m.AddNote("ann", "general")
	diff := m.AddDiffNote("bob", "why?", forgetest.Place{Path: "cmd/main.go", Line: 12})
	m.AddSystemNote("ann", "changed the title")
	m.AddDiffNote("bob", "gone?", forgetest.Place{Path: "old.go", Line: 3, Old: true})
	m.AddReply(diff, "ann", "because")
	m.AddReply(first, "bob", "hello")
	m.AddLabels("x")
	comments, err := c.Comments(context.Background(), merge(c, 1), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range comments {
		mark := ""
		if n.System {
			mark = "system "
		}
		got = append(got, mark+n.Author.Login+": "+n.Body)
		if n.Kind != "note" {
			t.Errorf("kind %q", n.Kind)
		}
	}
	want := []string{
		"ann: general", "bob: > cmd/main.go:12\n\nwhy?", "system ann: changed the title", "bob: > old.go:3\n\ngone?",
		"ann: > cmd/main.go:12\n\nbecause", "bob: hello", "system ghost: " + m.Notes()[6].Body,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestThreadState: what was resolved asks for nothing more. Lines and the offsets of a
// suggestion say what it would replace.
func TestThreadState(t *testing.T) {
	g, _ := stage(t)
	m := g.AddMergeRequest("g/p", "T", "B", "ann", "b", "main")
	const suggestion = "```suggestion:-2+1\nx := 1\n```"
	m.AddDiffNote("bob", suggestion, forgetest.Place{Path: "a.go", Line: 12, From: 10})
	m.AddDiffNote("bob", "gone?", forgetest.Place{Path: "old.go", Line: 3, From: 2, Old: true, Resolved: true})
	m.AddDiffNote("bob", "one line", forgetest.Place{Path: "a.go", Line: 3, From: 3})
	m.AddNote("ann", "general")
	got, err := connect(t, g, nil).Comments(context.Background(), merge(connect(t, g, nil), 1), time.Time{})
	want := []string{" > a.go:10-12\n\n" + suggestion, "resolved > old.go:2-3\n\ngone?", " > a.go:3\n\none line", " general"}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, n := range got {
		if text := n.State + " " + n.Body; text != want[i] {
			t.Errorf("%q, want %q", text, want[i])
		}
	}
}

func TestPlace(t *testing.T) {
	for body, want := range map[string]string{
		`{"new_path":"a.png","new_line":null}`:                            "> a.png\n\n",
		`{"old_path":"a.go","old_line":4}`:                                "> a.go:4\n\n",
		`{"new_path":"b.go","new_line":5,"old_path":"a.go","old_line":4}`: "> b.go:5\n\n",
		`{"new_path":"b.go","old_path":"a.go","old_line":4,"new_line":0}`: "> a.go:4\n\n",
		`{"new_path":"a\n# b","new_line":5}`:                              "> a # b:5\n\n",
		`{"position_type":"text"}`:                                        "",
		`null`:                                                            "",
	} {
		g, _ := stage(t)
		c := connect(t, g, nil)
		g.Fault(forgetest.Fault{Path: ".*/notes", Kind: forgetest.Answer, Status: 200, Body: `[{"id":1,"body":"x","position":` + body + `}]`})
		got, err := c.Comments(context.Background(), issue(c, 1), time.Time{})
		if err != nil || len(got) != 1 || got[0].Body != want+"x" {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

// TestQueries: the newest-first default of the API is never relied on.
func TestQueries(t *testing.T) {
	g, item := stage(t)
	c := connect(t, g, nil)
	item.AddNote("ann", "x")
	if _, err := c.Comments(context.Background(), issue(c, 1), time.Time{}); err != nil {
		t.Fatal(err)
	}
	q := g.Requests()[0].Query
	if q.Get("sort") != "asc" || q.Get("order_by") != "created_at" || q.Get("per_page") != "100" {
		t.Errorf("query %v", q)
	}
}

// TestOtherParent: a note is edited through its own item only.
func TestOtherParent(t *testing.T) {
	g, item := stage(t)
	c := connect(t, g, nil)
	posted, err := c.PostComment(context.Background(), issue(c, 1), "x")
	if err != nil {
		t.Fatal(err)
	}
	g.AddIssue("g/p", "Other", "", "ann")
	g.AddMergeRequest("g/p", "Other", "", "ann", "b", "main")
	for _, key := range []forge.TaskKey{issue(c, 2), merge(c, 1)} {
		if _, err := c.EditComment(context.Background(), key, posted.ID, "y"); rest.Kind(err) != forge.NotFound {
			t.Errorf("%s: %v", key, err)
		}
	}
	if n := item.Notes(); len(n) != 1 || n[0].Body != "x" {
		t.Errorf("notes %+v", n)
	}
}

// TestCommands: GitLab carries out a text that is a command alone, and answers 202 without a note.
func TestCommands(t *testing.T) {
	g, _ := stage(t)
	c := connect(t, g, nil)
	_, err := c.PostComment(context.Background(), issue(c, 1), "/close")
	if rest.Kind(err) != forge.Invalid || !strings.Contains(err.Error(), "commands") {
		t.Errorf("error %v", err)
	}
	g.Fault(forgetest.Fault{Kind: forgetest.Answer, Status: 202, Body: "{}", Times: -1})
	if _, err := c.ChangeLabels(context.Background(), issue(c, 1), nil, []string{"todo"}); rest.Kind(err) != forge.Transient {
		t.Errorf("a read that is merely accepted: %v", err)
	}
}

// TestMessages: whatever form GitLab gives its words in, one line is left of them.
func TestMessages(t *testing.T) {
	g, _ := stage(t)
	c := connect(t, g, nil)
	for body, want := range map[string]string{
		`{"message":"400 Bad request"}`:                                      "400 Bad request",
		`{"error":"body is missing"}`:                                        "body is missing",
		`{"message":{"title":["is too long","is bad"],"base":["no"]}}`:       "base no, title is too long, is bad",
		`{"message":["Another open merge request already exists: !1"]}`:      "Another open merge request already exists: !1",
		`{"error":"invalid_token","error_description":"Token was revoked."}`: "invalid_token; Token was revoked.",
		`{"message":{"error":"too\nmany"}}`:                                  "error too many",
		`<html>` + token + `</html>`:                                         "bad request",
		`{"message":7}`:                                                      "7",
		``:                                                                   "bad request",
		`[]`:                                                                 "bad request",
	} {
		g.Fault(forgetest.Fault{Kind: forgetest.Answer, Status: 400, Body: body, Header: http.Header{"Content-Type": {"text/plain"}}})
		_, err := c.PostComment(context.Background(), issue(c, 1), "x")
		var e *forge.Error
		if rest.Kind(err) != forge.Invalid {
			t.Fatalf("%s: %v", body, err)
		}
		if e = err.(*forge.Error); e.Message != want {
			t.Errorf("%s: message %q, want %q", body, e.Message, want)
		}
	}
}

// TestLimits: GitLab's limits come with either header; a proxy's 403 counts if it names a time.
func TestLimits(t *testing.T) {
	g, _ := stage(t)
	c := connect(t, g, nil)
	g.SetClock(func() time.Time { return time.Unix(1_000_000, 0) })
	for _, test := range []struct {
		status int
		header http.Header
		want   time.Duration
		kind   forge.ErrorKind
	}{
		{429, http.Header{"Retry-After": {"11"}}, 11 * time.Second, forge.RateLimited},
		{429, http.Header{"Ratelimit-Reset": {"1000042"}}, 42 * time.Second, forge.RateLimited},
		{429, http.Header{"Ratelimit-Reset": {"1000042"}, "Retry-After": {"5"}}, 5 * time.Second, forge.RateLimited},
		{429, http.Header{"Ratelimit-Reset": {"900000"}}, time.Second, forge.RateLimited},
		{429, http.Header{"Ratelimit-Reset": {"x"}, "Retry-After": {"soon"}}, time.Minute, forge.RateLimited},
		{403, http.Header{"Retry-After": {"9"}}, 9 * time.Second, forge.RateLimited},
		{403, http.Header{}, 0, forge.Forbidden},
		{408, http.Header{}, 0, forge.Ambiguous},
		{500, http.Header{"Retry-After": {"9"}}, 0, forge.Ambiguous},
	} {
		g.Fault(forgetest.Fault{Kind: forgetest.Answer, Status: test.status, Header: test.header})
		_, err := c.PostComment(context.Background(), issue(c, 1), "x")
		e, isError := err.(*forge.Error)
		if !isError || e.Kind != test.kind || e.RetryAfter != test.want {
			t.Errorf("%d %v: %v (%v)", test.status, test.header, err, e.RetryAfter)
		}
	}
}

// TestLabelNames: names are told apart by case, and one with a comma is never sent.
func TestLabelNames(t *testing.T) {
	g, item := stage(t)
	c := connect(t, g, nil)
	got, err := c.ChangeLabels(context.Background(), issue(c, 1), []forge.Label{{Name: "Todo", Color: "112233"}}, []string{"TODO"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"todo", "Todo"}, got); d != "" {
		t.Error(d)
	}
	for _, name := range []string{"a,b", ""} {
		if _, err := c.ChangeLabels(context.Background(), issue(c, 1), []forge.Label{{Name: name}}, []string{"todo"}); rest.Kind(err) != forge.Invalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	if d := cmp.Diff([]string{"todo", "Todo"}, item.Labels()); d != "" {
		t.Error(d)
	}
	g.SetAccess("g/p", "agent-bot", forgetest.Guest)
	if _, err := c.ChangeLabels(context.Background(), issue(c, 1), nil, []string{"todo"}); rest.Kind(err) != forge.Forbidden {
		t.Errorf("a guest: %v", err)
	}
}

func TestDraftTitle(t *testing.T) {
	g, _ := stage(t)
	c := connect(t, g, nil)
	for title, want := range map[string]string{"Fix": "Draft: Fix", "draft: Fix": "draft: Fix", "Drafty": "Draft: Drafty"} {
		change, err := c.OpenChange(context.Background(), issue(c, 1), forge.ChangeSpec{Branch: title, Base: "main", Title: title, Draft: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := get(t, c, merge(c, change.Number)); got.Title != want || !got.Draft {
			t.Errorf("%q became %q, draft %v", title, got.Title, got.Draft)
		}
	}
	g.AddProject("fork/p", forgetest.Project{})
	g.AddMergeRequest("g/p", "of a fork", "", "ann", "theirs", "main").FromFork("fork/p")
	if got, err := c.FindChange(context.Background(), issue(c, 1), "theirs"); got != nil || err != nil {
		t.Errorf("of a fork: %+v, %v", got, err)
	}
}

// TestColourIsNoReason: a label that may not be made is added all the same, if it may be.
func TestColourIsNoReason(t *testing.T) {
	g, item := stage(t)
	c := connect(t, g, nil)
	for i, status := range []int{403, 404, 400} {
		name := strings.Repeat("x", i+1)
		g.Fault(forgetest.Fault{Method: "POST", Path: ".*/labels", Kind: forgetest.Answer, Status: status, Body: `{}`})
		if _, err := c.ChangeLabels(context.Background(), issue(c, 1), []forge.Label{{Name: name}}, nil); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
	if d := cmp.Diff([]string{"todo", "x", "xx", "xxx"}, item.Labels()); d != "" {
		t.Error(d)
	}
}

// TestServiceAccounts: a service account may have any login. Each author is asked about
// once; who cannot be asked about is a person.
func TestServiceAccounts(t *testing.T) {
	g, item := stage(t)
	g.AddBot("release-robot")
	for _, author := range []string{"release-robot", "bob", "release-robot", "bob", "carol", "", "project_1_bot"} {
		item.AddNote(author, "words")
	}
	c := connect(t, g, nil)
	g.Fault(forgetest.Fault{Path: fmt.Sprintf("/users/%d", g.AccountID("carol")), Kind: forgetest.Answer, Status: 403, Body: "{}", Times: -1})
	before := len(g.Requests())
	for range 2 {
		got, err := c.Comments(context.Background(), issue(c, 1), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		var bots []string
		for _, n := range got {
			if n.Author.Bot {
				bots = append(bots, n.Author.Login)
			}
		}
		if strings.Join(bots, " ") != "release-robot release-robot project_1_bot" {
			t.Errorf("bots are %q", bots)
		}
	}
	if n := len(g.Requests()) - before; n != 5 { // two lists, three people
		t.Errorf("%d requests", n)
	}
	g.Fault(forgetest.Fault{Path: fmt.Sprintf("/users/%d", g.AccountID("dan")), Kind: forgetest.Answer, Status: 502, Body: "{}"})
	item.AddNote("dan", "words")
	if _, err := c.Comments(context.Background(), issue(c, 1), time.Time{}); rest.Kind(err) != forge.Transient {
		t.Errorf("an outage: %v", err)
	}
}
