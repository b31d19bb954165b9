package forgetest_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agent/forge/forgetest"
)

func graph(t *testing.T, s *forgetest.Server, query string, variables map[string]any) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	got, err := send(t, "POST", "http://"+s.Host()+"/api/graphql", "secret", string(body), nil)
	if err != nil || got.status != 200 {
		t.Fatalf("%d %s, %v", got.status, got.body, err)
	}
	return strings.TrimSpace(got.body)
}

const editQuery = `query Edits($n: Int!, $name: String!) {
  repository(owner: "o", name: $name) {
    first: issue(number: $n) { body lastEditedAt editor { login } }
    pullRequest(number: 2) { lastEditedAt, editor { login } }
  }
}`

type edit struct {
	Body         string
	LastEditedAt *time.Time
	Editor       *struct{ Login string }
}

func edits(t *testing.T, s *forgetest.Server) (first, second edit) {
	t.Helper()
	var got struct {
		Data struct {
			Repository struct{ First, PullRequest edit }
		}
		Errors []any
	}
	body := graph(t, s, editQuery, map[string]any{"n": 1, "name": "r"})
	if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Errors) > 0 {
		t.Fatal(body, err)
	}
	return got.Data.Repository.First, got.Data.Repository.PullRequest
}

// What a person edits, and what is edited over the API, has an editor and a time;
// a comment, a label or a new title leaves both alone.
func TestGraphQLTellsWhoEditedWhen(t *testing.T) {
	s := stage(t)
	s.AddPullRequest("o/r", "change", "text", "ann", "b", "main")
	s.AddComment("o/r", 1, "ann", "hello")
	s.AddLabels("o/r", 1, "other")
	s.EditIssue("o/r", 2, "a new title", "text")
	first, second := edits(t, s)
	if first.LastEditedAt != nil || first.Editor != nil || second.LastEditedAt != nil {
		t.Fatalf("edited by nobody: %+v %+v", first, second)
	}
	s.EditIssue("o/r", 1, "T", "edited")
	first, _ = edits(t, s)
	if first.Body != "edited" || first.LastEditedAt == nil || first.Editor == nil || first.Editor.Login != "o" {
		t.Fatalf("edited by the owner: %+v", first)
	}
	if got, err := send(t, "PATCH", s.URL()+"/repos/o/r/issues/2", "secret", `{"body":"over the API"}`, nil); err != nil || got.status != 200 {
		t.Fatal(got, err)
	}
	before := *first.LastEditedAt
	first, second = edits(t, s)
	if second.LastEditedAt == nil || second.Editor == nil || second.Editor.Login != "agent-bot" || !first.LastEditedAt.Equal(before) {
		t.Errorf("edited over the API: %+v, the other %+v", second, first)
	}
}

func TestGraphQLErrors(t *testing.T) {
	s := stage(t)
	for query, want := range map[string]string{
		`{repository(owner:"o",name:"gone"){issue}}`:                    "Could not resolve to a Repository",
		`{repository(owner:"o",name:"r"){issue(number:9){body}}}`:       "Could not resolve to an Issue",
		`{repository(owner:"o",name:"r"){pullRequest(number:1){body}}}`: "Could not resolve to a PullRequest",
		`{repository(owner:"o",name:"r"){flavour}}`:                     "Field 'flavour' doesn't exist on type 'Repository'",
		`{viewer{login`:                      "Parse error",
		`{viewer{"x"}}`:                      "Parse error",
		`{a(b:"unterminated)}`:               "literal not terminated",
		`{a(b:[1])}`:                         "Parse error",
		``:                                   "Parse error",
		`query($x:Int`:                       "Parse error",
		`mutation{closeIssue(id:"x"){body}}`: "mutation is not known",
	} {
		if got := graph(t, s, query, nil); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got, err := send(t, "POST", "http://"+s.Host()+"/api/graphql", "", `{"query":"{repository{issue}}"}`, nil); err != nil || got.status != 401 {
		t.Errorf("without a token: %d, %v", got.status, err)
	}
}
