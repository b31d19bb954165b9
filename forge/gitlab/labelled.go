package gitlab

import (
	"context"
	"strconv"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
	"agent/forge/rest"
)

// LabelledBy reads the item's label events.
func (c *Client) LabelledBy(ctx context.Context, key forge.TaskKey, label string) (forge.Labelling, error) {
	const op = "list label events"
	if err := c.check(op, key); err != nil {
		return forge.Labelling{}, err
	}
	list := c.api.ResourceLabelEvents.ListIssueLabelEvents
	if key.Kind == forge.GitLabMergeRequest {
		list = c.api.ResourceLabelEvents.ListMergeRequestsLabelEvents
	}
	events, err := all(c, ctx, op, func(page gitlab.ListOptions, with request) ([]*gitlab.LabelEvent, *gitlab.Response, error) {
		return list(key.Project, int64(key.Number), &gitlab.ListLabelEventsOptions{ListOptions: page}, with)
	})
	var found forge.Labelling
	for _, e := range events {
		found.Latest = max(found.Latest, e.ID)
		if e.Action == "add" && e.Label.Name == label && e.ID > found.Event {
			found.By, found.Event, found.At = account(e.User.ID, e.User.Username, false), e.ID, when(e.CreatedAt)
			c.meet(e.User.ID, e.User.Username)
		}
	}
	if err != nil || found.By.Bot || found.By.ID == "" {
		return found, err
	}
	found.By.Bot, err = c.isMachine(ctx, found.By.ID)
	return found, err
}

// isMachine asks what label events do not say: a service account may bear any login.
// An account that cannot be seen is what its login says.
func (c *Client) isMachine(ctx context.Context, id string) (bool, error) {
	const op = "get who set the label"
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return false, rest.Unreadable(op, rest.Reading)
	}
	user, err := one(c, ctx, op, func(with request) (*gitlab.User, *gitlab.Response, error) {
		return c.api.Users.GetUser(n, nil, with)
	})
	switch kind := rest.Kind(err); {
	case kind == forge.NotFound, kind == forge.Forbidden:
		return false, nil
	case err != nil:
		return false, err
	}
	return user.Bot, nil
}
