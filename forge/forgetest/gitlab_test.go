package forgetest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge/forgetest"
)

// lab has a public and a private project, each with an issue, and a merge request with all sorts of notes.
func lab(t *testing.T) *forgetest.GitLab {
	t.Helper()
	g := forgetest.NewGitLab()
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		g.Close()
	})
	g.AddToken("secret", "agent-bot")
	g.AddProject("g/p", forgetest.Project{Files: map[string]string{"a/b.go": "package b", "a/c.go": "", "d": "x"}})
	g.AddProject("g/s/q", forgetest.Project{Private: true})
	issue := g.AddIssue("g/p", "T", "B", "ann", "todo")
	issue.SetAssignees("agent-bot", "bob")
	issue.AddNote("ann", "x")
	g.AddIssue("g/s/q", "T", "B", "ann", "todo")
	m := g.AddMergeRequest("g/p", "T", "B", "ann", "b", "main")
	m.AddReply(m.AddDiffNote("bob", "x", forgetest.Place{Path: "a", Line: 1}), "ann", "y")
	return g
}

// asked sends with GitLab's own header; other servers know a token by its scheme.
func asked(t *testing.T, method, url, token, body string) result {
	t.Helper()
	header := http.Header{}
	if token != "" {
		header.Set("Private-Token", token)
	}
	got, err := send(t, method, url, "", body, header)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestGitLabAccess(t *testing.T) {
	g := lab(t)
	g.AddToken("guest's", "guest")
	g.SetAccess("g/p", "guest", forgetest.Guest)
	g.SetAccess("g/s/q", "guest", forgetest.NoAccess)
	g.AddProject("g/old", forgetest.Project{Archived: true})
	g.AddIssue("g/old", "T", "", "ann")
	g.AddProject("g/bare", forgetest.Project{NoIssues: true})
	for _, test := range []struct {
		method, path, token, body string
		want                      int
	}{
		{"GET", "/projects/g%2Fp/issues/1", "", "", 200},
		{"GET", "/projects/G%2FP/issues/1", "", "", 200},
		{"GET", "/projects/g%2Fs%2Fq/issues/1", "", "", 404},
		{"GET", "/projects/g%2Fs%2Fq/issues/1", "guest's", "", 404},
		{"GET", "/projects/g%2Fs%2Fq/issues/1", "secret", "", 200},
		{"GET", "/projects/g%2Fp/issues/2", "secret", "", 404},
		{"GET", "/projects/g%2Fp/issues/x", "secret", "", 400},
		{"GET", "/projects/g/p/issues/1", "secret", "", 404},
		{"GET", "/projects/g%2Fp/issues/1", "wrong", "", 401},
		{"GET", "/projects/g%2Fbare/issues", "secret", "", 403},
		{"GET", "/user", "", "", 401},
		{"GET", "/version", "secret", "", 200},
		{"POST", "/projects/g%2Fp/issues/1/notes", "", `{"body":"x"}`, 401},
		{"POST", "/projects/g%2Fp/issues/1/notes", "guest's", `{"body":"x"}`, 201},
		{"POST", "/projects/g%2Fp/issues/1/notes", "secret", `{"body":" "}`, 400},
		{"POST", "/projects/g%2Fp/issues/1/notes", "secret", `{}`, 400},
		{"POST", "/projects/g%2Fp/issues/1/notes", "secret", `{"body":`, 400},
		{"POST", "/projects/g%2Fold/issues/1/notes", "secret", `{"body":"x"}`, 403},
		{"PUT", "/projects/g%2Fp/issues/1", "guest's", `{"add_labels":"x"}`, 403},
		{"POST", "/projects/g%2Fp/labels", "guest's", `{"name":"x","color":"#112233"}`, 403},
		{"POST", "/projects/g%2Fp/labels", "secret", `{"name":"x","color":"#112233"}`, 201},
		{"POST", "/projects/g%2Fp/labels", "secret", `{"name":"x","color":"#112233"}`, 409},
		{"POST", "/projects/g%2Fp/labels", "secret", `{"name":"y","color":"112233"}`, 400},
		{"POST", "/projects/g%2Fp/merge_requests", "secret", `{"title":"T","source_branch":"b","target_branch":"main"}`, 409},
		{"GET", "/projects/g%2Fp/members/all/1", "secret", "", 404},
		{"GET", "/no/such/thing", "secret", "", 404},
	} {
		for _, base := range []string{g.URL(), "http://" + g.Host() + "/prefix/api/v4"} {
			if test.want == 201 && strings.HasSuffix(test.path, "/labels") && strings.Contains(base, "prefix") {
				continue // it exists by now
			}
			if got := asked(t, test.method, base+test.path, test.token, test.body); got.status != test.want {
				t.Errorf("%s %s%s as %q: %d %s, want %d", test.method, base, test.path, test.token, got.status, got.body, test.want)
			}
		}
	}
	for _, r := range g.Requests() {
		if strings.Contains(fmt.Sprint(r), "secret") {
			t.Errorf("the log holds a token: %v", r)
		}
	}
	if got, err := send(t, "GET", g.URL()+"/user", "", "", http.Header{"Authorization": {"Bearer secret"}}); err != nil || got.status != 200 {
		t.Errorf("bearer: %+v, %v", got, err)
	}
}

func TestGitLabPages(t *testing.T) {
	g := lab(t)
	for i := range 44 {
		g.Issue("g/p", 1).AddNote("ann", fmt.Sprint(i))
	}
	for _, test := range []struct {
		query, first, next, prev, pages string
		size                            int
	}{
		{"", "43", "2", "", "3", 20},
		{"?sort=asc&order_by=created_at", "x", "2", "", "3", 20},
		{"?sort=asc&per_page=20&page=3", "39", "", "2", "3", 5},
		{"?per_page=1000", "43", "", "", "1", 45},
		{"?page=9", "", "", "8", "3", 0},
	} {
		got := asked(t, "GET", g.URL()+"/projects/g%2Fp/issues/1/notes"+test.query, "secret", "")
		var notes []*gitlab.Note
		if err := json.Unmarshal([]byte(got.body), &notes); err != nil || len(notes) != test.size {
			t.Fatalf("%s: %d notes, %v", test.query, len(notes), err)
		}
		if test.size > 0 && notes[0].Body != test.first {
			t.Errorf("%s: begins with %q", test.query, notes[0].Body)
		}
		for name, want := range map[string]string{"X-Next-Page": test.next, "X-Prev-Page": test.prev, "X-Total": "45", "X-Total-Pages": test.pages} {
			if got.header.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", test.query, name, got.header.Get(name), want)
			}
		}
		if (test.next != "") != strings.Contains(got.header.Get("Link"), `rel="next"`) {
			t.Errorf("%s: Link %q", test.query, got.header.Get("Link"))
		}
	}
}

