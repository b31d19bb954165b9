package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v89/github"

	"agent/forge"
)

// found is a task on its way into the list.
type found struct {
	task    forge.Task
	created time.Time
}

// ListTasks returns the open issues and pull requests that carry label, oldest
// first. Head branches are left out: they cost a request each.
//
// Where many repositories of one organization are configured, those that its list shows are
// searched at once, and the others are listed one by one, as all are elsewhere.
//
// Tasks and an error may both be set: a repository that cannot be read is named
// in the error, and the tasks of the others are returned. An issue that is
// closed while pages are read can hide another one until the next call. A
// search shows at most the 1,000 oldest.
func (c *Client) ListTasks(ctx context.Context, label string) ([]forge.Task, error) {
	if len(c.cfg.Repositories) == 0 {
		return c.searchTasks(ctx, label)
	}
	var items []found
	var failures []error
	for n, names := range c.byOwner() {
		list := c.eachTasks
		if n < searched && len(names) > many {
			list = c.ownersTasks
		}
		part, err := list(ctx, names, label)
		items = append(items, part...)
		failures = append(failures, flat(err)...)
		if hopeless(err) {
			break
		}
	}
	return ordered(items), joined(failures)
}

// hopeless are the failures after which the next calls would fail, too.
func hopeless(err error) bool {
	for _, e := range flat(err) {
		if k := kind(e); k == "" || k == forge.Auth || k == forge.RateLimited {
			return true
		}
	}
	return false
}

// eachTasks lists the repositories one by one.
func (c *Client) eachTasks(ctx context.Context, names []string, label string) ([]found, error) {
	var items []found
	var failures []error
	for _, name := range names {
		part, err := c.repositoryTasks(ctx, name, label)
		items = append(items, part...)
		if err == nil {
			continue
		}
		failures = append(failures, named(name, err))
		if hopeless(err) {
			break
		}
	}
	return items, errors.Join(failures...)
}

func (c *Client) repositoryTasks(ctx context.Context, name, label string) ([]found, error) {
	options := &github.IssueListByRepoOptions{
		State: "open", Assignee: c.cfg.Assignee, Sort: "created", Direction: "asc", Labels: []string{label},
	}
	if strings.Contains(label, ",") {
		options.Labels = nil // the API would read several labels; take filters
	}
	owner, short, _ := strings.Cut(name, "/")
	issues, err := all(c, ctx, "list tasks", func(page github.ListOptions) ([]*github.Issue, *github.Response, error) {
		options.ListOptions = page
		return c.api.Issues.ListByRepo(ctx, owner, short, options)
	})
	if err != nil {
		return nil, err
	}
	return c.take(issues, label, func(*github.Issue) (*github.Repository, error) { return c.known(ctx, "list tasks", name) })
}

func (c *Client) searchTasks(ctx context.Context, label string) ([]forge.Task, error) {
	items, err := c.search(ctx, c.cfg.Owner, label, func(i *github.Issue) (*github.Repository, error) {
		name, err := projectOf(i)
		if err != nil {
			return nil, err
		}
		repo, err := c.repository(ctx, "list tasks", name)
		return repo, named(name, err)
	})
	return ordered(items), joined(flat(err))
}

// search finds the tasks in all repositories of an owner.
func (c *Client) search(ctx context.Context, owner, label string, repoOf repoOf) ([]found, error) {
	var items []found
	var failures []error
	for _, sort := range []string{"issue", "pull-request"} { // some tokens may not search for both at once
		part, err := c.searchKind(ctx, owner, sort, label, repoOf)
		items = append(items, part...)
		failures = append(failures, flat(err)...)
		if failed := kind(err); failed == forge.Auth || failed == forge.RateLimited {
			break // the other would fail like this one
		}
	}
	return items, errors.Join(failures...)
}

// repoOf finds the repository of an issue; nil without an error leaves the issue out.
type repoOf func(*github.Issue) (*github.Repository, error)

