package gitlab

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
	"agent/forge/rest"
)

// raw is what issues and merge requests have in common, and the rest of the latter.
type raw struct {
	kind         forge.Kind
	id, iid      int64
	project      int64
	moved        int64 // id of the issue that it is now, 0 if it was not moved
	title, body  string
	author       forge.Account
	state        string
	labels       []string
	assignees    []string
	url          string
	draft        bool
	branch       string
	fork         bool
	confidential bool
	made, edited time.Time
}

func ofIssue(i *gitlab.Issue) raw {
	r := raw{
		kind: forge.GitLabIssue, id: i.ID, iid: i.IID, project: i.ProjectID, moved: i.MovedToID, title: i.Title, body: i.Description, author: account(0, "", false),
		state: i.State, labels: i.Labels, url: i.WebURL, made: when(i.CreatedAt), edited: when(i.UpdatedAt),
		confidential: i.Confidential,
	}
	if i.Author != nil {
		r.author = account(i.Author.ID, i.Author.Username, false)
	}
	//lint:ignore SA1019 some answers name the first assignee only
	for _, a := range append(i.Assignees, i.Assignee) {
		if a != nil {
			r.assign(a.Username)
		}
	}
	return r
}

func ofMerge(m *gitlab.BasicMergeRequest) raw {
	r := raw{
		kind: forge.GitLabMergeRequest, id: m.ID, iid: m.IID, project: m.ProjectID, title: m.Title, body: m.Description, author: account(0, "", false),
		state: m.State, labels: m.Labels, url: m.WebURL, made: when(m.CreatedAt), edited: when(m.UpdatedAt),
		draft: m.Draft, branch: m.SourceBranch, fork: m.SourceProjectID != m.TargetProjectID,
	}
	if m.Author != nil {
		r.author = account(m.Author.ID, m.Author.Username, false)
	}
	for _, a := range append(m.Assignees, m.Assignee) {
		if a != nil {
			r.assign(a.Username)
		}
	}
	return r
}

// assign notes an assignee once: the list and the single field of old name the same people.
func (r *raw) assign(login string) {
	if login != "" && !slices.Contains(r.assignees, login) {
		r.assignees = append(r.assignees, login)
	}
}

func when(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

func (r raw) task(host string, p *gitlab.Project) forge.Task {
	state := "closed" // also merged, and locked, which it is while it is merged
	if r.state == "opened" {
		state = "open"
	}
	return forge.Task{
		Key:   forge.TaskKey{Host: host, Project: p.PathWithNamespace, Kind: r.kind, Number: int(r.iid)},
		Title: r.title, Body: r.body, Author: r.author, State: state, Labels: r.labels, Assignees: r.assignees, URL: r.url,
		Private: isPrivate(p), Draft: r.draft, Branch: r.branch, Fork: r.fork, UpdatedAt: r.edited,
		Confidential: r.confidential && p.Visibility != gitlab.PrivateVisibility,
		ID:           idOf(r.id), Project: idOf(p.ID),
	}
}

// readable reports whether the answer can be a task at all.
func (r raw) readable() bool { return r.iid > 0 && r.state != "" }

// read gets the item of a key, which check has accepted.
func (c *Client) read(ctx context.Context, op string, key forge.TaskKey) (raw, error) {
	var r raw
	if key.Kind == forge.GitLabIssue {
		i, err := one(c, ctx, op, func(with request) (*gitlab.Issue, *gitlab.Response, error) {
			return c.api.Issues.GetIssue(key.Project, int64(key.Number), nil, with)
		})
		if err != nil {
			return raw{}, err
		}
		r = ofIssue(i)
	} else {
		m, err := one(c, ctx, op, func(with request) (*gitlab.MergeRequest, *gitlab.Response, error) {
			return c.api.MergeRequests.GetMergeRequest(key.Project, int64(key.Number), nil, with)
		})
		if err != nil {
			return raw{}, err
		}
		r = ofMerge(&m.BasicMergeRequest)
	}
	if !r.readable() || r.iid != int64(key.Number) {
		return raw{}, rest.Unreadable(op, rest.Reading)
	}
	if id, err := strconv.ParseInt(r.author.ID, 10, 64); err == nil {
		c.meet(id, r.author.Login)
	}
	return r, nil
}

// Task returns the item as it is now. One whose project has another path today, or that
// was moved to another project, is [forge.Moved].
func (c *Client) Task(ctx context.Context, key forge.TaskKey) (forge.Task, error) {
	const op = "get task"
	if err := c.check(op, key); err != nil {
		return forge.Task{}, err
	}
	p, err := c.known(ctx, op, key.Project, cacheFor)
	if err != nil {
		return forge.Task{}, err
	}
	if !strings.EqualFold(p.PathWithNamespace, key.Project) {
		to := key
		to.Project = p.PathWithNamespace
		return forge.Task{}, &forge.Error{Kind: forge.Moved, Op: op, Message: fmt.Sprintf("%s moved to %s", key, to), To: to}
	}
	r, err := c.read(ctx, op, key)
	if rest.Kind(err) == forge.NotFound {
		return forge.Task{}, c.confirmGone(ctx, op, key, err)
	}
	if err != nil {
		return forge.Task{}, err
	}
	if r.moved != 0 {
		return forge.Task{}, c.issueMoved(ctx, op, key, r.moved)
	}
	return r.task(c.host, p), nil
}
