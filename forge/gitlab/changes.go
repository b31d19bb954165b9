package gitlab

import (
	"context"
	"strings"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
	"agent/forge/rest"
)

// FindChange returns the oldest open merge request of the branch in the
// project itself, or nil.
func (c *Client) FindChange(ctx context.Context, key forge.TaskKey, branch string) (*forge.Change, error) {
	const op = "find merge request"
	if err := c.check(op, key); err != nil {
		return nil, err
	}
	options := &gitlab.ListProjectMergeRequestsOptions{
		State: text("opened"), SourceBranch: &branch, OrderBy: text("created_at"), Sort: text("asc"),
	}
	merges, err := c.merges(ctx, op, key.Project, options)
	if err != nil {
		return nil, err
	}
	for _, m := range merges {
		if m.SourceBranch == branch && m.SourceProjectID == m.TargetProjectID && m.State == "opened" && m.IID > 0 {
			return changeOf(m), nil
		}
	}
	return nil, nil
}

// OpenChange opens a merge request. That one exists already is [forge.Invalid].
func (c *Client) OpenChange(ctx context.Context, key forge.TaskKey, spec forge.ChangeSpec) (forge.Change, error) {
	const op = "open merge request"
	if err := c.check(op, key); err != nil {
		return forge.Change{}, err
	}
	title := spec.Title
	if spec.Draft && !strings.HasPrefix(strings.ToLower(title), "draft:") {
		title = "Draft: " + title // GitLab knows drafts by their titles
	}
	opened, err := write(c, ctx, op, func(with request) (*gitlab.MergeRequest, *gitlab.Response, error) {
		return c.api.MergeRequests.CreateMergeRequest(key.Project, &gitlab.CreateMergeRequestOptions{
			Title: &title, Description: &spec.Body, SourceBranch: &spec.Branch, TargetBranch: &spec.Base,
		}, with)
	})
	if err != nil {
		return forge.Change{}, err
	}
	if opened.IID <= 0 {
		return forge.Change{}, rest.Unreadable(op, rest.Writing)
	}
	return *changeOf(&opened.BasicMergeRequest), nil
}

func changeOf(m *gitlab.BasicMergeRequest) *forge.Change {
	return &forge.Change{Number: int(m.IID), URL: m.WebURL, Branch: m.SourceBranch}
}