func (c *Client) searchKind(ctx context.Context, owner, sort, label string, repoOf repoOf) ([]found, error) {
	query := fmt.Sprintf(`label:%s state:open is:%s user:%s`, quote(label), sort, owner)
	if c.cfg.Assignee != "" {
		query += " assignee:" + c.cfg.Assignee
	}
	incomplete, withheld := false, ""
	issues, err := all(c, ctx, "list tasks", func(page github.ListOptions) ([]*github.Issue, *github.Response, error) {
		if (page.Page-1)*pageSize >= 1000 {
			return []*github.Issue{}, &github.Response{}, nil // the API refuses to go beyond
		}
		result, response, err := c.api.Search.Issues(ctx, query, &github.SearchOptions{
			Sort: "created", Order: "asc", ListOptions: page,
		})
		if result == nil {
			return nil, response, err
		}
		incomplete = incomplete || result.GetIncompleteResults()
		withheld = cmp.Or(withheld, response.Header.Get("X-GitHub-SSO"))
		return result.Issues, response, err
	})
	if err != nil {
		return nil, err
	}
	items, err := c.take(issues, label, repoOf)
	if strings.HasPrefix(withheld, "partial-results") {
		err = errors.Join(err, &forge.Error{Kind: forge.Forbidden, Op: "list tasks",
			Message: "some organizations are left out: the token is not authorized for their single sign-on (" + c.line(withheld) + ")"})
	}
	if incomplete {
		err = errors.Join(err, &forge.Error{Kind: forge.Transient, Op: "list tasks", Message: "the search was incomplete"})
	}
	return items, err
}

// take filters the items once more and translates them.
func (c *Client) take(issues []*github.Issue, label string, repoOf repoOf) ([]found, error) {
	var items []found
	var failures []error
	for _, i := range issues {
		if i.GetState() != "open" || !carries(i, label) || !c.assigned(i) {
			continue
		}
		repo, err := repoOf(i)
		if err == nil && repo == nil {
			continue
		}
		if err == nil && (i.GetNumber() <= 0 || !validProject(repo.GetFullName())) {
			err = unreadable("list tasks", reading)
		}
		if err != nil {
			failures = append(failures, err)
			continue
		}
		key := forge.TaskKey{Host: c.host, Project: repo.GetFullName(), Kind: kindOf(i), Number: i.GetNumber()}
		items = append(items, found{taskOf(key, i, isPrivate(repo)), i.GetCreatedAt().Time})
	}
	return items, errors.Join(failures...)
}

func kindOf(i *github.Issue) forge.Kind {
	if i.IsPullRequest() {
		return forge.GitHubPullRequest
	}
	return forge.GitHubIssue
}

// Task returns the item as it is now. One that has another address is [forge.Moved].
func (c *Client) Task(ctx context.Context, key forge.TaskKey) (forge.Task, error) {
	const op = "get task"
	owner, name, err := c.project(op, key)
	if err != nil {
		return forge.Task{}, err
	}
	repo, err := c.known(ctx, op, key.Project)
	if err != nil {
		return forge.Task{}, err
	}
	issue, err := one(c, ctx, op, func() (*github.Issue, *github.Response, error) {
		return c.api.Issues.Get(ctx, owner, name, key.Number)
	})
	if kind(err) == forge.NotFound {
		return forge.Task{}, c.confirmGone(ctx, op, key, err)
	}
	if err != nil {
		return forge.Task{}, err
	}
	if err := c.sameItem(ctx, op, key, issue); err != nil {
		return forge.Task{}, err
	}
	if full := repo.GetFullName(); strings.EqualFold(full, key.Project) {
		key.Project = full // in the forge's own spelling
	}
	task := taskOf(key, issue, isPrivate(repo))
	task.Project = idOf(repo.GetID())
	if key.Kind == forge.GitHubPullRequest {
		err = c.addHead(ctx, op, &task)
	}
	return task, err
}

