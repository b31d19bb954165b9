package gitlab

import (
	"context"
	"slices"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
	"agent/forge/rest"
)

// confirmGone asks again where an item was not found. A token that lost a
// permission and a forge in trouble answer 404 as well, so it counts as gone only
// if its project and its list of items can be read now, and the list does not
// show it.
func (c *Client) confirmGone(ctx context.Context, op string, key forge.TaskKey, notFound error) error {
	c.forgetProject(key.Project) // it may be another one by now
	if _, err := one(c, ctx, op, func(with request) (*gitlab.Project, *gitlab.Response, error) {
		return c.api.Projects.GetProject(key.Project, nil, with)
	}); err != nil {
		return rest.Hidden(notFound, err)
	}
	listed, err := c.listed(ctx, op, key)
	if err != nil {
		return rest.Hidden(notFound, err)
	}
	if slices.Contains(listed, int64(key.Number)) {
		return rest.Hidden(notFound, nil)
	}
	return notFound
}

// listed are the numbers of those items that a list limited to the key's number shows.
func (c *Client) listed(ctx context.Context, op string, key forge.TaskKey) (numbers []int64, err error) {
	only := []int64{int64(key.Number)}
	if key.Kind == forge.GitLabIssue {
		issues, err := all(c, ctx, op, func(page gitlab.ListOptions, with request) ([]*gitlab.Issue, *gitlab.Response, error) {
			return c.api.Issues.ListProjectIssues(key.Project, &gitlab.ListProjectIssuesOptions{ListOptions: page, IIDs: &only}, with)
		})
		for _, i := range issues {
			numbers = append(numbers, i.IID)
		}
		return numbers, err
	}
	merges, err := all(c, ctx, op, func(page gitlab.ListOptions, with request) ([]*gitlab.BasicMergeRequest, *gitlab.Response, error) {
		return c.api.MergeRequests.ListProjectMergeRequests(key.Project, &gitlab.ListProjectMergeRequestsOptions{ListOptions: page, IIDs: &only}, with)
	})
	for _, m := range merges {
		numbers = append(numbers, m.IID)
	}
	return numbers, err
}
