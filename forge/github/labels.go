package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-github/v89/github"

	"agent/forge"
)

// ChangeLabels adds first and removes then, so that an end between the two
// leaves too many labels rather than none. What is as wished already costs
// one read and no write.
func (c *Client) ChangeLabels(ctx context.Context, key forge.TaskKey, add []forge.Label, remove []string) ([]string, error) {
	now, err := c.issueLabels(ctx, key)
	if err != nil {
		return nil, err
	}
	added, err := c.addLabels(ctx, key, now, add)
	if err != nil {
		return nil, err
	}
	removed, err := c.removeLabels(ctx, key, now, remove)
	if err != nil {
		return nil, err
	}
	if !added && !removed {
		return now, nil
	}
	return c.issueLabels(ctx, key)
}

func (c *Client) issueLabels(ctx context.Context, key forge.TaskKey) ([]string, error) {
	const op = "list labels"
	owner, repo, err := c.project(op, key)
	if err != nil {
		return nil, err
	}
	labels, err := all(c, ctx, op, func(page github.ListOptions) ([]*github.Label, *github.Response, error) {
		return c.api.Issues.ListLabelsByIssue(ctx, owner, repo, key.Number, &page)
	})
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(labels))
	for _, l := range labels {
		names = append(names, l.GetName())
	}
	return names, nil
}

func (c *Client) addLabels(ctx context.Context, key forge.TaskKey, now []string, add []forge.Label) (changed bool, err error) {
	var missing []string
	for _, l := range add {
		if contains(now, l.Name) || contains(missing, l.Name) {
			continue
		}
		if err := c.ensureLabel(ctx, key, l); err != nil {
			return false, err
		}
		missing = append(missing, l.Name)
	}
	if len(missing) == 0 {
		return false, nil
	}
	_, err = write(c, ctx, "add labels", func() ([]*github.Label, *github.Response, error) {
		return c.putLabels(ctx, key, missing)
	})
	return true, err
}

// putLabels sends an object, as the API wants it now; the library sends a list.
func (c *Client) putLabels(ctx context.Context, key forge.TaskKey, names []string) ([]*github.Label, *github.Response, error) {
	path := fmt.Sprintf("repos/%s/issues/%d/labels", key.Project, key.Number)
	request, err := c.api.NewRequest(ctx, http.MethodPost, path, map[string][]string{"labels": names})
	if err != nil {
		return nil, nil, err
	}
	var labels []*github.Label
	response, err := c.api.Do(request, &labels)
	return labels, response, err
}

func (c *Client) removeLabels(ctx context.Context, key forge.TaskKey, now, remove []string) (changed bool, err error) {
	for _, name := range now { // in the forge's own spelling
		if !contains(remove, name) {
			continue
		}
		changed = true
		_, err := write(c, ctx, "remove label", func() (struct{}, *github.Response, error) {
			response, err := c.api.Issues.RemoveLabelForIssue(ctx, key.Owner(), key.Repo(), key.Number, url.PathEscape(name))
			return struct{}{}, response, err
		})
		if err != nil && kind(err) != forge.NotFound { // somebody was quicker
			return changed, err
		}
	}
	return changed, nil
}

// ensureLabel makes sure that the repository has the label.
func (c *Client) ensureLabel(ctx context.Context, key forge.TaskKey, l forge.Label) error {
	return c.labels.Ensure(strings.ToLower(key.Project+"/"+l.Name), func() error {
		_, err := one(c, ctx, "get label", func() (*github.Label, *github.Response, error) {
			return c.api.Issues.GetLabel(ctx, key.Owner(), key.Repo(), url.PathEscape(l.Name))
		})
		return err
	}, func() error { return c.createLabel(ctx, key, l) })
}

func (c *Client) createLabel(ctx context.Context, key forge.TaskKey, l forge.Label) error {
	exists := false
	_, err := write(c, ctx, "create label", func() (*github.Label, *github.Response, error) {
		created, response, err := c.api.Issues.CreateLabel(ctx, key.Owner(), key.Repo(), &github.Label{
			Name: &l.Name, Color: &l.Color, Description: &l.Description,
		})
		exists = alreadyExists(err)
		return created, response, err
	})
	if exists {
		return nil
	}
	return err
}

func contains(names []string, name string) bool {
	return slices.ContainsFunc(names, func(other string) bool { return strings.EqualFold(other, name) })
}
