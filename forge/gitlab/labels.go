package gitlab

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
	"agent/forge/rest"
)

// ChangeLabels adds and removes in one request. Names are case-sensitive. What
// is as wished already costs one read and no write.
func (c *Client) ChangeLabels(ctx context.Context, key forge.TaskKey, add []forge.Label, remove []string) ([]string, error) {
	const op = "change labels"
	if err := c.check(op, key); err != nil {
		return nil, err
	}
	item, err := c.read(ctx, op, key)
	if err != nil {
		return nil, err
	}
	var plus, minus gitlab.LabelOptions
	for _, l := range add {
		if slices.Contains(item.labels, l.Name) || slices.Contains(plus, l.Name) {
			continue
		}
		if err := c.ensureLabel(ctx, key, l); err != nil {
			return nil, err
		}
		plus = append(plus, l.Name)
	}
	for _, name := range item.labels {
		if slices.Contains(remove, name) {
			minus = append(minus, name)
		}
	}
	if len(plus)+len(minus) == 0 {
		return named(item), nil
	}
	if err := c.putLabels(ctx, op, key, plus, minus); err != nil {
		return nil, err
	}
	item, err = c.read(ctx, op, key) // what may not be changed is left without an error
	return named(item), err
}

// named are the labels, never nil.
func named(item raw) []string { return append([]string{}, item.labels...) }

func (c *Client) putLabels(ctx context.Context, op string, key forge.TaskKey, plus, minus gitlab.LabelOptions) error {
	var add, remove *gitlab.LabelOptions // nil is left out of the request
	if len(plus) > 0 {
		add = &plus
	}
	if len(minus) > 0 {
		remove = &minus
	}
	iid := int64(key.Number)
	if key.Kind == forge.GitLabIssue {
		_, err := write(c, ctx, op, func(with request) (*gitlab.Issue, *gitlab.Response, error) {
			return c.api.Issues.UpdateIssue(key.Project, iid, &gitlab.UpdateIssueOptions{AddLabels: add, RemoveLabels: remove}, with)
		})
		return err
	}
	_, err := write(c, ctx, op, func(with request) (*gitlab.MergeRequest, *gitlab.Response, error) {
		return c.api.MergeRequests.UpdateMergeRequest(key.Project, iid,
			&gitlab.UpdateMergeRequestOptions{AddLabels: add, RemoveLabels: remove}, with)
	})
	return err
}

// ensureLabel makes sure that the project or its groups have the label.
func (c *Client) ensureLabel(ctx context.Context, key forge.TaskKey, l forge.Label) error {
	if l.Name == "" || strings.Contains(l.Name, ",") { // would be read as several
		return rest.Invalid("get label", "a label of GitLab has a name without commas")
	}
	return c.labels.Ensure(strings.ToLower(key.Project)+"/"+l.Name, func() error {
		_, err := one(c, ctx, "get label", func(with request) (*gitlab.Label, *gitlab.Response, error) {
			return c.api.Labels.GetLabel(key.Project, l.Name, with)
		})
		return err
	}, func() error { return c.createLabel(ctx, key, l) })
}

// createLabel takes it for done if somebody was quicker.
func (c *Client) createLabel(ctx context.Context, key forge.TaskKey, l forge.Label) error {
	exists := false
	_, err := write(c, ctx, "create label", func(with request) (*gitlab.Label, *gitlab.Response, error) {
		created, response, err := c.api.Labels.CreateLabel(key.Project, &gitlab.CreateLabelOptions{
			Name: &l.Name, Color: text("#" + l.Color), Description: &l.Description,
		}, with)
		exists = gitlab.HasStatusCode(err, http.StatusConflict)
		return created, response, err
	})
	if exists {
		return nil
	}
	return err
}
