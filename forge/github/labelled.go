package github

import (
	"context"
	"strings"

	"github.com/google/go-github/v89/github"

	"agent/forge"
)

// LabelledBy reads the item's events, which name the author for labels that
// came with a template.
func (c *Client) LabelledBy(ctx context.Context, key forge.TaskKey, label string) (forge.Labelling, error) {
	events, err := c.events(ctx, key)
	var found forge.Labelling
	for _, e := range events {
		kind, id := e.GetEvent(), e.GetID()
		if kind != "labeled" && kind != "unlabeled" {
			continue
		}
		found.Latest = max(found.Latest, id)
		if kind == "labeled" && strings.EqualFold(e.GetLabel().GetName(), label) && id > found.Event {
			found.By, found.Event, found.At = account(e.GetActor()), id, e.GetCreatedAt().UTC()
		}
	}
	return found, err
}

func (c *Client) events(ctx context.Context, key forge.TaskKey) ([]*github.IssueEvent, error) {
	const op = "list events"
	owner, repo, err := c.project(op, key)
	if err != nil {
		return nil, err
	}
	return all(c, ctx, op, func(page github.ListOptions) ([]*github.IssueEvent, *github.Response, error) {
		return c.api.Issues.ListIssueEvents(ctx, owner, repo, key.Number, &page)
	})
}
