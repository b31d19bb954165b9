package gitlab

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
	"agent/forge/rest"
)

// emojiNames are GitLab's names of reactions.
var emojiNames = map[forge.Emoji]string{forge.ThumbsUp: "thumbsup", forge.Eyes: "eyes", forge.Confused: "confused"}

// award is an emoji on a note.
type award struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	User struct {
		ID       int64  `json:"id"`
		Username string `json:"username"`
		Bot      bool   `json:"bot"`
	} `json:"user"`
}

// React answers a note. GitLab says 404 "Name has already been taken" for an emoji that
// is there already.
func (c *Client) React(ctx context.Context, key forge.TaskKey, id string, e forge.Emoji) error {
	const op = "react to note"
	path, err := c.noteAt(op, key, id)
	if err != nil {
		return err
	}
	_, err = write(c, ctx, op, func(with request) (*award, *gitlab.Response, error) {
		var a *award
		response, err := c.send(http.MethodPost, path+"/award_emoji", &struct {
			Name string `json:"name"`
		}{emojiNames[e]}, with, &a)
		return a, response, err
	})
	if rest.Kind(err) == forge.NotFound && c.reacted(ctx, key, id, e) {
		return nil
	}
	return err
}

// reacted reports whether our emoji is on a note: the library does not pass on the
// words of a 404.
func (c *Client) reacted(ctx context.Context, key forge.TaskKey, id string, e forge.Emoji) bool {
	me, err := c.Me(ctx)
	if err != nil {
		return false
	}
	there, err := c.Reactions(ctx, key, id, e)
	return err == nil && slices.ContainsFunc(there, func(r forge.Reaction) bool { return r.By.Login == me.Login })
}

// Reactions returns who reacted to a note in that way, oldest first.
func (c *Client) Reactions(ctx context.Context, key forge.TaskKey, id string, e forge.Emoji) ([]forge.Reaction, error) {
	const op = "list reactions"
	path, err := c.noteAt(op, key, id)
	if err != nil {
		return nil, err
	}
	awards, err := all(c, ctx, op, func(page gitlab.ListOptions, with request) ([]*award, *gitlab.Response, error) {
		var part []*award
		response, err := c.send(http.MethodGet, path+"/award_emoji", &page, with, &part)
		return part, response, err
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(awards, func(a, b *award) int { return cmp.Compare(a.ID, b.ID) })
	var reactions []forge.Reaction
	for _, a := range awards {
		if a.ID <= 0 {
			return nil, rest.Unreadable(op, rest.Reading)
		}
		if a.Name == emojiNames[e] {
			reactions = append(reactions, forge.Reaction{ID: strconv.FormatInt(a.ID, 10), By: account(a.User.ID, a.User.Username, a.User.Bot)})
		}
	}
	return reactions, nil
}

// noteAt is the path of a note of the task.
func (c *Client) noteAt(op string, key forge.TaskKey, id string) (string, error) {
	if err := c.check(op, key); err != nil {
		return "", err
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 {
		return "", rest.Invalid(op, strconv.Quote(id)+" is not the id of a note")
	}
	return notesPath(key) + "/" + id, nil
}
