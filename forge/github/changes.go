package github

import (
	"context"
	"errors"
	"strings"

	"github.com/google/go-github/v89/github"

	"agent/forge"
)

// FindChange returns the oldest open pull request of the branch in the
// repository itself, or nil.
func (c *Client) FindChange(ctx context.Context, key forge.TaskKey, branch string) (*forge.Change, error) {
	const op = "find pull request"
	owner, repo, err := c.project(op, key)
	if err != nil {
		return nil, err
	}
	options := &github.PullRequestListOptions{State: "open", Head: owner + ":" + branch, Sort: "created", Direction: "asc"}
	pulls, err := all(c, ctx, op, func(page github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
		options.ListOptions = page
		return c.api.PullRequests.List(ctx, owner, repo, options)
	})
	if err != nil {
		return nil, err
	}
	for _, p := range pulls { // the API ignores a head that it cannot read
		if p.GetHead().GetRef() == branch && strings.EqualFold(p.GetHead().GetUser().GetLogin(), owner) && p.GetNumber() > 0 {
			return changeOf(p), nil
		}
	}
	return nil, nil
}

// noDrafts tells whether a request was refused because the repository has no drafts:
// they are part of some plans only.
func noDrafts(err error) bool {
	var refused *forge.Error
	return errors.As(err, &refused) && refused.Kind == forge.Invalid && strings.Contains(strings.ToLower(refused.Message), "draft pull requests are not supported")
}

// OpenChange opens a pull request, without its draft state where the repository has
// no drafts. That one exists already is [forge.Invalid].
func (c *Client) OpenChange(ctx context.Context, key forge.TaskKey, spec forge.ChangeSpec) (forge.Change, error) {
	const op = "open pull request"
	owner, repo, err := c.project(op, key)
	if err != nil {
		return forge.Change{}, err
	}
	open := func() (*github.PullRequest, *github.Response, error) {
		return c.api.PullRequests.Create(ctx, owner, repo, &github.NewPullRequest{
			Title: &spec.Title, Body: &spec.Body, Head: &spec.Branch, Base: &spec.Base, Draft: &spec.Draft,
		})
	}
	opened, err := write(c, ctx, op, open)
	if spec.Draft && noDrafts(err) {
		spec.Draft = false
		opened, err = write(c, ctx, op, open)
	}
	if kind(err) == forge.Invalid {
		c.forgetRepository(key.Project) // its default branch may have another name now
	}
	if err != nil {
		return forge.Change{}, err
	}
	if opened.GetNumber() <= 0 {
		return forge.Change{}, unreadable(op, writing)
	}
	return *changeOf(opened), nil
}

// AskReview requests a review. GitHub takes collaborators only.
func (c *Client) AskReview(ctx context.Context, key forge.TaskKey, change int, login string) error {
	const op = "ask for a review"
	owner, repo, err := c.project(op, key)
	if err != nil {
		return err
	}
	_, err = write(c, ctx, op, func() (*github.PullRequest, *github.Response, error) {
		return c.api.PullRequests.RequestReviewers(ctx, owner, repo, change, github.ReviewersRequest{Reviewers: []string{login}})
	})
	return err
}

func changeOf(p *github.PullRequest) *forge.Change {
	return &forge.Change{Number: p.GetNumber(), URL: p.GetHTMLURL(), Branch: p.GetHead().GetRef()}
}