// sameItem refuses an answer about another item than key names. GitHub redirects reads
// of old names, and of issues that were transferred.
func (c *Client) sameItem(ctx context.Context, op string, key forge.TaskKey, i *github.Issue) error {
	project := key.Project
	if i.GetRepositoryURL() != "" {
		var err error
		if project, err = projectOf(i); err != nil {
			return err
		}
	}
	is := key
	is.Project, is.Kind, is.Number = project, kindOf(i), i.GetNumber()
	switch {
	case !strings.EqualFold(project, key.Project) || is.Number != key.Number:
		return c.movedTo(ctx, op, key, is)
	case is.Kind != key.Kind:
		return &forge.Error{Kind: forge.NotFound, Op: op, Message: fmt.Sprintf("%s is %s", key, is)}
	}
	return nil
}

// movedTo tells a repository that has another name from an item that was transferred:
// the old name of the former leads to the new one.
func (c *Client) movedTo(ctx context.Context, op string, from, to forge.TaskKey) error {
	repo, err := one(c, ctx, op, func() (*github.Repository, *github.Response, error) {
		return c.api.Repositories.Get(ctx, from.Owner(), from.Repo())
	})
	if err != nil {
		return err
	}
	renamed := strings.EqualFold(repo.GetFullName(), to.Project) && from.Number == to.Number
	return &forge.Error{Kind: forge.Moved, Op: op, Message: fmt.Sprintf("%s moved to %s", from, to), To: to, Transferred: !renamed}
}

// addHead reads what only the pull request itself tells.
func (c *Client) addHead(ctx context.Context, op string, t *forge.Task) error {
	pull, err := one(c, ctx, op, func() (*github.PullRequest, *github.Response, error) {
		return c.api.PullRequests.Get(ctx, t.Key.Owner(), t.Key.Repo(), t.Key.Number)
	})
	if err != nil {
		return err
	}
	head, base := pull.GetHead(), pull.GetBase()
	if pull.GetNumber() != t.Key.Number || head.GetRef() == "" || base.GetRepo().GetID() == 0 {
		return unreadable(op, reading)
	}
	t.Branch, t.Draft = head.GetRef(), pull.GetDraft()
	t.Fork = head.GetRepo().GetID() != base.GetRepo().GetID()
	return nil
}

// idOf is an id as text, "" if there is none.
func idOf(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

func taskOf(key forge.TaskKey, i *github.Issue, private bool) forge.Task {
	t := forge.Task{
		Key: key, Title: i.GetTitle(), Body: i.GetBody(), Author: account(i.GetUser()), State: i.GetState(),
		URL: i.GetHTMLURL(), Private: private, Draft: i.GetDraft(), UpdatedAt: i.GetUpdatedAt().UTC(), ID: idOf(i.GetID()),
	}
	for _, l := range i.Labels {
		t.Labels = append(t.Labels, l.GetName())
	}
	for _, a := range i.Assignees {
		t.Assignees = append(t.Assignees, a.GetLogin())
	}
	return t
}

// projectOf reads owner/repo from the issue's repository_url.
func projectOf(i *github.Issue) (string, error) {
	u, err := url.Parse(i.GetRepositoryURL())
	if err == nil {
		if _, project, ok := strings.Cut(u.Path, "/repos/"); ok && validProject(project) {
			return project, nil
		}
	}
	return "", unreadable("read the repository of an issue", reading)
}

func carries(i *github.Issue, label string) bool {
	return slices.ContainsFunc(i.Labels, func(l *github.Label) bool { return strings.EqualFold(l.GetName(), label) })
}

func (c *Client) assigned(i *github.Issue) bool {
	return c.cfg.Assignee == "" || slices.ContainsFunc(i.Assignees, func(u *github.User) bool {
		return strings.EqualFold(u.GetLogin(), c.cfg.Assignee)
	})
}

// ordered drops repeated tasks and sorts the rest, oldest first.
func ordered(items []found) []forge.Task {
	slices.SortStableFunc(items, func(a, b found) int {
		return cmp.Or(
			a.created.Compare(b.created),
			strings.Compare(a.task.Key.Project, b.task.Key.Project),
			cmp.Compare(a.task.Key.Number, b.task.Key.Number),
		)
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

// quote makes one search value of a text.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
