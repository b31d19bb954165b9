package github

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/google/go-github/v89/github"

	"agent/forge"
)

const maxPasses = 5

// Comments returns every comment, oldest first. If since is set, only those updated at or after it.
//
// Pages shift when a comment is deleted or comes into the list while they are
// read, and one can slip through. Lists of several pages are therefore read
// until two passes agree; new comments at the end are no disagreement.
func (c *Client) Comments(ctx context.Context, key forge.TaskKey, since time.Time) ([]forge.Comment, error) {
	const op = "list comments"
	var before []*github.IssueComment
	for pass := range maxPasses {
		raw, err := c.commentPages(ctx, op, key, since)
		if err != nil {
			return nil, err
		}
		if len(raw) < pageSize || (pass > 0 && extends(raw, before)) {
			return commentsOf(op, raw)
		}
		before = raw
	}
	return nil, &forge.Error{Kind: forge.Transient, Op: op, Message: "the comments kept changing while they were read"}
}

func (c *Client) commentPages(ctx context.Context, op string, key forge.TaskKey, since time.Time) ([]*github.IssueComment, error) {
	owner, repo, err := c.project(op, key)
	if err != nil {
		return nil, err
	}
	options := &github.IssueListCommentsOptions{}
	if !since.IsZero() {
		at := since.UTC().Truncate(time.Second)
		options.Since = &at
	}
	return all(c, ctx, op, func(page github.ListOptions) ([]*github.IssueComment, *github.Response, error) {
		options.ListOptions = page
		return c.api.Issues.ListComments(ctx, owner, repo, key.Number, options)
	})
}

// extends reports whether a begins with the comments of b.
func extends(a, b []*github.IssueComment) bool {
	return len(a) >= len(b) && slices.EqualFunc(a[:len(b)], b, func(x, y *github.IssueComment) bool {
		return x.GetID() == y.GetID()
	})
}

// commentsOf translates, drops repeated ids and sorts by time, then id.
func commentsOf(op string, raw []*github.IssueComment) ([]forge.Comment, error) {
	slices.SortStableFunc(raw, func(a, b *github.IssueComment) int {
		return cmp.Or(a.GetCreatedAt().Compare(b.GetCreatedAt().Time), cmp.Compare(a.GetID(), b.GetID()))
	})
	var comments []forge.Comment
	seen := map[int64]bool{}
	for _, r := range raw {
		if r.GetID() <= 0 {
			return nil, unreadable(op, reading)
		}
		if !seen[r.GetID()] {
			seen[r.GetID()] = true
			comments = append(comments, commentOf(r))
		}
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
	owner, repo, err := c.project(op, key)
	if err != nil {
		return forge.Comment{}, err
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 {
		return forge.Comment{}, invalid(op, strconv.Quote(id)+" is not the id of a comment")
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
