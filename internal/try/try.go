// Package try is `agent try`: a task without a forge, on the directory that the user is
// in. It makes a private place below the state directory, with a snapshot of the files
// as a repository and a directory with one task, see package files. The rounds, the
// engine, the log and the sandbox are those of every other task, so the context can be
// inspected, replayed and listed like any other.
//
// The originals are read once, and written only by [Try.Apply] and [Try.Branch], when
// the work is completed.
package try

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"agent/contexts"
	"agent/forge"
	"agent/forge/files"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/config"
	"agent/internal/registry"
	"agent/projections"
)

// Try is one task on a directory.
type Try struct {
	Source Source
	UUID   string // of its context, once it has begun
	fork   bool   // the context is a fork: the directory is that of its origin
	store  *contexts.Store
	dir    string
	name   string
	app    *app.App
	rounds *rounds.Rounds
	person string // who answers
}

// Options say what is to be done, and how it is shown.
type Options struct {
	Task  files.Task
	Voice rounds.Voice
	Show  func(line string) // what the agent writes on the task
}

// StateDir is where tries are kept.
func StateDir(getenv func(string) string) (string, error) {
	state := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return "", errors.New("there is no place to work in: neither XDG_STATE_HOME nor HOME is set")
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "agent", "try"), nil
}

// RefusedError means that nothing can be tried as it was asked for.
type RefusedError struct{ error }

// Here makes a copy of the directory that the process is in, if what is asked for can be
// done with the change.
func Here(ctx context.Context, stateDir string, use Use) (*Try, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	source, err := Open(ctx, here)
	if err != nil {
		return nil, RefusedError{err}
	}
	if err := use.check(ctx, source); err != nil {
		return nil, RefusedError{err}
	}
	return New(ctx, stateDir, source, use)
}

// Is reports whether a context is that of a try, or of a fork of one.
func Is(s *projections.State) bool { return s.Created != nil && forge.OfTry(s.Created.Forge) }

// Find finds the try of a context, by its uuid or the beginning of it.
func Find(stateDir string, store *contexts.Store, ref string) (*Try, error) {
	uuid, err := store.Find(ref)
	if err != nil {
		return nil, err
	}
	first, err := store.Creation(uuid)
	if err != nil {
		return nil, err
	}
	t, err := reopen(stateDir, first.TaskKey, uuid)
	if err != nil {
		return nil, RefusedError{err}
	}
	fork, err := store.ForkOf(uuid)
	t.store, t.fork = store, fork != nil
	return t, err
}

// New makes a copy of the source.
func New(ctx context.Context, stateDir string, s Source, use Use) (*Try, error) {
	name := forge.TryPrefix + uuid.NewString()[:8]
	t := &Try{Source: s, name: name, dir: filepath.Join(stateDir, name)}
	if err := os.MkdirAll(t.tasks(), 0o700); err != nil {
		return nil, err
	}
	err := errors.Join(save(t.sourceFile(), s), save(t.wishFile(), wish{Use: use}))
	if err == nil {
		err = s.snapshot(ctx, t.repository())
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(t.dir))
	}
	return t, nil
}

// reopen finds the try of a context by its task key.
func reopen(stateDir, taskKey, id string) (*Try, error) {
	key, err := forge.ParseTaskKey(taskKey)
	if err != nil || key.Kind != forge.FileTask || !forge.OfTry(key.Host) {
		return nil, errors.New("this context is not one of agent try")
	}
	t := &Try{UUID: id, name: key.Project, dir: filepath.Join(stateDir, key.Project)}
	data, err := os.ReadFile(t.sourceFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("this try has ended, and the copy of its files is gone: agent diff %s prints its change", id[:8])
	}
	if err != nil {
		return nil, err
	}
	return t, json.Unmarshal(data, &t.Source)
}

func (t *Try) tasks() string      { return filepath.Join(t.dir, "tasks") }
func (t *Try) repository() string { return filepath.Join(t.dir, "repository") }
func (t *Try) sourceFile() string { return filepath.Join(t.dir, "source.json") }

// driver is the kind of forge that is a directory.
func driver() forge.Driver {
	for _, d := range registry.Forges {
		if d.Local {
			return d
		}
	}
	panic("try: no kind of forge is local")
}

func (t *Try) key() forge.TaskKey {
	d := driver()
	return forge.TaskKey{Host: d.Host(t.name), Project: t.name, Kind: d.Issue, Number: 1}
}

