package github

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v89/github"

	"agent/forge"
)

const editQuery = `query($owner: String!, $name: String!, $number: Int!) {
	repository(owner: $owner, name: $name) { item: KIND(number: $number) { lastEditedAt editor { login __typename } } }
}`

// edited is the item that editQuery asks for.
type edited struct {
	At     *time.Time `json:"lastEditedAt"`
	Editor *struct {
		Login string `json:"login"`
		Type  string `json:"__typename"` // User, Bot, …
	} `json:"editor"`
}

// graphAnswer is the answer to a query for one item of a repository.
type graphAnswer[T any] struct {
	Data struct {
		Repository *struct {
			Item *T `json:"item"`
		} `json:"repository"`
	} `json:"data"`
}

// graph asks for one item; nil is an answer without it.
func graph[T any](c *Client, ctx context.Context, op, query string, variables map[string]any) (*T, error) {
	answer, err := one(c, ctx, op, func() (*graphAnswer[T], *github.Response, error) {
		request, err := c.api.NewRequest(ctx, http.MethodPost, c.graphURL(), map[string]any{"query": query, "variables": variables})
		if err != nil {
			return nil, nil, err
		}
		var answer graphAnswer[T]
		response, err := c.api.Do(request, &answer)
		return &answer, response, err
	})
	if err != nil || answer.Data.Repository == nil {
		return nil, err
	}
	return answer.Data.Repository.Item, nil
}

// LastEdit asks GraphQL, as the REST API does not tell who edited a body, and the
// item's events for changes of its title.
func (c *Client) LastEdit(ctx context.Context, key forge.TaskKey) (forge.Edit, error) {
	const op = "get the latest edit"
	owner, repo, err := c.project(op, key)
	if err != nil {
		return forge.Edit{}, err
	}
	field := "issue"
	if key.Kind == forge.GitHubPullRequest {
		field = "pullRequest"
	}
	item, err := graph[edited](c, ctx, op, strings.Replace(editQuery, "KIND", field, 1),
		map[string]any{"owner": owner, "name": repo, "number": key.Number})
	if err != nil || item == nil {
		return forge.Edit{}, err // without data it does not tell
	}
	edit := forge.Edit{Known: true}
	if item.At != nil {
		edit.At = item.At.UTC()
		if item.Editor != nil {
			edit.By = account(&github.User{Login: &item.Editor.Login, Type: &item.Editor.Type})
		}
	}
	return c.renamed(ctx, key, edit)
}

// renamed takes the latest change of the title if it came later.
func (c *Client) renamed(ctx context.Context, key forge.TaskKey, edit forge.Edit) (forge.Edit, error) {
	events, err := c.events(ctx, key)
	for _, e := range events {
		if at := e.GetCreatedAt().UTC(); e.GetEvent() == "renamed" && !at.Before(edit.At) {
			edit.At, edit.By = at, account(e.GetActor())
		}
	}
	return edit, err
}

// graphURL lies beside the REST API: /graphql of github.com, /api/graphql elsewhere.
func (c *Client) graphURL() string {
	return strings.TrimSuffix(strings.TrimRight(c.api.BaseURL(), "/"), "/v3") + "/graphql"
}
