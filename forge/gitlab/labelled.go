package gitlab

import (
	"context"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
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
	return found, err
}
