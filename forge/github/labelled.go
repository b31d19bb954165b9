package github

import (
	"context"
	"strings"

	"github.com/google/go-github/v89/github"

	"agent/forge"
)

// LabelledBy reads the item's events, which name the author for labels that
// came with a template.
func (c *Client) LabelledBy(ctx context.Context, key forge.TaskKey, label string) (forge.Account, error) {
	const op = "list events"
	owner, repo, err := c.project(op, key)
	if err != nil {
		return forge.Account{}, err
	}
	events, err := all(c, ctx, op, func(page github.ListOptions) ([]*github.IssueEvent, *github.Response, error) {
		return c.api.Issues.ListIssueEvents(ctx, owner, repo, key.Number, &page)
	})
	var by forge.Account
	for _, e := range events { // oldest first
		if e.GetEvent() == "labeled" && strings.EqualFold(e.GetLabel().GetName(), label) {
			by = account(e.GetActor())
		}
	}
	return by, err
}
