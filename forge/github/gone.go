package github

import (
	"context"
	"slices"

	"github.com/google/go-github/v89/github"

	"agent/forge"
	"agent/forge/rest"
)

// confirmGone asks again where an item was not found. A token that lost a
// permission and a forge in trouble answer 404 as well, so it counts as gone only
// if its repository and its list of items can be read now, and the list does not
// show it. Of a long list, the items that changed last are looked at.
func (c *Client) confirmGone(ctx context.Context, op string, key forge.TaskKey, notFound error) error {
	c.forgetRepository(key.Project) // it may be another one by now
	if _, err := one(c, ctx, op, func() (*github.Repository, *github.Response, error) {
		return c.api.Repositories.Get(ctx, key.Owner(), key.Repo())
	}); err != nil {
		return rest.Hidden(notFound, err)
	}
	var listed []*github.Issue
	_, err := one(c, ctx, op, func() (*[]*github.Issue, *github.Response, error) {
		page, response, err := c.api.Issues.ListByRepo(ctx, key.Owner(), key.Repo(), &github.IssueListByRepoOptions{
			State: "all", Sort: "updated", Direction: "desc", ListOptions: github.ListOptions{PerPage: pageSize}})
		listed = page
		return &page, response, err
	})
	if err != nil {
		return rest.Hidden(notFound, err)
	}
	if slices.ContainsFunc(listed, func(i *github.Issue) bool { return i.GetNumber() == key.Number }) {
		return rest.Hidden(notFound, nil)
	}
	return notFound
}