// TestGitLabTree walks the pages of the tree by their tokens.
func TestGitLabTree(t *testing.T) {
	g := lab(t)
	var paths []string
	token := ""
	for range 9 {
		got := asked(t, "GET", g.URL()+"/projects/g%2Fp/repository/tree?recursive=true&pagination=keyset&per_page=1&page_token="+token, "secret", "")
		var nodes []*gitlab.TreeNode
		if err := json.Unmarshal([]byte(got.body), &nodes); err != nil || len(nodes) != 1 {
			t.Fatalf("%s, %v", got.body, err)
		}
		paths = append(paths, nodes[0].Path)
		if token = got.header.Get("X-Next-Page"); token == "" {
			break
		}
	}
	if want := []string{"a", "a/b.go", "a/c.go", "d"}; !slices.Equal(paths, want) {
		t.Errorf("%q, want %q", paths, want)
	}
}

// TestGitLabSystemNotes: what the API changes is told on the item, and nothing else.
func TestGitLabSystemNotes(t *testing.T) {
	g := lab(t)
	before := len(g.Issue("g/p", 1).Notes())
	for _, body := range []string{
		`{"add_labels":"todo","remove_labels":"absent"}`, // no change
		`{"add_labels":"a,b","remove_labels":"todo"}`, `{"labels":"b"}`, `{"state_event":"close"}`, `{"state_event":"close"}`,
	} {
		if got := asked(t, "PUT", g.URL()+"/projects/g%2Fp/issues/1", "secret", body); got.status != 200 {
			t.Fatalf("%s: %s", body, got.body)
		}
	}
	told := g.Issue("g/p", 1).Notes()[before:]
	if len(told) != 3 {
		t.Fatalf("%d notes: %+v", len(told), told)
	}
	for i, words := range []string{"added ~", "removed ~", "closed"} {
		if !told[i].System || told[i].Author != "agent-bot" || !strings.HasPrefix(told[i].Body, words) {
			t.Errorf("note %+v", told[i])
		}
	}
	if got := g.Issue("g/p", 1).Labels(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("labels %q", got)
	}
}

