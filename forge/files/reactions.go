package files

import (
	"context"

	"agent/forge"
)

// React does nothing: a file has no reactions.
func (c *Client) React(context.Context, forge.TaskKey, string, forge.Emoji) error { return nil }

// Reactions are none.
func (c *Client) Reactions(context.Context, forge.TaskKey, string, forge.Emoji) ([]forge.Reaction, error) {
	return nil, nil
}
