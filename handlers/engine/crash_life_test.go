package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
	"agent/forge/github"
	"agent/handlers/engine"
	"agent/internal/snapshot"
	"agent/llm"
	"agent/llm/openai"
	"agent/mcp"
	"agent/projections"
)

// run does what one run of the command line does: contexts that were begun go
// on, then labelled items are begun.
func (l *life) run() error {
	defer l.cancel()
	options := l.worker
	options.Now = time.Now
	store, err := contexts.Open(l.disk, options)
	if err != nil {
		return err
	}
	key, err := store.Key()
	if err != nil {
		return err
	}
	client, err := github.New(github.Config{APIURL: l.forge.URL(), Token: token, Repositories: []string{project}, BotName: bot, Transport: l})
	if err != nil {
		return err
	}
	model, err := l.provider()
	if err != nil {
		return err
	}
	r := &round{life: l, store: store, taken: map[string]bool{}, ports: engine.Ports{
		Forge: client, Model: model, Store: store, Log: slog.New(slog.DiscardHandler), MarkerKey: key, Version: "test",
		Tools: func(*projections.State) engine.Tools { return l }, Workspace: l, AdoptWait: 10 * time.Second, TaskCheck: time.Hour,
		Now: time.Now, Sleep: l.sleep, Jitter: func() float64 { return 0 },
		Cost: func(string, llm.Usage) float64 { return 0 }, PauseFile: l.raised.Load,
		Inherit: l.inherit,
		OnEvent: func(ev event.Event, _ *projections.State) { l.acked = max(l.acked, ev.Seq) },
	}}
	return errors.Join(r.begun(), r.labelled(client))
}

// provider is the client of the model's server.
func (l *life) provider() (llm.Provider, error) {
	if l.dialect.Name != "" {
		p, err := providerFor(l.dialect, l.model.URL(), l.profile, l)
		if err != nil || l.down == nil {
			return p, err
		}
		return l.router(p)
	}
	return openai.New(openai.Config{BaseURL: l.model.URL(), APIKey: "key-of-the-model", Transport: l})
}

type round struct {
	*life
	store *contexts.Store
	ports engine.Ports
	taken map[string]bool
}

func (r *round) begun() error {
	var problems error
	for entry, err := range r.store.List() {
		if err == nil && entry.Dir != contexts.Completed {
			err = r.goOn(entry.UUID)
		}
		problems = errors.Join(problems, err)
	}
	return problems
}

func (r *round) goOn(id string) error {
	if r.taken[id] {
		return nil
	}
	r.taken[id] = true
	e, err := engine.Open(r.ports, id)
	if err != nil {
		return err
	}
	defer r.leave(e)
	s := e.State()
	wake := r.wakeOf(s)
	if s.Status.Ended() || s.Status == projections.Paused && wake == nil && s.Resume == nil && !s.Owes() {
		return nil
	}
	return e.Run(r.ctx, r.config, wake)
}

// wakeOf ends rests whose time or signal is over. A wait may have an answer: whoever is woken looks.
func (r *round) wakeOf(s *projections.State) event.Body {
	if s.Status == projections.Paused && s.Resume == nil {
		if asked, err := engine.TakeResume(r.store, s.Created.UUID); err == nil && asked != nil {
			return asked
		}
	}
	switch {
	case s.Resume != nil:
	case s.Status == projections.Awaiting:
		return &event.ResumeRequested{By: "comment"}
	case s.Status != projections.Paused:
	case s.Paused.Reason == event.PausePlan, s.Paused.Reason == event.PauseChange:
		return r.answered(s)
	case s.Paused.Until.Kind == "time":
		return &event.ResumeRequested{By: "timer"}
	case s.Paused.Until.Kind == "signal" && !r.raised.Load():
		return &event.ResumeRequested{By: "signal_file", Person: true}
	}
	return nil
}

func (r *round) labelled(client forge.Client) error {
	tasks, err := client.ListTasks(r.ctx, botLabel)
	if err != nil {
		return &engine.Temporary{Err: err}
	}
	for _, t := range tasks {
		if err := r.attempt(client, t.Key); err != nil {
			return err
		}
	}
	return nil
}

func (r *round) attempt(client forge.Client, key forge.TaskKey) error {
	lock, err := r.store.LockKey(key.String())
	if err != nil {
		return err
	}
	defer lock.Close()
	id, live, err := r.store.Active(key.String())
	if err != nil {
		return err
	}
	if live {
		return r.goOn(id)
	}
	t, err := client.Task(r.ctx, key)
	if err != nil {
		return &engine.Temporary{Err: err}
	}
	if t.State != "open" || !strings.Contains(strings.Join(t.Labels, "\n"), botLabel) {
		return nil
	}
	e, err := engine.Create(r.ports, &event.ContextCreated{Format: event.Format, UUID: uuid.NewString(), TaskKey: key.String(),
		Forge: key.Host, Kind: string(key.Kind), User: t.Author.Login, Title: t.Title, Trigger: "label", Version: "test", Host: "host", PID: 1})
	if err != nil {
		return err
	}
	defer r.leave(e)
	return e.Run(r.ctx, r.config, nil)
}

func (r *round) leave(e *engine.Engine) {
	_ = e.Close()
	if r.ended != nil {
		r.ended(e, r.ports)
	}
}

// code is the exit code of a process that ended with err.
func code(err error) int {
	var temporary *engine.Temporary
	var failed *forge.Error
	switch {
	case errors.As(err, &failed) && failed.Kind == forge.Auth:
		return contexts.ExitConfig
	case errors.As(err, &temporary):
		return contexts.ExitTemporary
	}
	return contexts.ExitCode(err)
}

// List offers three tools. Only reading may be repeated.
// WarmUp does nothing: these tools are there.
func (l *life) WarmUp() {}

