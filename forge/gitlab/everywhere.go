package gitlab

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge/rest"
)

const (
	aloneFor = time.Hour // projects are asked one by one after the lists of all could not be read
	spots    = 2         // projects that are read by themselves beside those lists: one that is gone is named
)

// asksMany tells whether listing by groups takes many requests. GitLab counts each.
func asksMany(groups [][]string) bool {
	asks := 0
	for _, names := range groups {
		if len(names) > many {
			asks++
		} else {
			asks += len(names)
		}
	}
	return asks > many
}

// everywhere lists the tasks of the configured projects from the lists of all that the
// token sees. It is false if those cannot be read.
func (c *Client) everywhere(ctx context.Context, label string) (tasks []found, err error, ok bool) {
	c.mu.Lock()
	alone := c.now().Before(c.alone)
	c.mu.Unlock()
	if alone {
		return nil, nil, false
	}
	items, err := c.allItems(ctx, label)
	if err != nil && !hopeless(err) { // a server may be too large for such a list, and take too long
		c.mu.Lock()
		c.alone = c.now().Add(aloneFor)
		c.mu.Unlock()
		return nil, nil, false
	}
	if err != nil {
		return nil, err, true
	}
	var failures []error
	tasks, err = c.take(items, label, func(r raw) *gitlab.Project {
		name := c.configured(r)
		if name == "" {
			return nil
		}
		p, err := c.project(ctx, "list tasks", name)
		if err != nil {
			failures = append(failures, rest.Named(name, err))
			return nil
		}
		return p
	})
	return tasks, errors.Join(append(failures, err, c.spotCheck(ctx))...), true
}

// configured is the name under which the project of an item is configured, if it is.
func (c *Client) configured(r raw) string {
	path, _, _ := strings.Cut(strings.TrimPrefix(r.url, c.web+"/"), "/-/")
	for _, name := range c.cfg.Projects {
		if strings.EqualFold(name, path) || name == strconv.FormatInt(r.project, 10) {
			return name
		}
	}
	return ""
}

// spotCheck reads some of the projects, so that in time each is looked at by itself.
func (c *Client) spotCheck(ctx context.Context) (err error) {
	for range spots {
		name := c.cfg.Projects[rand.IntN(len(c.cfg.Projects))]
		if _, failed := c.project(ctx, "list tasks", name); failed != nil {
			err = errors.Join(err, rest.Named(name, failed))
		}
	}
	return err
}

func (c *Client) allItems(ctx context.Context, label string) ([]raw, error) {
	var items []raw
	issues, err := all(c, ctx, "list tasks", func(page gitlab.ListOptions, with request) ([]*gitlab.Issue, *gitlab.Response, error) {
		return c.api.Issues.ListIssues(&gitlab.ListIssuesOptions{ListOptions: page, Scope: text("all"),
			State: text("opened"), Labels: filter(label), OrderBy: text("created_at"), Sort: text("asc")}, with)
	})
	for _, i := range issues {
		items = append(items, ofIssue(i))
	}
	if err != nil {
		return items, err
	}
	options := &gitlab.ListMergeRequestsOptions{Scope: text("all"),
		State: text("opened"), Labels: filter(label), OrderBy: text("created_at"), Sort: text("asc")}
	merges, err := all(c, ctx, "list tasks", func(page gitlab.ListOptions, with request) ([]*gitlab.MergeRequest, *gitlab.Response, error) {
		options.ListOptions = page
		var part []*gitlab.MergeRequest
		response, err := c.send(http.MethodGet, "merge_requests", options, with, &part)
		return part, response, err
	})
	for _, m := range merges {
		items = append(items, ofMerge(&m.BasicMergeRequest))
	}
	return items, err
}