// Configure makes the task the only source, and the model the one that was found. Where
// a person reviews the change before it goes anywhere, it needs no other approval.
func (t *Try) Configure(m Model, review bool) func(*config.Config) {
	return func(c *config.Config) {
		m.apply(c)
		kind := driver().Name
		section := c.ForgeSections[kind]
		if len(*section) == 0 {
			return // said by the checks
		}
		f := (*section)[0]
		f.Directory, f.Name, f.Repository, f.Push, f.Workspace = t.tasks(), t.name, t.repository(), false, ""
		c.TaskSource, *section = config.Strings{kind}, config.Forges{f}
		c.Notify = nil                    // the user is here
		c.Cluster.NATS.URLs = nil         // and so is the directory
		c.CommentHandling.Enabled = false // the user reads the change instead
		c.ChangeRequests.Enabled, c.ChangeRequests.Base = true, ""
		if review {
			c.ChangeRequests.MaxFiles, c.ChangeRequests.MaxLines, c.ChangeRequests.Binary, c.ChangeRequests.ProtectedPaths = 0, 0, "allow", nil
		}
	}
}

// Start writes the task down, if it is not yet, and takes the adapters.
func (t *Try) Start(a *app.App, o Options) error {
	t.app, t.store, t.person = a, a.Store, engine.Operator()
	a.CachesOf = t.Source.Dir
	at := a.Sites[0].Config
	file := filepath.Join(t.tasks(), "1.md")
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		task := o.Task
		task.Author, task.Labels, task.Number = t.person, []string{at.BotLabel}, 1
		data, err := task.File()
		if err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	a.Sites[0].Client = &echo{Client: a.Sites[0].Client, show: o.Show, uuid: t.uuid, user: t.person, said: map[string]map[string]bool{}}
	ended := o.Voice.Ended
	o.Voice.Ended = func(out rounds.Outcome) {
		if out.UUID != "" {
			t.UUID = out.UUID
		}
		if ended != nil {
			ended(out)
		}
	}
	t.rounds = rounds.New(a, o.Voice)
	return nil
}

// Work works until the task ends or waits.
func (t *Try) Work(ctx context.Context) (rounds.Summary, error) {
	what := t.key().String()
	if t.UUID != "" {
		what = t.UUID // it may be a fork, which nothing else finds
	}
	summary, err := t.rounds.Only(ctx, []string{what})
	return t.begun(summary), err
}

// begun finds the context also if it was interrupted.
func (t *Try) begun(s rounds.Summary) rounds.Summary {
	t.UUID = t.uuid()
	return s
}

// uuid is that of the context, "" if it has not begun.
func (t *Try) uuid() string {
	if t.UUID != "" {
		return t.UUID
	}
	id, _, _ := t.app.Store.Active(t.key().String()) // "" if nobody knows
	return id
}

// Waiting reports whether the task waits for somebody, and whether an answer can end that.
func (t *Try) Waiting() (waits, byAnswer bool) {
	s, err := t.State()
	if err != nil || s.Resume != nil || s.Status != projections.Paused && s.Status != projections.Awaiting {
		return false, false
	}
	return true, s.Status == projections.Awaiting || projections.NeedsApproval(s.Paused)
}

// Asks reports whether somebody can do something about the wait. One for a time or a
// signal ends by itself.
func (t *Try) Asks() bool {
	waits, byAnswer := t.Waiting()
	s, err := t.State()
	return waits && err == nil && (byAnswer || s.Paused != nil && s.Paused.Until.Kind != "time" && s.Paused.Until.Kind != "signal")
}

// Answer writes what the user says into the task, and goes on with it.
func (t *Try) Answer(ctx context.Context, text string) (rounds.Summary, error) {
	c, err := files.New(files.Config{Directory: t.tasks(), Name: t.name, BotName: t.app.Sites[0].Config.BotName})
	if err != nil {
		return rounds.Summary{}, err
	}
	defer c.Close()
	if _, err := c.Say(ctx, t.key(), t.person, text); err != nil {
		return rounds.Summary{}, err
	}
	if _, byAnswer := t.Waiting(); byAnswer && !t.fork { // it is woken by what was said, or not
		return t.rounds.Continue(ctx, t.UUID), nil
	}
	return t.Work(ctx)
}

// State is what the log says.
func (t *Try) State() (*projections.State, error) {
	if t.UUID == "" {
		return nil, contexts.ErrUnknown
	}
	return engine.ReadState(t.store, t.UUID)
}

// Ended reports whether the context has ended.
func (t *Try) Ended() bool {
	s, err := t.State()
	return err == nil && s.Status.Ended()
}

// Close removes the copy of a task that never began. Of one that has ended it keeps what
// applies the change later, and what its forks begin with.
func (t *Try) Close() error {
	s, err := t.State()
	switch {
	case errors.Is(err, contexts.ErrUnknown):
		return t.Discard()
	case err != nil, t.fork, !s.Status.Ended():
		return nil
	}
	return t.keep()
}

// Discard removes the copy.
func (t *Try) Discard() error { return os.RemoveAll(t.dir) }