func (l *life) List(context.Context) []mcp.Server {
	schema := json.RawMessage(`{"type":"object"}`)
	return []mcp.Server{{Name: "files", Tools: []mcp.Tool{
		{Name: "read", Description: "Read a file.", Schema: schema, ReadOnly: true, Idempotent: true},
		{Name: "append", Description: "Add a line.", Schema: schema},
		{Name: "edit", Description: "Replace a text.", Schema: schema},
	}}}
}

type toolArgs struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"`
	Text string `json:"text,omitempty"`
}

// Call runs a tool on the real files.
func (l *life) Call(ctx context.Context, _, tool string, args json.RawMessage) (result mcp.Result, err error) {
	var a toolArgs
	if err := json.Unmarshal(args, &a); err != nil {
		return result, err
	}
	dead := l.touch(true, func() {
		if tool != "read" {
			l.runs[tool+" "+a.Path]++
		}
		result = perform(tool, filepath.Join(l.dir, a.Path), a)
	})
	if dead != nil {
		return mcp.Result{}, dead
	}
	return result, ctx.Err()
}

func perform(tool, file string, a toolArgs) mcp.Result {
	data, err := os.ReadFile(file)
	text := string(data)
	switch {
	case tool == "append":
		text += a.Text + "\n"
	case err != nil:
		return mcp.Result{Text: "there is no " + a.Path, IsError: true}
	case tool == "read":
		return mcp.Result{Text: text}
	case strings.Count(text, a.Old) != 1:
		return mcp.Result{Text: "the text is not there", IsError: true}
	default:
		text = strings.Replace(text, a.Old, a.Text, 1)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return mcp.Result{Text: err.Error(), IsError: true}
	}
	return mcp.Result{Text: "ok"}
}

// Prepare gives the directory of the files.
func (l *life) Prepare(context.Context, *projections.State) (event.WorkspacePrepared, error) {
	dead := l.touch(false, func() {})
	return event.WorkspacePrepared{Dir: l.dir, Base: "main", Commit: "c0"}, dead
}

// copyOf is the directory of the files with the trees that the log knows.
func (l *life) copyOf(s *projections.State, o *contexts.Objects) (*snapshot.Copy, error) {
	store, err := snapshot.OpenStore(o)
	if err != nil {
		return nil, err
	}
	base := snapshot.NewTree(snapshot.SHA1, nil)
	last := base
	if s.Saved.Seq > 0 {
		if last, err = store.Tree(s.Saved.Tree, base); err != nil {
			return nil, err
		}
	}
	return snapshot.NewCopy(l.dir, store, base, last, nil, snapshot.Options{Largest: 1 << 20})
}

// Open makes the files what the log says.
func (l *life) Open(ctx context.Context, s *projections.State, o *contexts.Objects, how engine.Opening) (event.Body, error) {
	if s.Saved.Seq == 0 {
		saved, err := l.save(ctx, s, o, "start")
		return saved, err
	}
	c, err := l.copyOf(s, o)
	if err != nil {
		return nil, err
	}
	found, err := c.Differs(ctx, nil)
	if err != nil || len(found.Changes) == 0 {
		return nil, err
	}
	if !how.Crashed {
		return nil, errors.New("the files differ after a process that ended properly")
	}
	if _, err := c.Fill(ctx, found); err != nil {
		return nil, err
	}
	return &event.WorkspaceRestored{Reason: "differs", Tree: s.Saved.Tree, Files: []event.SavedFile{}, Count: len(found.Changes)}, nil
}

// Save stores the files.
func (l *life) Save(ctx context.Context, s *projections.State, o *contexts.Objects, _ *event.ToolRequested) (*event.WorkspaceSaved, error) {
	return l.save(ctx, s, o, "tool")
}

func (l *life) save(ctx context.Context, s *projections.State, o *contexts.Objects, reason string) (*event.WorkspaceSaved, error) {
	if l.dead() {
		return nil, errDead
	}
	c, err := l.copyOf(s, o)
	if err != nil {
		return nil, err
	}
	saved, err := c.Save(ctx, snapshot.Request{})
	if err != nil || saved.Nothing() && reason != "start" {
		return nil, err
	}
	return &event.WorkspaceSaved{Reason: reason, Tree: saved.Tree, From: saved.From, Files: []event.SavedFile{}, Count: len(saved.Changes)}, nil
}

// Project gives rules of the repository.
func (l *life) BeforeCall(context.Context, *projections.State, *event.ToolRequested) error {
	return nil
}

func (l *life) Project(context.Context, *projections.State) (read event.ProjectRead, err error) {
	l.touch(false, func() {
		read.Rules = []event.RuleFile{{Path: "AGENTS.md", Text: event.T("Use tabs.<!-- hidden -->"), Bytes: 24}}
		read.Files, read.Total = event.T("notes.txt"), 1
	})
	return read, nil
}

// Merge has nothing to do: what is saved is in memory.
func (l *life) Merge(*contexts.Objects) error { return nil }

// Measure counts the files.
func (l *life) Measure(context.Context, *projections.State) (m event.ChangeMeasured, err error) {
	err = l.touch(false, func() {
		m = event.ChangeMeasured{Tree: "t1", Count: 1, Added: 1, Files: []event.ChangedFile{{Path: "notes.txt", Added: 1}}}
	})
	return m, err
}

// Publish keeps a copy of the files under the name of the branch.
func (l *life) Publish(_ context.Context, _ *projections.State, in *event.ChangeRequested) (done engine.Published, err error) {
	err = l.touch(true, func() { l.published[in.Branch] = l.world.files() })
	return engine.Published{Commit: "c1"}, err
}

// Close has nothing to end: the tools are functions of the test.
func (l *life) Close() error { return nil }
