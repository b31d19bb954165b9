//go:build servers

package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/forge"
	"agent/forge/forgetest"
	"agent/forge/viamcp"
	"agent/mcp"
)

// tools are the tools of the server "gitlab", as internal/app hands them on.
type tools struct{ session *mcp.Session }

func (t tools) Tools(ctx context.Context) (names []string, err error) {
	for _, s := range t.session.List(ctx) {
		for _, tool := range s.Tools {
			names = append(names, tool.Name)
		}
	}
	return names, nil
}

func (t tools) Call(ctx context.Context, tool string, args map[string]any) (string, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	result, err := t.session.Call(ctx, "gitlab", tool, raw)
	if err == nil && result.IsError {
		err = errors.New(result.Text)
	}
	return result.Text, err
}

// TestViaGitLabServer lets tasks and comments come through a real server.
func TestViaGitLabServer(t *testing.T) {
	g := forgetest.NewGitLab()
	t.Cleanup(g.Close)
	g.AddToken("secret", "agent-bot")
	g.AddProject(group, forgetest.Project{})
	issue := g.AddIssue(group, "An issue", "Body", "ann", "todo")
	merge := g.AddMergeRequest(group, "A change", "", "ann", "feature", "main", "todo")
	g.AddIssue(group, "Another", "", "ann")
	for i := range 130 {
		issue.AddNote("bob", fmt.Sprintf("remark %d", i))
	}
	merge.AddDiffNote("bob", "why so", forgetest.Place{Path: "a.go", Line: 1})
	c := viamcp.New(nil, tools{start(t, gitlabServer(t, g))}, viamcp.Config{Tasks: true, Comments: true, Kinds: []forge.Kind{forge.GitLabIssue, forge.GitLabMergeRequest}, Host: "h", Projects: []string{group}})
	tasks, err := c.ListTasks(context.Background(), "todo")
	var keys []string
	for _, task := range tasks {
		keys = append(keys, task.Key.String())
	}
	slices.Sort(keys)
	if want := []string{"h/" + group + "/-/issues/1", "h/" + group + "/-/merge_requests/1"}; !slices.Equal(keys, want) || err != nil {
		t.Fatalf("%v, %v", keys, err)
	}
	comments, err := c.Comments(context.Background(), forge.TaskKey{Project: group, Kind: forge.GitLabIssue, Number: 1}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	people := 0
	for _, c := range comments {
		if !c.System {
			people++
		}
	}
	if last := comments[len(comments)-1]; people != 130 || last.Body != "remark 129" || last.Author.Login != "bob" || last.CreatedAt.IsZero() {
		t.Errorf("%d comments, the last %+v", people, last)
	}
	comments, err = c.Comments(context.Background(), forge.TaskKey{Project: group, Kind: forge.GitLabMergeRequest, Number: 1}, time.Time{})
	if err != nil || len(comments) == 0 {
		t.Fatalf("%+v, %v", comments, err)
	}
	if last := comments[len(comments)-1].Body; !strings.HasPrefix(last, "> a.go:1\n") || !strings.HasSuffix(last, "\nwhy so") { // the line that it is about
		t.Errorf("the last is %q", last)
	}
}
