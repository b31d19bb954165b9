package viamcp

import (
	"strconv"

	"agent/forge"
)

// target is what an operation is about.
type target struct {
	key   forge.TaskKey
	label string
}

// way is one tool that can do an operation, and its arguments.
type way struct {
	tool   string
	cursor bool // pages are named by cursors, not by numbers
	with   func(t target) map[string]any
	page   string // names of the page arguments
	size   string
}

const perPage = 100

func (w way) args(t target, page int, cursor string) map[string]any {
	args := w.with(t)
	args[w.size] = perPage
	switch {
	case w.cursor && cursor != "":
		args["after"] = cursor
	case !w.cursor:
		args[w.page] = page
	}
	return args
}

// The argument styles of the known servers.
func github(tool string, with func(t target) map[string]any) way {
	return way{tool: tool, page: "page", size: "perPage", with: func(t target) map[string]any {
		args := map[string]any{"owner": t.key.Owner(), "repo": t.key.Repo()}
		for k, v := range with(t) {
			args[k] = v
		}
		return args
	}}
}

func gitlab(tool string, with func(t target) map[string]any) way {
	return way{tool: tool, page: "page", size: "per_page", with: func(t target) map[string]any {
		args := map[string]any{"project_id": t.key.Project}
		for k, v := range with(t) {
			args[k] = v
		}
		return args
	}}
}

func byCursor(w way) way { w.cursor = true; return w }

func method(name, number string) func(target) map[string]any {
	return func(t target) map[string]any { return map[string]any{"method": name, number: t.key.Number} }
}

func item(number string) func(target) map[string]any {
	return func(t target) map[string]any { return map[string]any{number: t.key.Number} }
}

// iid is the same for servers that take numbers as text.
func iid(name string) func(target) map[string]any {
	return func(t target) map[string]any { return map[string]any{name: strconv.Itoa(t.key.Number)} }
}

func opened(t target) map[string]any {
	return map[string]any{"state": "opened", "labels": []string{t.label}, "scope": "all"}
}

func labelled(state string) func(target) map[string]any {
	return func(t target) map[string]any { return map[string]any{"state": state, "labels": []string{t.label}} }
}

// listing finds the open items with a label.
var listing = map[forge.Kind][]way{
	forge.GitHubIssue: {byCursor(github("list_issues", labelled("OPEN")))},
	forge.GitHubPullRequest: {
		github("search_pull_requests", func(t target) map[string]any {
			return map[string]any{"query": `is:open label:"` + t.label + `"`}
		}),
		github("list_pull_requests", func(target) map[string]any { return map[string]any{"state": "open"} }),
	},
	forge.GitLabIssue:        {gitlab("list_issues", opened)},
	forge.GitLabMergeRequest: {gitlab("list_merge_requests", opened)},
}

// source is one of the lists that a task's comments come from.
type source struct {
	kind string // of forge.Comment
	ways []way  // newest form first
}

// remarks finds the comments of a task. The older names are those of servers
// that are still installed.
var remarks = map[forge.Kind][]source{
	forge.GitHubIssue: {{"comment", []way{
		github("issue_read", method("get_comments", "issue_number")),
		github("get_issue_comments", item("issue_number")),
	}}},
	forge.GitHubPullRequest: {
		{"comment", []way{
			github("pull_request_read", method("get_comments", "pullNumber")),
			github("get_issue_comments", item("issue_number")),
		}},
		{"review_comment", []way{
			byCursor(github("pull_request_read", method("get_review_comments", "pullNumber"))),
			github("get_pull_request_comments", item("pullNumber")),
		}},
		{"review", []way{
			github("pull_request_read", method("get_reviews", "pullNumber")),
			github("get_pull_request_reviews", item("pullNumber")),
		}},
	},
	forge.GitLabIssue: {{"note", []way{gitlab("list_issue_discussions", iid("issue_iid"))}}},
	forge.GitLabMergeRequest: {{"note", []way{
		gitlab("mr_discussions", iid("merge_request_iid")),
		gitlab("list_merge_request_discussions", iid("merge_request_iid")),
		gitlab("get_merge_request_notes", iid("merge_request_iid")),
		gitlab("list_merge_request_notes", iid("merge_request_iid")),
	}}},
}
