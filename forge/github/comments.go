package github

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v89/github"

	"agent/forge"
)

// remark is a comment of any kind with its number, by which equal times are ordered.
type remark struct {
	forge.Comment
	id int64
}

// Comments returns every comment, oldest first. If since is set, only those
// updated at or after it. A pull request has three kinds: comments, bodies of
// reviews, and review comments, which begin with a quoted line that says where
// they belong. Reviews have no time of change: an edit does not bring them back.
func (c *Client) Comments(ctx context.Context, key forge.TaskKey, since time.Time) ([]forge.Comment, error) {
	const op = "list comments"
	owner, repo, err := c.project(op, key)
	if err != nil {
		return nil, err
	}
	at := thread{c: c, op: op, owner: owner, repo: repo, number: key.Number, since: since.UTC().Truncate(time.Second)}
	lists := []func(context.Context) ([]remark, error){at.conversation}
	if key.Kind == forge.GitHubPullRequest {
		lists = append(lists, at.reviews, at.reviewComments)
	}
	var remarks []remark
	for _, list := range lists {
		part, err := list(ctx)
		if err != nil {
			return nil, err
		}
		remarks = append(remarks, part...)
	}
	return commentsOf(op, remarks)
}

// commentsOf drops repeated ids and sorts by time, then kind, then id.
func commentsOf(op string, remarks []remark) ([]forge.Comment, error) {
	slices.SortStableFunc(remarks, func(a, b remark) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.Kind, b.Kind), cmp.Compare(a.id, b.id))
	})
	var comments []forge.Comment
	var last remark
	for _, r := range remarks {
		if r.id <= 0 {
			return nil, unreadable(op, reading)
		}
		if r.id != last.id || r.Kind != last.Kind { // the same time of creation puts the same comment beside itself
			comments = append(comments, r.Comment)
		}
		last = r
	}
	return comments, nil
}

func commentOf(r *github.IssueComment) forge.Comment {
	return forge.Comment{
		ID: strconv.FormatInt(r.GetID(), 10), Kind: "comment", Author: account(r.GetUser()), Body: r.GetBody(),
		URL: r.GetHTMLURL(), CreatedAt: r.GetCreatedAt().UTC(), UpdatedAt: r.GetUpdatedAt().UTC(),
	}
}

// PostComment writes a new comment.
func (c *Client) PostComment(ctx context.Context, key forge.TaskKey, body string) (forge.Comment, error) {
	const op = "post comment"
	owner, repo, err := c.project(op, key)
	if err != nil {
		return forge.Comment{}, err
	}
	return c.writeComment(ctx, op, func() (*github.IssueComment, *github.Response, error) {
		return c.api.Issues.CreateComment(ctx, owner, repo, key.Number, &github.IssueComment{Body: &body})
	})
}

// EditComment replaces the body of a comment.
func (c *Client) EditComment(ctx context.Context, key forge.TaskKey, id, body string) (forge.Comment, error) {
	const op = "edit comment"
	owner, repo, n, err := c.commentAt(op, key, id)
	if err != nil {
		return forge.Comment{}, err
	}
	return c.writeComment(ctx, op, func() (*github.IssueComment, *github.Response, error) {
		return c.api.Issues.EditComment(ctx, owner, repo, n, &github.IssueComment{Body: &body})
	})
}

func (c *Client) writeComment(ctx context.Context, op string, f func() (*github.IssueComment, *github.Response, error)) (forge.Comment, error) {
	written, err := write(c, ctx, op, f)
	if err != nil {
		return forge.Comment{}, err
	}
	if written.GetID() <= 0 {
		return forge.Comment{}, unreadable(op, writing)
	}
	return commentOf(written), nil
}
