package rounds_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/forge"
	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/config"
	"agent/internal/registry"
	"agent/llm"
)

// toyForge is a kind of forge that keeps one issue in memory.
type toyForge struct {
	forge.Client // what this test does not reach
	labels       []string
	comments     []forge.Comment
}

func (f *toyForge) Host() string                          { return "toy.example" }
func (f *toyForge) Token(context.Context) (string, error) { return "", nil }
func (f *toyForge) Close()                                {}
func (f *toyForge) MaxComment() int                       { return 60_000 }

func (f *toyForge) Me(context.Context) (forge.Account, error) {
	return forge.Account{Login: "toy-bot"}, nil
}

func (f *toyForge) Task(_ context.Context, key forge.TaskKey) (forge.Task, error) {
	return forge.Task{Key: key, Title: "Say hello", Body: "Please.", Author: forge.Account{Login: "alice"}, State: "open",
		Labels: slices.Clone(f.labels), Private: true}, nil
}

func (f *toyForge) ListTasks(ctx context.Context, label string) ([]forge.Task, error) {
	if !slices.Contains(f.labels, label) {
		return nil, nil
	}
	t, err := f.Task(ctx, forge.TaskKey{Host: f.Host(), Project: "box/blocks", Kind: forge.GitHubIssue, Number: 1})
	return []forge.Task{t}, err
}

func (f *toyForge) Repository(context.Context, forge.TaskKey) (forge.Repository, error) {
	return forge.Repository{DefaultBranch: "main", Private: true}, nil
}

func (f *toyForge) Comments(context.Context, forge.TaskKey, time.Time) ([]forge.Comment, error) {
	return f.comments, nil
}

func (f *toyForge) PostComment(_ context.Context, _ forge.TaskKey, body string) (forge.Comment, error) {
	c := forge.Comment{ID: fmt.Sprint(len(f.comments) + 1), Kind: "comment", Author: forge.Account{Login: "toy-bot"}, Body: body}
	f.comments = append(f.comments, c)
	return c, nil
}

func (f *toyForge) EditComment(_ context.Context, _ forge.TaskKey, id, body string) (forge.Comment, error) {
	i := slices.IndexFunc(f.comments, func(c forge.Comment) bool { return c.ID == id })
	f.comments[i].Body = body
	return f.comments[i], nil
}

func (f *toyForge) React(context.Context, forge.TaskKey, string, forge.Emoji) error { return nil }

func (f *toyForge) Reactions(context.Context, forge.TaskKey, string, forge.Emoji) ([]forge.Reaction, error) {
	return nil, nil
}

func (f *toyForge) ChangeLabels(_ context.Context, _ forge.TaskKey, add []forge.Label, remove []string) ([]string, error) {
	f.labels = slices.DeleteFunc(f.labels, func(l string) bool { return slices.Contains(remove, l) })
	for _, l := range add {
		f.labels = append(f.labels, l.Name)
	}
	return f.labels, nil
}

// toyModel says that it is done.
type toyModel struct{ calls int }

func (m *toyModel) Complete(context.Context, llm.Request) (llm.Reply, error) {
	m.calls++
	return llm.Reply{Text: `{"done": true, "comment": "Hello from the toy."}`, FinishReason: "stop", Model: "toy"}, nil
}

// TestToys: a kind of forge and a kind of model server take one registration each.
func TestToys(t *testing.T) {
	hub, model := &toyForge{labels: []string{"coding agent"}}, &toyModel{}
	forges, providers := registry.Forges, registry.Providers
	defer func() { registry.Forges, registry.Providers = forges, providers }()
	registry.Forges = append(slices.Clone(forges), forge.Driver{Name: "toybox", Title: "Toy box", APIURL: "http://127.0.0.1:1",
		IsAPI: func(string) bool { return false }, Host: func(string) string { return "toy.example" },
		Issue: forge.GitHubIssue, Change: forge.GitHubPullRequest, ProjectsKey: "boxes", ProjectForm: "box/blocks",
		ValidProject: func(name string) bool { return strings.Contains(name, "/") },
		New:          func(forge.Options) (forge.Conn, error) { return hub, nil }})
	registry.Providers = append(slices.Clone(providers), llm.Driver{Name: "toymodel", Title: "Toy model", URLKey: "address", URL: "http://127.0.0.1:1",
		Model: "toy", ContextLength: 16_384, New: func(llm.Options) (llm.Provider, error) { return model, nil }})

	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	text := fmt.Sprintf("contexts_dir: %[1]s/contexts\nworkspaces_dir: %[1]s/workspaces\nlog: {dir: %[1]s/logs}\nmcp_servers: []\n"+
		"task_source: toybox\ntoybox: {personal_access_token: tok-0123456789, bot_name: toy-bot, boxes: [box/blocks]}\n"+
		"llm: {provider: toymodel, toymodel: {model: toy}}\n", dir)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Load(path, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(cfg, app.Options{Version: "test", ConfigPath: path, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	print := func(line string) { t.Log(line) }
	got := rounds.New(a, rounds.Voice{Say: print, Note: print, Trouble: func(what string, err error) { t.Errorf("%s: %v", what, err) }}).All(t.Context())
	if got.Did != 1 || got.Failed != 0 || len(got.Errors) != 0 || model.calls == 0 {
		t.Errorf("%+v after %d calls of the model", got, model.calls)
	}
	said := slices.ContainsFunc(hub.comments, func(c forge.Comment) bool { return strings.Contains(c.Body, "Hello from the toy.") })
	if !said || !slices.Equal(hub.labels, []string{"coding agent done"}) {
		t.Errorf("labels %q, comments %+v", hub.labels, hub.comments)
	}
}
