//go:build servers

package servers

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agent/forge/forgetest"
	"agent/mcp"
)

const group = "group/sub.group/project"

// TestGitLab lets the GitLab server of npm, which checks every answer against
// its own schemas, list, read, label and comment on the fake, as a model would.
func TestGitLab(t *testing.T) {
	g := forgetest.NewGitLab()
	t.Cleanup(g.Close)
	g.AddToken("secret", "agent-bot")
	g.AddProject(group, forgetest.Project{Files: map[string]string{"README.md": "# Hello\n", "cmd/main.go": "package main\n"}})
	item := g.AddIssue(group, "The title", "The body", "ann", "todo", "other")
	item.SetAssignees("agent-bot")
	item.AddNote("bob", "a remark of bob")
	change := g.AddMergeRequest(group, "A change", "", "ann", "feature", "main", "todo")
	change.AddNote("bob", "general words")
	diff := change.AddDiffNote("bob", "why so", forgetest.Place{Path: "cmd/main.go", Line: 1})
	change.AddReply(diff, "ann", "because")
	s := start(t, gitlabServer(t, g))

	offered := []string{}
	for _, server := range s.List(context.Background()) {
		if server.Err != "" {
			t.Fatal(server.Err)
		}
		for _, tool := range server.Tools {
			offered = append(offered, tool.Name)
		}
	}
	project := map[string]any{"project_id": group}
	issue := with(project, "issue_iid", strconv.Itoa(item.IID()))
	merge := with(project, "merge_request_iid", strconv.Itoa(change.IID()))
	for _, c := range []struct {
		tool string
		args map[string]any
		want []string
	}{
		{"whoami", nil, []string{`"agent-bot"`}},
		{"list_issues", with(project, "labels", []string{"todo"}, "state", "opened", "scope", "all"), []string{"The title"}},
		{"get_issue", issue, []string{"The title", "The body", `"todo"`, `"agent-bot"`}},
		{"list_issue_discussions", issue, []string{"a remark of bob", `"bob"`}},
		{"create_issue_note", with(issue, "body", "Written by the server"), []string{"Written by the server"}},
		{"create_note", with(project, "noteable_type", "issue", "noteable_iid", "1", "body", "A second one"), []string{"A second one"}},
		{"update_issue", with(issue, "labels", []string{"other", "processing"}), []string{"The title"}},
		{"list_labels", project, []string{`"todo"`, `"processing"`}},
		{"list_merge_requests", with(project, "labels", []string{"todo"}, "state", "opened", "scope", "all"), []string{"A change"}},
		{"get_merge_request", merge, []string{"A change", `"feature"`}},
		{"mr_discussions", merge, []string{"general words", "why so", "because", "cmd/main.go"}},
		{"get_merge_request_notes", merge, []string{"general words", "because"}},
		{"create_merge_request_note", with(merge, "body", "Seen"), []string{"Seen"}},
		{"update_merge_request", with(merge, "labels", []string{"done"}, "title", "Draft: A change"), []string{"done"}},
		{"create_branch", with(project, "branch", "fix", "ref", "main"), []string{"fix"}},
		{"create_merge_request", with(project, "title", "Fix", "source_branch", "fix", "target_branch", "main"), []string{`"fix"`}},
		{"get_repository_tree", with(project, "recursive", true), []string{"README.md", "cmd/main.go"}},
		{"get_file_contents", with(project, "file_path", "cmd/main.go"), []string{"package main"}},
	} {
		if !slices.Contains(offered, c.tool) {
			t.Errorf("%s is not offered", c.tool)
			continue
		}
		text := call(t, s, "gitlab", c.tool, c.args)
		for _, want := range c.want {
			if !strings.Contains(strings.ReplaceAll(text, `": "`, `":"`), want) {
				t.Errorf("%s: no %s in %s", c.tool, want, text)
			}
		}
	}
	checkGitLab(t, g, item, change)
}

// checkGitLab looks at what is on the fake after the calls.
func checkGitLab(t *testing.T, g *forgetest.GitLab, item, change *forgetest.Item) {
	t.Helper()
	var written []string
	for _, n := range item.Notes() {
		if n.Author == "agent-bot" && !n.System {
			written = append(written, n.Body)
		}
	}
	if !slices.Equal(written, []string{"Written by the server", "A second one"}) {
		t.Errorf("notes %q", written)
	}
	if got := item.Labels(); !slices.Equal(got, []string{"other", "processing"}) {
		t.Errorf("labels of the issue: %q", got)
	}
	if got := change.Labels(); !slices.Equal(got, []string{"done"}) {
		t.Errorf("labels of the merge request: %q", got)
	}
	if n := g.MergeRequests(group); n != 2 {
		t.Errorf("%d merge requests", n)
	}
}

func gitlabServer(t *testing.T, g *forgetest.GitLab) mcp.ServerConfig {
	return mcp.ServerConfig{
		Name:    "gitlab",
		Command: []string{"node", installed(t, "@zereight/mcp-gitlab/build/index.js")},
		Env:     map[string]string{"GITLAB_API_URL": g.URL(), "GITLAB_PERSONAL_ACCESS_TOKEN": "secret"},
		Timeout: time.Minute,
	}
}

// with is a copy of args with more names and values.
func with(args map[string]any, more ...any) map[string]any {
	all := map[string]any{}
	for name, value := range args {
		all[name] = value
	}
	for i := 0; i < len(more); i += 2 {
		all[more[i].(string)] = more[i+1]
	}
	return all
}
