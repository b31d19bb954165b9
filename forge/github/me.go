package github

import (
	"context"
	"net/url"

	"github.com/google/go-github/v89/github"

	"agent/forge"
)

// Token returns a token that is valid now, for git and for servers that are
// started beside. That of an App lives for at least five minutes more.
func (c *Client) Token(ctx context.Context) (string, error) {
	token, err := c.tokens.get(ctx)
	return token, c.classify(ctx, "get a token", reading, nil, err)
}

// Me is the account the token belongs to. The answer is cached.
func (c *Client) Me(ctx context.Context) (forge.Account, error) {
	c.mu.Lock()
	known := c.me
	c.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	const op = "get the token's account"
	user, err := c.user(ctx, op)
	if err != nil {
		return forge.Account{}, err
	}
	me := account(user)
	if me.ID == "" {
		return forge.Account{}, unreadable(op, reading)
	}
	c.mu.Lock()
	c.me = &me
	c.mu.Unlock()
	return me, nil
}

// user reads the account. An App's tokens may not ask who they are, but the
// App may ask for its own name, from which that of its account is made.
func (c *Client) user(ctx context.Context, op string) (*github.User, error) {
	if c.cfg.App == nil {
		user, err := c.userNamed(ctx, op, "")
		if kind(err) != forge.Forbidden || c.cfg.BotName == "" {
			return user, err
		}
		return c.userNamed(ctx, op, c.cfg.BotName)
	}
	app, err := one(c, ctx, op, func() (*github.App, *github.Response, error) { return c.api.Apps.Get(ctx, "") })
	if err != nil {
		return nil, err
	}
	login := app.GetSlug() + "[bot]"
	if !loginPattern.MatchString(login) {
		return nil, unreadable(op, reading)
	}
	return c.userNamed(ctx, op, login)
}

// userNamed reads an account; the empty login is the token's own.
func (c *Client) userNamed(ctx context.Context, op, login string) (*github.User, error) {
	return one(c, ctx, op, func() (*github.User, *github.Response, error) {
		return c.api.Users.Get(ctx, url.PathEscape(login))
	})
}
