// Package viamcp lets tasks and comments of a forge come through the tools of an
// MCP server, as GitHub's own or one for GitLab (seeds/004 §4.1, seeds/000 §4).
//
// It wraps an adapter that talks to the forge's API: what the tools cannot give
// exactly (writes with their markers, labels, permissions) stays there. Which
// tools are called is a table (operations.go) of the names and arguments that
// known servers have today and had earlier; the first that the server offers is
// taken. Answers are read tolerantly: servers wrap and rename fields.
//
// Invariants: all pages are read; a server that ignores page arguments is
// noticed by repeated ids; comments are sorted by time, then id. Errors are
// *forge.Error: a tool that is missing is Invalid, everything else Transient.
package viamcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"agent/forge"
)

// Caller calls the tools of one server.
type Caller interface {
	// Tools lists the names that the server offers.
	Tools(ctx context.Context) ([]string, error)
	// Call gives the text of a result; a result that says it failed is an error.
	Call(ctx context.Context, tool string, args map[string]any) (string, error)
}

// Config says what comes through the server.
type Config struct {
	Tasks    bool
	Comments bool
	Kinds    []forge.Kind // of tasks: Driver.Issue and Driver.Change
	Host     string       // of task keys
	Projects []string
}

// Client is a forge.Client whose lists may come through a server.
type Client struct {
	forge.Client
	cfg   Config
	tools Caller
}

// New wraps the adapter of the same forge.
func New(api forge.Client, tools Caller, cfg Config) *Client {
	return &Client{Client: api, cfg: cfg, tools: tools}
}

// ListTasks returns the open items that carry label, oldest first. They hold
// what a list needs; Task reads the rest.
func (c *Client) ListTasks(ctx context.Context, label string) ([]forge.Task, error) {
	if !c.cfg.Tasks {
		return c.Client.ListTasks(ctx, label)
	}
	var tasks []forge.Task
	for _, project := range c.cfg.Projects {
		for _, kind := range c.cfg.Kinds {
			key := forge.TaskKey{Host: c.cfg.Host, Project: project, Kind: kind}
			items, err := c.all(ctx, "list tasks", listing[kind], target{key: key, label: label})
			if err != nil {
				return tasks, err
			}
			tasks = append(tasks, c.tasks(key, items, label)...)
		}
	}
	slices.SortStableFunc(tasks, func(a, b forge.Task) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return tasks, nil
}

// tasks keeps the items that are open and carry the label, whatever the tool filtered.
func (c *Client) tasks(key forge.TaskKey, items []object, label string) []forge.Task {
	var tasks []forge.Task
	for _, item := range items {
		number := item.number("number", "iid")
		state := strings.ToLower(item.text("state"))
		labels := item.labels()
		if number <= 0 || (state != "open" && state != "opened") || !key.Kind.Carries(labels, label) {
			continue
		}
		if key.Kind == forge.GitHubIssue && item["pull_request"] != nil {
			continue
		}
		key.Number = number
		tasks = append(tasks, forge.Task{Key: key, Title: item.text("title"), Body: item.text("body", "description"),
			Author: item.account(), State: "open", Labels: labels, URL: item.text("html_url", "web_url", "url"),
			UpdatedAt: item.time("updated_at", "updatedAt", "created_at", "createdAt")})
	}
	return tasks
}

// Comments returns every comment, oldest first.
func (c *Client) Comments(ctx context.Context, key forge.TaskKey, since time.Time) ([]forge.Comment, error) {
	if !c.cfg.Comments {
		return c.Client.Comments(ctx, key, since)
	}
	var comments []forge.Comment
	for _, source := range remarks[key.Kind] {
		items, err := c.all(ctx, "list comments", source.ways, target{key: key})
		if err != nil {
			return nil, err
		}
		part, err := commentsOf(source.kind, items, since)
		if err != nil {
			return nil, &forge.Error{Kind: forge.Transient, Op: "list comments", Message: err.Error()}
		}
		comments = append(comments, part...)
	}
	slices.SortStableFunc(comments, func(a, b forge.Comment) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	for i := range comments {
		author := &comments[i].Author
		author.Bot = author.Bot || key.Kind.IsMachine(author.Login)
	}
	return comments, nil
}

// They bound what a server can make us read.
const (
	maxPages = 200
	maxList  = 64 << 20 // bytes of all pages
)

// all reads every page of the first way that the server offers.
func (c *Client) all(ctx context.Context, op string, ways []way, t target) ([]object, error) {
	w, err := c.choose(ctx, op, ways)
	if err != nil {
		return nil, err
	}
	var all []object
	seen := map[string]bool{}
	cursor, size := "", 0
	for page := 1; page <= maxPages; page++ {
		text, err := c.tools.Call(ctx, w.tool, w.args(t, page, cursor))
		if err != nil {
			return nil, failed(ctx, op, err)
		}
		if size += len(text); size > maxList {
			return nil, &forge.Error{Kind: forge.Invalid, Op: op, Message: "the list is too large"}
		}
		items, next, err := parse(text)
		if err != nil {
			return nil, failed(ctx, op, err)
		}
		fresh := 0
		for _, item := range items {
			if id := item.id(); id == "" || !seen[id] {
				seen[id] = true
				fresh++
				all = append(all, item)
			}
		}
		if fresh == 0 || (next == "" && w.cursor) {
			break
		}
		cursor = next
	}
	return all, nil
}

func (c *Client) choose(ctx context.Context, op string, ways []way) (way, error) {
	offered, err := c.tools.Tools(ctx)
	if err != nil {
		return way{}, failed(ctx, op, err)
	}
	var names []string
	for _, w := range ways {
		if slices.Contains(offered, w.tool) {
			return w, nil
		}
		names = append(names, w.tool)
	}
	return way{}, &forge.Error{Kind: forge.Invalid, Op: op,
		Message: fmt.Sprintf("the tool server offers none of %s", strings.Join(names, ", "))}
}

func failed(ctx context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &forge.Error{Kind: forge.Transient, Op: op, Message: err.Error(), Err: err}
}
