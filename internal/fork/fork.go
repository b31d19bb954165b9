// Package fork makes a context of the first events of another one. The engine knows how:
// see engine.Fork. Here is what a person asks for, and what makes the task free for a fork
// that writes to it for real.
package fork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/redact"
	"agent/internal/sanitize"
	"agent/projections"
)

// RequestError is a fork that cannot be asked for like this.
type RequestError struct{ Err error }

func (e *RequestError) Error() string { return e.Err.Error() }
func (e *RequestError) Unwrap() error { return e.Err }

// Maker makes forks.
type Maker struct {
	Config *config.Config
	Store  *contexts.Store
	Free   func(ctx context.Context, task string) error // ends an origin that has not ended, see [StopOrigin]
	Now    func() time.Time
}

// Make makes a fork. It asks the given model from there on, NAME or PROVIDER:NAME, and
// with the system prompt of the given file; without them those of the origin.
func (m *Maker) Make(ctx context.Context, f engine.Forking, model, promptFile string) (*event.ContextForked, engine.Point, error) {
	none := engine.Point{}
	if f.Drop < 0 {
		return nil, none, &RequestError{errors.New("--drop-last takes 0 turns or more")}
	}
	var err error
	if f.Prompt, err = readPrompt(promptFile); err != nil {
		return nil, none, &RequestError{fmt.Errorf("--system-prompt: %w", err)}
	}
	if model != "" {
		f.Model = m.served(model)
	}
	f.UUID, f.Root, f.By = uuid.NewString(), m.Config.WorkspacesDir, engine.Operator()
	point, err := engine.PointOf(m.Store, f)
	if wrong := (*engine.PointError)(nil); errors.As(err, &wrong) {
		return nil, none, &RequestError{err}
	}
	if err != nil {
		return nil, none, err
	}
	if f.Live {
		release, err := m.takeTask(ctx, f.Origin, point.State.Key)
		if err != nil {
			return nil, none, err
		}
		defer release()
	}
	forked, err := engine.Fork(m.Store, redact.New(m.Config.Secrets()), f, point, m.Now())
	return forked, point, err
}

func readPrompt(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := app.ReadPrompt(file)
	if err == nil && strings.TrimSpace(text) == "" {
		err = fmt.Errorf("%s is empty", file)
	}
	return text, err
}

// served is the model of a server that is configured: the active one, or the one named.
func (m *Maker) served(model string) event.Served {
	server := m.Config.LLM.Active()
	for _, p := range append(m.Config.LLM.Others(), server) {
		if name, ok := strings.CutPrefix(model, p.Name+":"); ok && name != "" {
			server, model = p, name
		}
	}
	server.Model = model
	return event.Served{Provider: server.Name, Model: model, ContextLength: server.ContextLength, Profile: m.Config.Profile(server)}
}

// takeTask makes the task free for a live fork, and keeps others from beginning it until
// release is called.
func (m *Maker) takeTask(ctx context.Context, origin string, task forge.TaskKey) (release func(), err error) {
	state, err := engine.ReadState(m.Store, origin)
	if err != nil && !contexts.IsTorn(err) {
		return nil, err
	}
	if state != nil && !state.Status.Ended() && !state.Simulates() { // two must not work on one task
		if err := m.Free(ctx, task.String()); err != nil {
			return nil, err
		}
	}
	lock, err := m.Store.LockKey(task.String())
	if err != nil {
		return nil, err
	}
	other, live, err := m.Store.Active(task.String())
	if err == nil && live {
		err = fmt.Errorf("%s works on %s: a live fork would be the second one", other, task)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() { _ = lock.Close() }, nil
}

// stopTime is how long a process that works on the origin may take to stop it.
const stopTime = time.Minute

// StopOrigin ends a context. If no process works on it, work does so that it stops.
func StopOrigin(ctx context.Context, store *contexts.Store, origin string, work func(context.Context) error) error {
	if err := store.Send(origin, contexts.Stop, []byte("a live fork goes on with the task")); err != nil {
		return err
	}
	for end := time.Now().Add(stopTime); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		info, err := store.Info(origin)
		if err != nil || info.Over() {
			return err
		}
		busy, err := store.Locked(origin)
		if err != nil {
			return err
		}
		if busy {
			continue // that process stops it
		}
		if err := work(ctx); err != nil {
			return err
		}
	}
	if info, err := store.Info(origin); err != nil || info.Over() {
		return err
	}
	return &engine.Temporary{Err: fmt.Errorf("%s has not stopped yet", origin)}
}

// Answer is what fork --json prints.
type Answer struct {
	UUID    string   `json:"uuid"`
	Origin  string   `json:"origin"`
	Seq     uint64   `json:"seq"`
	Asked   uint64   `json:"asked,omitempty"`
	Moved   string   `json:"moved,omitempty"` // why not there: open | ending
	Dropped int      `json:"dropped,omitempty"`
	Live    bool     `json:"live"`
	TaskKey string   `json:"task_key"`
	Unsaved []string `json:"not_saved"`
}

// AnswerOf says what was made of which event.
func AnswerOf(b *event.ContextForked, p engine.Point) Answer {
	return Answer{b.UUID, b.Origin, b.Seq, b.Asked, p.Moved, b.Dropped, b.Live, p.State.Key.String(), append([]string{}, Unsaved(p.State)...)}
}

// Unsaved are files that the copy of the fork lacks, or has as they were before.
func Unsaved(s *projections.State) (paths []string) {
	for n := range s.Saved.Not {
		paths = append(paths, sanitize.Line(n.Path, 200))
	}
	slices.Sort(paths)
	return paths
}
