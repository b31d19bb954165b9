package viamcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/forge"
)

// server answers like a tool server whose answers were recorded: by tool name,
// or "tool method", each a list of pages.
type server struct {
	pages map[string][]string
	calls []string
}

func (s *server) Tools(context.Context) ([]string, error) {
	var names []string
	for name := range s.pages {
		tool, _, _ := strings.Cut(name, " ")
		names = append(names, tool)
	}
	return names, nil
}

func (s *server) Call(_ context.Context, tool string, args map[string]any) (string, error) {
	data, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	s.calls = append(s.calls, tool+" "+string(data))
	name := tool
	if m, ok := args["method"].(string); ok {
		name += " " + m
	}
	pages, ok := s.pages[name]
	if !ok {
		return "", errors.New("no such method")
	}
	page, _ := args["page"].(int)
	if args["after"] == "c2" {
		page = 2
	}
	page = max(page, 1)
	if page > len(pages) {
		return "[]", nil
	}
	return pages[page-1], nil
}

func ids(comments []forge.Comment) (out []string) {
	for _, c := range comments {
		author := c.Author.Login
		if c.Author.Bot {
			author += "!"
		}
		out = append(out, c.Kind+" "+c.ID+" "+author+" "+c.Body)
	}
	return out
}

func TestComments(t *testing.T) {
	one := `[{"id":9007199254740993,"body":"a","user":{"login":"ann"},"created_at":"2026-01-01T00:00:00Z"}]`
	two := `[{"id":2,"body":"b","user":{"login":"bot[bot]","type":"Bot"},"created_at":"2026-01-02T00:00:00Z","updated_at":"2026-01-03T00:00:00Z"}]`
	issue := forge.TaskKey{Host: "h", Project: "o/r", Kind: forge.GitHubIssue, Number: 7}
	pull := forge.TaskKey{Host: "h", Project: "o/r", Kind: forge.GitHubPullRequest, Number: 7}
	merge := forge.TaskKey{Host: "h", Project: "g/s/p", Kind: forge.GitLabMergeRequest, Number: 7}
	for name, tt := range map[string]struct {
		key   forge.TaskKey
		pages map[string][]string
		want  []string
		call  string
	}{
		"today's name": {issue, map[string][]string{"issue_read get_comments": {one, two}},
			[]string{"comment 9007199254740993 ann a", "comment 2 bot[bot]! b"}, `issue_read {"issue_number":7,"method":"get_comments","owner":"o","page":1,"perPage":100,"repo":"r"}`},
		"bots by name": {issue, map[string][]string{"get_issue_comments": {`[{"id":1,"body":"a","author":"github-actions","created_at":"2026-01-01T00:00:00Z"},
			{"id":2,"body":"b","author":{"login":"copilot","__typename":"Bot"},"created_at":"2026-01-02T00:00:00Z"},
			{"id":3,"body":"c","author":{"login":"support-bot"},"created_at":"2026-01-03T00:00:00Z"}]`}},
			[]string{"comment 1 github-actions! a", "comment 2 copilot! b", "comment 3 support-bot c"}, ""},
		"bots of GitLab": {merge, map[string][]string{"get_merge_request_notes": {`[{"id":1,"body":"a","author":{"username":"support-bot"},"created_at":"2026-01-01T00:00:00Z"},
			{"id":2,"body":"b","author":{"username":"free-name","bot":true},"created_at":"2026-01-02T00:00:00Z"},
			{"id":3,"body":"c","author":{"username":"dependabot"},"created_at":"2026-01-03T00:00:00Z"}]`}},
			[]string{"note 1 support-bot! a", "note 2 free-name! b", "note 3 dependabot c"}, ""},
		"old name":      {issue, map[string][]string{"get_issue_comments": {one, two}}, []string{"comment 9007199254740993 ann a", "comment 2 bot[bot]! b"}, `get_issue_comments {"issue_number":7,`},
		"pages ignored": {issue, map[string][]string{"get_issue_comments": {one, one, one}}, []string{"comment 9007199254740993 ann a"}, ""},
		"pull request": {pull, map[string][]string{"pull_request_read get_comments": {two}, "pull_request_read get_review_comments": {one},
			"pull_request_read get_reviews": {`[{"id":3,"body":"","user":{"login":"x"}},{"id":4,"body":"ok","user":{"login":"x"},"submitted_at":"2026-01-01T12:00:00Z"}]`}},
			[]string{"review_comment 9007199254740993 ann a", "review 4 x ok", "comment 2 bot[bot]! b"}, ""},
		"discussions": {merge, map[string][]string{"mr_discussions": {`{"items":[{"id":"x","notes":[{"id":"5","body":"n","author":{"username":"ann"},"created_at":"2026-01-01T00:00:00Z"},
			{"id":"6","body":"s","system":true,"author":{"username":"ann"},"created_at":"2026-01-02T00:00:00Z"}]}],"pagination":{"next_page":null}}`}},
			[]string{"note 5 ann n", "note 6 ann s"}, `mr_discussions {"merge_request_iid":"7","page":1,"per_page":100,"project_id":"g/s/p"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{pages: tt.pages}
			got, err := New(nil, s, Config{Comments: true}).Comments(context.Background(), tt.key, time.Time{})
			if diff := cmp.Diff(tt.want, ids(got)); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
			if tt.call != "" && !strings.HasPrefix(s.calls[0], tt.call) {
				t.Errorf("called %s", s.calls[0])
			}
		})
	}
}

func TestListTasks(t *testing.T) {
	s := &server{pages: map[string][]string{
		"list_issues": {`{"issues":[{"number":2,"title":"t","state":"OPEN","labels":["todo"],"user":{"login":"ann"},"updatedAt":"2026-01-02T00:00:00Z"},
			{"number":3,"state":"OPEN","labels":["other"]}],"pageInfo":{"hasNextPage":true,"endCursor":"c2"}}`,
			`{"issues":[{"number":1,"state":"open","labels":[{"name":"todo"}],"updated_at":"2026-01-01T00:00:00Z"},{"number":4,"state":"closed","labels":["todo"]}],"pageInfo":{"hasNextPage":false}}`},
		"list_pull_requests": {`[{"number":9,"state":"open","labels":[{"name":"todo"}],"updated_at":"2026-01-05T00:00:00Z"}]`},
	}}
	got, err := New(nil, s, Config{Tasks: true, Kinds: []forge.Kind{forge.GitHubIssue, forge.GitHubPullRequest}, Host: "h", Projects: []string{"o/r"}}).ListTasks(context.Background(), "todo")
	var keys []string
	for _, task := range got {
		keys = append(keys, task.Key.String())
	}
	if want := []string{"h/o/r/issues/1", "h/o/r/issues/2", "h/o/r/pull/9"}; !slices.Equal(keys, want) || err != nil {
		t.Errorf("%v, %v", keys, err)
	}
}

func TestNoTool(t *testing.T) {
	_, err := New(nil, &server{pages: map[string][]string{"whoami": nil}}, Config{Comments: true}).
		Comments(context.Background(), forge.TaskKey{Project: "o/r", Kind: forge.GitHubIssue, Number: 1}, time.Time{})
	var failed *forge.Error
	if !errors.As(err, &failed) || failed.Kind != forge.Invalid || !strings.Contains(failed.Message, "get_issue_comments") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"items":[{"id":1,"notes":[{}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		items, _, err := parse(text)
		if err == nil {
			_, _ = commentsOf("note", items, time.Time{})
		}
	})
}

// Threads of GitHub's server became empty comments of @ghost in the year 1; internal
// notes became input, and where a note on a diff stands was lost.
func TestThreads(t *testing.T) {
	pull := forge.TaskKey{Host: "h", Project: "o/r", Kind: forge.GitHubPullRequest, Number: 7}
	merge := forge.TaskKey{Host: "h", Project: "g/p", Kind: forge.GitLabMergeRequest, Number: 7}
	const when = `"created_at":"2026-01-01T00:00:00Z"`
	for name, tt := range map[string]struct {
		key   forge.TaskKey
		lists map[string][]string
		want  []string // nil: an error
	}{
		"threads by cursor": {pull, map[string][]string{"pull_request_read get_review_comments": {
			`{"reviewThreads":[{"id":"T1","isResolved":true,"comments":{"nodes":[{"body":"a","author":{"login":"ann"},"path":"x.go","line":3,"url":"https://h/o/r/pull/7#discussion_r41","createdAt":"2026-01-01T00:00:00Z"}]}}],"pageInfo":{"hasNextPage":true,"endCursor":"c2"}}`,
			`{"reviewThreads":[{"id":"T2","comments":[{"body":"b","author":"bob","html_url":"https://h/o/r/pull/7#discussion_r42","created_at":"2026-01-02T00:00:00Z"}]}],"pageInfo":{"hasNextPage":false}}`}},
			[]string{"review_comment 41 ann > x.go:3 (resolved)\n\na", "review_comment 42 bob b"}},
		"no author":  {pull, map[string][]string{"get_pull_request_comments": {`[{"id":1,"body":"a",` + when + `}]`}}, nil},
		"no time":    {pull, map[string][]string{"get_pull_request_comments": {`[{"id":1,"body":"a","user":{"login":"ann"}}]`}}, nil},
		"no text":    {pull, map[string][]string{"get_pull_request_comments": {`[{"id":1,"user":{"login":"ann"},` + when + `}]`}}, nil},
		"no comment": {pull, map[string][]string{"get_pull_request_comments": {`[{"id":"T1","isResolved":false,"comments":{"nodes":[]}}]`}}, nil},
		"diff note": {merge, map[string][]string{"mr_discussions": {`[{"id":"d","notes":[{"id":5,"body":"n","author":{"username":"ann"},"position":{"new_path":"a.go","new_line":9},` + when + `}]}]`}},
			[]string{"note 5 ann > a.go:9\n\nn"}},
	} {
		lists := tt.lists
		if tt.key == pull {
			lists["get_issue_comments"], lists["get_pull_request_reviews"] = []string{"[]"}, []string{"[]"}
		}
		if _, today := lists["pull_request_read get_review_comments"]; today {
			lists["pull_request_read get_comments"], lists["pull_request_read get_reviews"] = []string{"[]"}, []string{"[]"}
		}
		got, err := New(nil, &server{pages: lists}, Config{Comments: true}).Comments(context.Background(), tt.key, time.Time{})
		if (err != nil) != (tt.want == nil) || err == nil && !slices.Equal(ids(got), tt.want) {
			t.Errorf("%s: %q, %v", name, ids(got), err)
		}
	}
	secret := `[{"id":5,"body":"n","internal":true,"author":{"username":"ann"},` + when + `}]`
	got, err := New(nil, &server{pages: map[string][]string{"list_issue_discussions": {secret}}}, Config{Comments: true}).
		Comments(context.Background(), forge.TaskKey{Host: "h", Project: "g/p", Kind: forge.GitLabIssue, Number: 1}, time.Time{})
	if err != nil || len(got) != 1 || !got[0].Internal {
		t.Errorf("an internal note: %+v, %v", got, err)
	}
}
