package gitlab

import (
	"context"
	"strings"

	"agent/forge"
)

// LastEdit reads the notes that GitLab writes when somebody changes the title or the
// description.
func (c *Client) LastEdit(ctx context.Context, key forge.TaskKey) (forge.Edit, error) {
	notes, err := c.Comments(ctx, key, forge.Edit{}.At)
	if err != nil {
		return forge.Edit{}, err
	}
	edit := forge.Edit{Known: true}
	for _, n := range notes { // oldest first
		if n.System && (strings.HasPrefix(n.Body, "changed the description") || strings.HasPrefix(n.Body, "changed title from ")) {
			edit.By, edit.At = n.Author, n.CreatedAt
		}
	}
	return edit, nil
}
