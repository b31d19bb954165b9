package gitlab

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
	"agent/forge/rest"
)

// ListTasks returns the open issues and merge requests that carry label, oldest first.
//
// Where many projects of one group are configured, those that its list shows are asked
// about at once, and the others are listed one by one, as all are elsewhere. Where that
// takes many requests, the lists of all that the token sees are read instead; where those
// cannot be read, the projects are asked in turns.
//
// Tasks and an error may both be set: a project that cannot be read is named
// in the error, and the tasks of the others are returned. An item that is
// closed while pages are read can hide another one until the next call.
func (c *Client) ListTasks(ctx context.Context, label string) ([]forge.Task, error) {
	var items []found
	var failures []error
	groups := c.byGroup()
	if asksMany(groups) {
		if items, err, ok := c.everywhere(ctx, label); ok {
			return ordered(items), rest.Joined(rest.Flat(err))
		}
		items, err := c.inTurns(ctx, c.cfg.Projects, label)
		return ordered(items), rest.Joined(rest.Flat(err))
	}
	for _, names := range groups {
		part, err := c.groupsTasks(ctx, names, label)
		items = append(items, part...)
		failures = append(failures, rest.Flat(err)...)
		if hopeless(err) {
			break
		}
	}
	return ordered(items), rest.Joined(failures)
}

// found is a task on its way into the list.
type found struct {
	task forge.Task
	made time.Time
}

func (c *Client) projectTasks(ctx context.Context, name, label string, age time.Duration) ([]found, error) {
	const op = "list tasks"
	p, err := c.known(ctx, op, name, age)
	if err != nil {
		return nil, err
	}
	items, err := c.items(ctx, op, p, label)
	tasks, unreadable := c.take(items, label, func(raw) *gitlab.Project { return p })
	return tasks, cmp.Or(unreadable, err)
}

// items reads both lists. One that the project or this token has not is none,
// unless there is no other.
func (c *Client) items(ctx context.Context, op string, p *gitlab.Project, label string) ([]raw, error) {
	var items []raw
	var failures []error
	lists := 0
	for _, list := range []struct {
		access gitlab.AccessControlValue
		read   func(ctx context.Context, op, project, label string) ([]raw, error)
	}{{p.IssuesAccessLevel, c.listIssues}, {p.MergeRequestsAccessLevel, c.listMerges}} {
		if list.access == gitlab.DisabledAccessControl {
			continue
		}
		lists++
		part, err := list.read(ctx, op, p.PathWithNamespace, label)
		items = append(items, part...)
		if err != nil {
			failures = append(failures, err)
		}
		if hopeless(err) {
			break
		}
	}
	if len(failures) < lists {
		failures = slices.DeleteFunc(failures, hidden)
	}
	return items, rest.Joined(failures)
}

func (c *Client) listIssues(ctx context.Context, op, project, label string) ([]raw, error) {
	options := &gitlab.ListProjectIssuesOptions{
		State: text("opened"), Labels: filter(label), OrderBy: text("created_at"), Sort: text("asc"),
	}
	issues, err := all(c, ctx, op, func(page gitlab.ListOptions, with request) ([]*gitlab.Issue, *gitlab.Response, error) {
		options.ListOptions = page
		return c.api.Issues.ListProjectIssues(project, options, with)
	})
	var items []raw
	for _, i := range issues {
		items = append(items, ofIssue(i))
	}
	return items, err
}

func (c *Client) listMerges(ctx context.Context, op, project, label string) ([]raw, error) {
	options := &gitlab.ListProjectMergeRequestsOptions{
		State: text("opened"), Labels: filter(label), OrderBy: text("created_at"), Sort: text("asc"),
	}
	merges, err := c.merges(ctx, op, project, options)
	var items []raw
	for _, m := range merges {
		items = append(items, ofMerge(m))
	}
	return items, err
}

// merges lists merge requests past the library's own method, which does not survive a null among them.
func (c *Client) merges(ctx context.Context, op, project string, options *gitlab.ListProjectMergeRequestsOptions) ([]*gitlab.BasicMergeRequest, error) {
	path := "projects/" + gitlab.PathEscape(project) + "/merge_requests"
	full, err := all(c, ctx, op, func(page gitlab.ListOptions, with request) ([]*gitlab.MergeRequest, *gitlab.Response, error) {
		options.ListOptions = page
		var part []*gitlab.MergeRequest
		response, err := c.send(http.MethodGet, path, options, with, &part)
		return part, response, err
	})
	var merges []*gitlab.BasicMergeRequest
	for _, m := range full {
		merges = append(merges, &m.BasicMergeRequest)
	}
	return merges, err
}

// filter is nil for labels that the API would read as something else: several ones, none at all, or any.
func filter(label string) *gitlab.LabelOptions {
	if strings.Contains(label, ",") || strings.EqualFold(label, "none") || strings.EqualFold(label, "any") {
		return nil
	}
	return &gitlab.LabelOptions{label}
}

func text(s string) *string { return &s }

func (c *Client) assigned(r raw) bool {
	return c.cfg.Assignee == "" || slices.ContainsFunc(r.assignees, func(login string) bool {
		return strings.EqualFold(login, c.cfg.Assignee)
	})
}

// ordered drops repeated tasks and sorts the rest, oldest first.
func ordered(items []found) []forge.Task {
	slices.SortStableFunc(items, func(a, b found) int {
		x, y := a.task.Key, b.task.Key
		return cmp.Or(a.made.Compare(b.made), strings.Compare(x.Project, y.Project),
			cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Number, y.Number))
	})
	var tasks []forge.Task
	seen := map[string]bool{}
	for _, f := range items {
		if key := forge.FoldKey(f.task.Key.String()); !seen[key] {
			seen[key] = true
			tasks = append(tasks, f.task)
		}
	}
	return tasks
}
