package github

import (
	"context"
	"strconv"

	"github.com/google/go-github/v89/github"

	"agent/forge"
)

// contents are GitHub's names of reactions.
var contents = map[forge.Emoji]string{forge.ThumbsUp: "+1", forge.Eyes: "eyes", forge.Confused: "confused"}

// React answers a comment. GitHub says 201 for a new reaction and 200 for one that is
// there already.
func (c *Client) React(ctx context.Context, key forge.TaskKey, id string, e forge.Emoji) error {
	const op = "react to comment"
	owner, repo, n, err := c.commentAt(op, key, id)
	if err != nil {
		return err
	}
	_, err = write(c, ctx, op, func() (*github.Reaction, *github.Response, error) {
		return c.api.Reactions.CreateIssueCommentReaction(ctx, owner, repo, n, contents[e])
	})
	return err
}

// Reactions returns who reacted to a comment in that way, oldest first.
func (c *Client) Reactions(ctx context.Context, key forge.TaskKey, id string, e forge.Emoji) ([]forge.Reaction, error) {
	const op = "list reactions"
	owner, repo, n, err := c.commentAt(op, key, id)
	if err != nil {
		return nil, err
	}
	listed, err := all(c, ctx, op, func(page github.ListOptions) ([]*github.Reaction, *github.Response, error) {
		return c.api.Reactions.ListIssueCommentReactions(ctx, owner, repo, n, &github.ListReactionOptions{Content: contents[e], ListOptions: page})
	})
	if err != nil {
		return nil, err
	}
	var reactions []forge.Reaction
	for _, r := range listed {
		if r.GetID() <= 0 {
			return nil, unreadable(op, reading)
		}
		if r.GetContent() == contents[e] {
			reactions = append(reactions, forge.Reaction{ID: strconv.FormatInt(r.GetID(), 10), By: account(r.GetUser())})
		}
	}
	return reactions, nil
}

// commentAt is where a comment lies.
func (c *Client) commentAt(op string, key forge.TaskKey, id string) (owner, repo string, n int64, err error) {
	if owner, repo, err = c.project(op, key); err != nil {
		return "", "", 0, err
	}
	n, err = strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 {
		return "", "", 0, invalid(op, strconv.Quote(id)+" is not the id of a comment")
	}
	return owner, repo, n, nil
}
