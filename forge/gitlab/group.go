package gitlab

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
	"agent/forge/rest"
)

// many projects of one group are listed at once. GitLab counts each request, also one
// that is answered with 304.
const many = 20

// groupsList is what a group's list shows.
type groupsList struct {
	projects map[string]*gitlab.Project // by lower-case path and by id; empty: there is no such group
	at       time.Time
}

// byGroup groups the configured projects by the first part of their paths, in their
// order. One that is named by its number has none until it was read.
func (c *Client) byGroup() (groups [][]string) {
	at := map[string]int{}
	for _, name := range c.cfg.Projects {
		root, _, isPath := strings.Cut(strings.ToLower(name), "/")
		n, known := at[root]
		if !known || !isPath {
			n = len(groups)
			at[root], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], name)
	}
	return groups
}

// groupsTasks lists the tasks in projects whose paths begin alike.
func (c *Client) groupsTasks(ctx context.Context, names []string, label string) ([]found, error) {
	if len(names) <= many {
		return c.eachTasks(ctx, names, label)
	}
	group, _, _ := strings.Cut(names[0], "/")
	shown, err := c.groupsProjects(ctx, group)
	if err != nil {
		return nil, rest.Named(group, err)
	}
	listed := map[int64]*gitlab.Project{}
	others := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		p := shown[strings.ToLower(name)]
		if p != nil {
			listed[p.ID] = p
		}
		return p != nil
	})
	if len(listed) == 0 {
		return c.eachTasks(ctx, names, label)
	}
	items, err := c.groupsItems(ctx, group, label)
	if hidden(err) {
		return c.eachTasks(ctx, names, label)
	}
	tasks, unreadable := c.take(items, label, func(r raw) *gitlab.Project { return listed[r.project] })
	if err = errors.Join(rest.Named(group, err), unreadable); hopeless(err) {
		return tasks, err
	}
	more, othersErr := c.eachTasks(ctx, others, label)
	return append(tasks, more...), errors.Join(err, othersErr)
}

// groupsProjects is the list of a group, as far as the token sees it.
func (c *Client) groupsProjects(ctx context.Context, group string) (map[string]*gitlab.Project, error) {
	group = strings.ToLower(group)
	c.mu.Lock()
	hit, known := c.groups[group]
	c.mu.Unlock()
	if known && c.now().Sub(hit.at) < cacheFor {
		return hit.projects, nil
	}
	projects, err := all(c, ctx, "list projects", func(page gitlab.ListOptions, with request) ([]*gitlab.Project, *gitlab.Response, error) {
		return c.api.Groups.ListGroupProjects(group, &gitlab.ListGroupProjectsOptions{ListOptions: page,
			IncludeSubGroups: new(true), OrderBy: text("id"), Sort: text("asc")}, with)
	})
	if err != nil && !hidden(err) { // the namespace of a person is no group
		return nil, err
	}
	list := groupsList{projects: map[string]*gitlab.Project{}, at: c.now()}
	for _, p := range projects {
		if validProject(p.PathWithNamespace) && p.ID > 0 {
			list.projects[strings.ToLower(p.PathWithNamespace)] = p
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.groups[group] = list
	for path, p := range list.projects {
		c.projects[path] = cached{p, list.at}
	}
	return list.projects, nil
}

func (c *Client) groupsItems(ctx context.Context, group, label string) ([]raw, error) {
	var items []raw
	issues, err := all(c, ctx, "list tasks", func(page gitlab.ListOptions, with request) ([]*gitlab.Issue, *gitlab.Response, error) {
		return c.api.Issues.ListGroupIssues(group, &gitlab.ListGroupIssuesOptions{ListOptions: page, Scope: text("all"),
			State: text("opened"), Labels: filter(label), OrderBy: text("created_at"), Sort: text("asc")}, with)
	})
	for _, i := range issues {
		items = append(items, ofIssue(i))
	}
	if hopeless(err) || hidden(err) {
		return items, err
	}
	options := &gitlab.ListGroupMergeRequestsOptions{Scope: text("all"),
		State: text("opened"), Labels: filter(label), OrderBy: text("created_at"), Sort: text("asc")}
	merges, mergesErr := all(c, ctx, "list tasks", func(page gitlab.ListOptions, with request) ([]*gitlab.MergeRequest, *gitlab.Response, error) {
		options.ListOptions = page
		var part []*gitlab.MergeRequest
		response, err := c.send(http.MethodGet, "groups/"+gitlab.PathEscape(group)+"/merge_requests", options, with, &part)
		return part, response, err
	})
	for _, m := range merges {
		items = append(items, ofMerge(&m.BasicMergeRequest))
	}
	return items, rest.Joined(append(rest.Flat(err), rest.Flat(mergesErr)...))
}

// eachTasks lists the projects one by one, many of them in turns.
func (c *Client) eachTasks(ctx context.Context, names []string, label string) ([]found, error) {
	if len(names) > many {
		return c.inTurns(ctx, names, label)
	}
	var items []found
	var failures []error
	for _, name := range names {
		part, err := c.projectTasks(ctx, name, label, cacheFor)
		items = append(items, part...)
		if err == nil {
			continue
		}
		failures = append(failures, rest.Named(name, err))
		if hopeless(err) {
			break
		}
	}
	return items, errors.Join(failures...)
}

// take filters the items once more and translates them. The API's filters are asked
// for to save pages; these ones count.
func (c *Client) take(items []raw, label string, projectOf func(raw) *gitlab.Project) (tasks []found, err error) {
	for _, r := range items {
		p := projectOf(r)
		switch {
		case p == nil:
		case !r.readable():
			return tasks, rest.Unreadable("list tasks", rest.Reading)
		case r.state == "opened" && slices.Contains(r.labels, label) && c.assigned(r):
			tasks = append(tasks, found{r.task(c.host, p), r.made})
		}
	}
	return tasks, nil
}

// hopeless are the failures after which the next calls would fail, too.
func hopeless(err error) bool {
	for _, e := range rest.Flat(err) {
		if k := rest.Kind(e); k == "" || k == forge.Auth || k == forge.RateLimited {
			return true
		}
	}
	return false
}
