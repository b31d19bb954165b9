package github

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
)

// pullStage has the pull request o/r#2 with the label "todo".
func pullStage(t *testing.T) (*forgetest.Server, forge.TaskKey) {
	t.Helper()
	s := stage(t)
	n := s.AddPullRequest("o/r", "Change", "Text", "ann", "feature/語", "main", "todo")
	key := issueKey(s, n)
	key.Kind = forge.GitHubPullRequest
	return s, key
}

func TestPullRequestTask(t *testing.T) {
	s, key := pullStage(t)
	s.SetDraft("o/r", 2, true)
	s.SetAssignees("o/r", 2, "agent-bot")
	c := connect(t, s, nil)
	got, err := c.Task(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	want := forge.Task{
		Key: key, Title: "Change", Body: "Text", Author: got.Author, State: "open", Labels: []string{"todo"},
		Assignees: []string{"agent-bot"}, URL: "http://" + key.String(), Draft: true, Branch: "feature/語", UpdatedAt: got.UpdatedAt, ID: got.ID, Project: got.Project,
	}
	if diff := cmp.Diff(want, got); diff != "" || got.Author.Login != "ann" || got.UpdatedAt.IsZero() {
		t.Error(diff, got.Author, got.UpdatedAt)
	}
	listed, err := c.ListTasks(context.Background(), "todo")
	if err != nil || len(listed) != 2 {
		t.Fatalf("%v, %v", listed, err)
	}
	want.Branch, want.Project = "", "" // of which lists know nothing
	if diff := cmp.Diff(want, listed[1]); diff != "" {
		t.Error(diff)
	}
	s.MergePullRequest("o/r", 2)
	if got, err := c.Task(context.Background(), key); err != nil || got.State != "closed" {
		t.Errorf("merged: %+v, %v", got, err)
	}
}

func TestPullRequestFork(t *testing.T) {
	for _, owner := range []string{"ann", ""} {
		s, key := pullStage(t)
		s.SetHeadOwner("o/r", 2, owner)
		if owner == "" {
			s.Watch(nil) // of a deleted fork the API tells null, against its own description
		}
		c := connect(t, s, nil)
		got, err := c.Task(context.Background(), key)
		if err != nil || !got.Fork || got.Branch != "feature/語" {
			t.Errorf("owner %q: %+v, %v", owner, got, err)
		}
		if found, err := c.FindChange(context.Background(), key, "feature/語"); found != nil || err != nil {
			t.Errorf("owner %q: the branch of a fork passes for our own: %+v, %v", owner, found, err)
		}
	}
}

// TestWrongKind: the two kinds share numbers, but an item has one of them.
func TestWrongKind(t *testing.T) {
	s, pull := pullStage(t)
	c := connect(t, s, nil)
	asIssue, asPull := pull, issueKey(s, 1)
	asIssue.Kind, asPull.Kind = forge.GitHubIssue, forge.GitHubPullRequest
	for _, key := range []forge.TaskKey{asIssue, asPull} {
		_, err := c.Task(context.Background(), key)
		if kind(err) != forge.NotFound || !strings.Contains(err.Error(), key.String()+" is "+s.Host()) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// TestPullRequestPartly: half a pull request is an error, not a task without a branch.
func TestPullRequestPartly(t *testing.T) {
	for _, body := range []string{`{}`, `null`, `{"number":2}`, `{"number":2,"head":{"ref":"b"}}`,
		`{"number":3,"head":{"ref":"b","repo":{"id":1}},"base":{"repo":{"id":1}}}`} {
		s, key := pullStage(t)
		s.Fault(forgetest.Fault{Path: "/repos/o/r/pulls/2", Kind: forgetest.Answer, Status: 200, Body: body})
		if _, err := connect(t, s, nil).Task(context.Background(), key); kind(err) != forge.Transient {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// mixed fills a pull request with 250 comments of three kinds, a second apart, and returns their bodies.
func mixed(s *forgetest.Server, at *time.Time) (want []string) {
	for i := range 250 {
		*at = at.Add(time.Second)
		body := fmt.Sprint("remark ", i)
		switch i % 3 {
		case 0:
			s.AddComment("o/r", 2, "ann", body)
		case 1:
			s.AddReview("o/r", 2, "bob", "COMMENTED", body)
		case 2:
			s.AddReviewComment("o/r", 2, "bob", body, forgetest.DiffPlace{Path: "a.go", Line: 3})
			body = "> a.go:3: +line\n\n" + body
		}
		want = append(want, body)
	}
	return want
}

func TestThreeKindsInOrder(t *testing.T) {
	s, key := pullStage(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.SetClock(func() time.Time { return at })
	want := mixed(s, &at)
	c := connect(t, s, nil)
	got, err := c.Comments(context.Background(), key, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, bodies(got)); diff != "" {
		t.Error(diff)
	}
	ids := map[string]bool{}
	for i, r := range got {
		if want := []string{"comment", "review", "review_comment"}[i%3]; r.Kind != want || ids[r.Kind+r.ID] {
			t.Errorf("remark %d: kind %q, want %q; id %s", i, r.Kind, want, r.ID)
		}
		ids[r.Kind+r.ID] = true
	}
	late, err := c.Comments(context.Background(), key, at.Add(-4*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[245:], bodies(late)); diff != "" {
		t.Errorf("since: %s", diff)
	}
}

// TestSameSecond: what was written in one second is ordered by kind, then id.
func TestSameSecond(t *testing.T) {
	s, key := pullStage(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.SetClock(func() time.Time { return at })
	s.AddReviewComment("o/r", 2, "bob", "5", forgetest.DiffPlace{Path: "a.go"})
	s.AddReview("o/r", 2, "bob", "APPROVED", "3")
	s.AddReview("o/r", 2, "bob", "CHANGES_REQUESTED", "4")
	s.AddComment("o/r", 2, "ann", "1")
	s.AddComment("o/r", 2, "ann", "2")
	got, err := connect(t, s, nil).Comments(context.Background(), key, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1", "2", "3", "4", "> a.go\n\n5"}, bodies(got)); diff != "" {
		t.Error(diff)
	}
}

// TestReviewStates: a review's state says whether its text still asks for something.
func TestReviewStates(t *testing.T) {
	s, key := pullStage(t)
	states := map[string]string{"APPROVED": "approved", "CHANGES_REQUESTED": "changes requested", "DISMISSED": "dismissed", "COMMENTED": ""}
	for state := range states {
		s.AddReview("o/r", 2, "bob", state, state)
	}
	got, err := connect(t, s, nil).Comments(context.Background(), key, time.Time{})
	if err != nil || len(got) != len(states) {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, r := range got {
		if r.State != states[r.Body] {
			t.Errorf("%s: %q", r.Body, r.State)
		}
	}
}

// TestReviewsLeftOut: those without a text, and those that were not sent.
func TestReviewsLeftOut(t *testing.T) {
	s, key := pullStage(t)
	s.AddReview("o/r", 2, "bob", "APPROVED", "")
	s.AddReview("o/r", 2, "bob", "COMMENTED", " \n")
	s.AddReview("o/r", 2, "agent-bot", "PENDING", "not sent")
	s.AddReview("o/r", 2, "", "CHANGES_REQUESTED", "of a deleted account")
	got, err := connect(t, s, nil).Comments(context.Background(), key, time.Time{})
	if err != nil || len(got) != 1 || got[0].Author.Login != "ghost" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestPullShift changes each list between two pages of its first pass.
func TestPullShift(t *testing.T) {
	for _, path := range []string{"/issues/2/comments", "/pulls/2/comments"} {
		for _, change := range []string{"delete", "append"} {
			t.Run(path+" "+change, func(t *testing.T) {
				s, key := pullStage(t)
				var first int64
				for i := range 103 {
					c := s.AddComment("o/r", 2, "ann", fmt.Sprint("c", i))
					r := s.AddReviewComment("o/r", 2, "ann", fmt.Sprint("r", i), forgetest.DiffPlace{Path: "a.go"})
					if i == 3 {
						first = map[bool]int64{true: c, false: r}[strings.Contains(path, "issues")]
					}
				}
				done := false
				c := connect(t, s, func(cfg *Config) {
					cfg.Transport = trip(func(r *http.Request) {
						if done || !strings.HasSuffix(r.URL.Path, path) || r.URL.Query().Get("page") != "2" {
							return
						}
						done = true
						shift(s, path, change, first)
					})
				})
				got, err := c.Comments(context.Background(), key, time.Time{})
				want := map[string]int{"delete": 205, "append": 207}[change]
				if err != nil || !done || len(got) != want {
					t.Errorf("%d comments, %v, want %d", len(got), err, want)
				}
				seen := map[string]bool{}
				for _, r := range got {
					if seen[r.Body] {
						t.Errorf("%q twice", r.Body)
					}
					seen[r.Body] = true
				}
			})
		}
	}
}

func shift(s *forgetest.Server, path, change string, id int64) {
	conversation := strings.Contains(path, "issues")
	switch {
	case change == "delete" && conversation:
		s.DeleteComment("o/r", id)
	case change == "delete":
		s.DeleteReviewComment("o/r", id)
	case conversation:
		s.AddComment("o/r", 2, "ann", "late")
	default:
		s.AddReviewComment("o/r", 2, "ann", "late", forgetest.DiffPlace{Path: "a.go"})
	}
}

func TestPlace(t *testing.T) {
	long := strings.Repeat("長", 300)
	for _, test := range []struct {
		at   forgetest.DiffPlace
		want string
	}{
		{forgetest.DiffPlace{Path: "src/a.go", Line: 12, Hunk: "@@ -1,3 +10,3 @@\n ctx\n-old\n+return nil"}, "> src/a.go:12: +return nil\n\nbody"},
		{forgetest.DiffPlace{Path: "a.go", StartLine: 10, Line: 12, Hunk: "@@ -1 +1 @@\n+x\n"}, "> a.go:10-12: +x\n\nbody"},
		{forgetest.DiffPlace{Path: "a.go", Hunk: "@@ -1 +1 @@\n+x"}, "> a.go\n\nbody"},
		{forgetest.DiffPlace{Path: "a.go", Line: 1, Hunk: "@@ -1 +1 @@"}, "> a.go:1\n\nbody"},
		{forgetest.DiffPlace{Path: "a\nb\u2028c.go", Line: 1, Hunk: "@@ -1 +1 @@\n+x\ry"}, "> a b c.go:1: +x y\n\nbody"},
		{forgetest.DiffPlace{Path: "a.go", Line: 1, Hunk: "@@ -1 +1 @@\n" + long}, "> a.go:1: " + long[:3*longestPlace] + "…\n\nbody"},
	} {
		s, key := pullStage(t)
		s.AddReviewComment("o/r", 2, "ann", "body", test.at)
		got, err := connect(t, s, nil).Comments(context.Background(), key, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{test.want}, bodies(got)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestPullRequestWrites: comments and labels of a pull request are those of its issue.
func TestPullRequestWrites(t *testing.T) {
	s, key := pullStage(t)
	c := connect(t, s, nil)
	posted, err := c.PostComment(context.Background(), key, "x")
	if err != nil {
		t.Fatal(err)
	}
	if edited, err := c.EditComment(context.Background(), key, posted.ID, "y"); err != nil || edited.Body != "y" || edited.Kind != "comment" {
		t.Errorf("%+v, %v", edited, err)
	}
	labels, err := c.ChangeLabels(context.Background(), key, []forge.Label{{Name: "doing", Color: "00ff00"}}, []string{"todo"})
	if err != nil || len(labels) != 1 || labels[0] != "doing" {
		t.Errorf("labels %v, %v", labels, err)
	}
}

// TestSearchesByKind: some tokens may not search for both kinds at once.
func TestSearchesByKind(t *testing.T) {
	s, _ := pullStage(t)
	c := connect(t, s, func(cfg *Config) { cfg.Repositories = nil })
	got, err := c.ListTasks(context.Background(), "todo")
	if diff := cmp.Diff([]string{"o/r/issues/1", "o/r/pull/2"}, keys(got)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, r := range s.Requests() {
		if q := r.Query.Get("q"); r.Path == "/search/issues" && !strings.Contains(q, "is:issue") && !strings.Contains(q, "is:pull-request") {
			t.Errorf("query %q", q)
		}
	}
	s.Fault(forgetest.Fault{Path: "/search/issues", Nth: 2, Kind: forgetest.Secondary})
	got, err = c.ListTasks(context.Background(), "todo")
	if kind(err) != forge.RateLimited || len(got) != 1 {
		t.Errorf("second search refused: %v, %v", keys(got), err)
	}
}

// TestNoDrafts: a repository whose plan has no drafts gets a request that is ready.
func TestNoDrafts(t *testing.T) {
	s, key := pullStage(t)
	s.Fault(forgetest.Fault{Method: "POST", Path: ".*/pulls", Kind: forgetest.Answer, Status: http.StatusUnprocessableEntity,
		Body: `{"message":"Validation Failed","errors":["Draft pull requests are not supported in this repository."]}`})
	opened, err := connect(t, s, nil).OpenChange(context.Background(), key, forge.ChangeSpec{Branch: "topic", Base: "main", Title: "T", Draft: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.PullRequests("o/r") {
		if p.Number == opened.Number && p.Draft {
			t.Error("it is a draft")
		}
	}
	s.Fault(forgetest.Fault{Method: "POST", Path: ".*/pulls", Kind: forgetest.Answer, Status: http.StatusUnprocessableEntity,
		Body: `{"message":"Validation Failed","errors":[{"message":"No commits between main and other"}]}`})
	if _, err := connect(t, s, nil).OpenChange(context.Background(), key, forge.ChangeSpec{Branch: "other", Base: "main", Title: "T", Draft: true}); kind(err) != forge.Invalid {
		t.Errorf("another refusal: %v", err)
	}
}

// TestResolvedThreads: only GraphQL tells whether a thread is resolved. Its replies are,
// too; where it cannot be asked, nothing is said. A failure that passes is one of the read.
func TestResolvedThreads(t *testing.T) {
	s, key := pullStage(t)
	states := func() string {
		got, err := connect(t, s, nil).Comments(context.Background(), key, time.Time{})
		out := ""
		for _, c := range got {
			out += c.Kind + ":" + c.State + " "
		}
		return out + string(kind(err))
	}
	s.AddComment("o/r", 2, "ann", "words")
	if got := states(); got != "comment: " || len(s.Requests()) != 3 { // no thread, no question
		t.Errorf("%q after %d requests", got, len(s.Requests()))
	}
	var last int64
	for range 101 {
		last = s.AddReviewComment("o/r", 2, "ann", "why?", forgetest.DiffPlace{Path: "a.go", Line: 3})
	}
	s.AddReviewReply("o/r", 2, last, "bob", "because")
	s.ResolveThread("o/r", last) // on the second page
	if got := states(); strings.Count(got, "review_comment:resolved") != 2 || strings.Count(got, "review_comment: ") != 100 {
		t.Errorf("%q", got)
	}
	for status, want := range map[int]string{403: "", 404: "", 502: "transient"} {
		s.Fault(forgetest.Fault{Path: ".*/graphql", Kind: forgetest.Answer, Status: status, Body: "{}", Times: -1})
		if got := states(); strings.Contains(got, "resolved") || !strings.HasSuffix(got, want) {
			t.Errorf("%d: %q", status, got)
		}
		s.ClearFaults()
	}
}