// TestGitLabShapes decodes every kind of answer as client-go does and looks
// for members that client-go does not know, which would be slips of ours.
func TestGitLabShapes(t *testing.T) {
	g := lab(t)
	unlisted := []string{ // that GitLab sends and client-go leaves out
		"type", "has_tasks", "severity", "imported", "imported_from", "locked", "public_email", "commands_changes", "description_html",
		"reference", "merge_status", "membership_state", "pronouns", "work_information", "local_time", "followers", "following",
		"is_followed", "commit_email", "discord", "github",
	}
	for path, into := range map[string]any{
		"/user":                                              &gitlab.User{},
		"/projects/g%2Fp":                                    &gitlab.Project{},
		"/projects/g%2Fp/issues":                             &[]*gitlab.Issue{},
		"/projects/g%2Fp/issues/1":                           &gitlab.Issue{},
		"/projects/g%2Fp/merge_requests":                     &[]*gitlab.MergeRequest{},
		"/projects/g%2Fp/merge_requests/1":                   &gitlab.MergeRequest{},
		"/projects/g%2Fp/merge_requests/1/notes":             &[]*gitlab.Note{},
		"/projects/g%2Fp/issues/1/discussions":               &[]*gitlab.Discussion{},
		"/projects/g%2Fp/labels":                             &[]*gitlab.Label{},
		"/projects/g%2Fp/members/all":                        &[]*gitlab.ProjectMember{},
		"/projects/g%2Fp/repository/branches":                &[]*gitlab.Branch{},
		"/projects/g%2Fp/repository/branches/b":              &gitlab.Branch{},
		"/projects/g%2Fp/repository/tree?path=a":             &[]*gitlab.TreeNode{},
		"/projects/g%2Fp/repository/files/a%2Fb.go?ref=main": &gitlab.File{},
	} {
		got := asked(t, "GET", g.URL()+path, "secret", "")
		if err := json.Unmarshal([]byte(got.body), into); got.status != 200 || err != nil {
			t.Errorf("%s: %d, %v: %s", path, got.status, err, got.body)
			continue
		}
		var raw any
		if err := json.Unmarshal([]byte(got.body), &raw); err != nil {
			t.Fatal(err)
		}
		kind := reflect.TypeOf(into)
		if list, isList := raw.([]any); isList {
			if len(list) == 0 {
				t.Errorf("%s: nothing to look at", path)
				continue
			}
			raw = list[0]
		}
		known := members(kind)
		for name := range raw.(map[string]any) {
			if !slices.Contains(known, name) && !slices.Contains(unlisted, name) {
				t.Errorf("%s: %s is unknown to client-go", path, name)
			}
		}
	}
}

// members are the JSON names of a struct, through pointers, lists and embedding.
func members(t reflect.Type) (names []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			names = append(names, members(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
