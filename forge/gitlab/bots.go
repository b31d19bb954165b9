package gitlab

import (
	"context"
	"strconv"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
)

// markBots marks the comments of accounts behind which nobody reads. A service account
// may have any login, and a note does not say what its author is: each author is asked
// about once. One that cannot be asked about counts as a person.
func (c *Client) markBots(ctx context.Context, op string, comments []forge.Comment) error {
	for i := range comments {
		author := &comments[i].Author
		id, err := strconv.ParseInt(author.ID, 10, 64)
		if comments[i].System || author.Bot || err != nil {
			continue
		}
		if author.Bot, err = c.isBot(ctx, op, id); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) isBot(ctx context.Context, op string, id int64) (bool, error) {
	c.mu.Lock()
	bot, known := c.bots[id]
	mine := c.me != nil && c.me.ID == strconv.FormatInt(id, 10)
	c.mu.Unlock()
	if known || mine {
		return bot, nil
	}
	user, err := one(c, ctx, op, func(with request) (*gitlab.User, *gitlab.Response, error) {
		return c.api.Users.GetUser(id, nil, with)
	})
	if err != nil && !hidden(err) {
		return false, err
	}
	bot = err == nil && user.Bot
	c.mu.Lock()
	c.bots[id] = bot
	c.mu.Unlock()
	return bot, nil
}
