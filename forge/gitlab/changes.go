package gitlab

import (
	"context"
	"slices"
	"strconv"
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
	if rest.Kind(err) == forge.Invalid {
		c.forgetProject(key.Project) // its default branch may have another name now
	}
	if err != nil {
		return forge.Change{}, err
	}
	if opened.IID <= 0 {
		return forge.Change{}, rest.Unreadable(op, rest.Writing)
	}
	return *changeOf(&opened.BasicMergeRequest), nil
}

// AskReview makes the account a reviewer beside those that there are.
func (c *Client) AskReview(ctx context.Context, key forge.TaskKey, change int, login string) error {
	const op = "ask for a review"
	if err := c.check(op, key); err != nil {
		return err
	}
	if !loginPattern.MatchString(login) {
		return rest.Invalid(op, strconv.Quote(login)+" is not a login")
	}
	id, err := c.userID(ctx, op, login)
	if err != nil {
		return err
	}
	if id == 0 {
		return &forge.Error{Kind: forge.NotFound, Op: op, Message: "there is no account " + login}
	}
	current, err := one(c, ctx, op, func(with request) (*gitlab.MergeRequest, *gitlab.Response, error) {
		return c.api.MergeRequests.GetMergeRequest(key.Project, int64(change), nil, with)
	})
	if err != nil {
		return err
	}
	ids := []int64{}
	for _, r := range current.Reviewers {
		if r.ID == id {
			return nil
		}
		ids = append(ids, r.ID)
	}
	ids = append(ids, id)
	changed, err := write(c, ctx, op, func(with request) (*gitlab.MergeRequest, *gitlab.Response, error) {
		return c.api.MergeRequests.UpdateMergeRequest(key.Project, int64(change), &gitlab.UpdateMergeRequestOptions{ReviewerIDs: &ids}, with)
	})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(changed.Reviewers, func(r *gitlab.BasicUser) bool { return r.ID == id }) {
		return rest.Invalid(op, login+" cannot review here") // GitLab leaves such accounts out without a word
	}
	return nil
}

func changeOf(m *gitlab.BasicMergeRequest) *forge.Change {
	return &forge.Change{Number: int(m.IID), URL: m.WebURL, Branch: m.SourceBranch}
}
