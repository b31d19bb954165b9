package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

// do works on one job until it rests.
func (r *round) do(ctx context.Context, j job) {
	name := j.uuid
	if name == "" {
		name = j.key.String()
	}
	if !r.take(name) {
		return
	}
	if err := r.attempt(ctx, j); err != nil && ctx.Err() == nil {
		r.trouble(name, err)
		r.sawTrouble(j, err)
	}
}

func (r *round) attempt(ctx context.Context, j job) error {
	if j.uuid != "" {
		return r.goOn(ctx, j)
	}
	lock, err := r.Store.LockKey(j.key.String())
	if err != nil {
		return err
	}
	defer lock.Close()
	uuid, live, err := r.Store.Live(j.key.String())
	if err != nil {
		return err
	}
	if live {
		j.uuid = uuid
		if !r.take(uuid) {
			return nil
		}
		return r.goOn(ctx, j)
	}
	return r.begin(ctx, j, lock)
}

// begin makes a context for a task. The item is read again under the lock of
// its key: another process may have finished it since it was listed.
func (r *round) begin(ctx context.Context, j job, lock io.Closer) error {
	if r.PauseSignal() {
		r.note("paused: " + j.key.String() + ": " + r.signalNote())
		r.saw(j.key.String(), contexts.Skipped, "the pause signal stands", "")
		return nil
	}
	if err := r.Store.Room(); err != nil {
		return err
	}
	t, err := j.at.Client.Task(ctx, j.key)
	var failed *forge.Error
	switch {
	case errors.As(err, &failed) && failed.Kind == forge.NotFound && j.trigger == "command":
		return refused(errors.New("there is no such item, or the token cannot see it"))
	case err != nil:
		return &engine.Temporary{Err: err}
	}
	why := skip(t, j)
	if why == "" {
		if why, err = r.distrust(ctx, t, j); err != nil {
			return err
		}
	}
	if why != "" {
		r.note("skipped: " + j.key.String() + ": " + why)
		r.saw(j.key.String(), contexts.Skipped, why, "")
		return nil
	}
	release, err := r.workspaceLock(j.at)
	if err != nil {
		return err
	}
	defer release()
	host, _ := os.Hostname()
	e, err := engine.Create(r.portsFor(j.at, j.key.String()), &event.ContextCreated{Format: event.Format, UUID: newUUID(), TaskKey: j.key.String(),
		Forge: j.key.Host, Kind: string(j.key.Kind), User: t.Author.Login, Title: sanitize.Line(t.Title, 500), Trigger: j.trigger,
		Version: version(), Host: host, PID: os.Getpid()})
	if err != nil {
		return err
	}
	_ = lock.Close() // the live context guards the task from here on
	r.saw(j.key.String(), contexts.Taken, becauseOf(j.trigger), e.State().Created.UUID)
	return r.run(ctx, e, j.at, nil)
}

func skip(t forge.Task, j job) string {
	switch {
	case t.State != "open":
		return "it is " + t.State
	case j.trigger == "label" && trigger(j.at, t.Labels) == "":
		return "its label is gone"
	}
	return ""
}

// goOn works on a context that exists. A label that was set again, or a person's
// command, ends its pause.
func (r *round) goOn(ctx context.Context, j job) error {
	first, err := r.Store.First(j.uuid)
	if err != nil {
		return err
	}
	at, ok := r.Site(first.Forge)
	if !ok {
		r.note(fmt.Sprintf("skipped: %s: no forge with host %s is configured", j.uuid, first.Forge))
		r.saw(first.TaskKey, contexts.Skipped, "no forge with its host is configured", j.uuid)
		return nil
	}
	release, err := r.workspaceLock(at)
	if err != nil {
		return err
	}
	defer release()
	e, err := engine.Open(r.portsFor(at, first.TaskKey), j.uuid)
	if err != nil {
		return err
	}
	wake, err := r.wakeOf(ctx, e.State(), j.trigger)
	if err != nil {
		return errors.Join(err, e.Close())
	}
	if e.State().Status.Ended() {
		r.ended(e.State(), j)
		return e.Close() // where it was listed, only its directory was behind
	}
	r.saw(first.TaskKey, contexts.Continued, wokenBy(wake), j.uuid)
	return r.run(ctx, e, at, wake)
}

// ended tells a person who named a context that it has ended, and what begins anew.
func (r *round) ended(s *projections.State, j job) {
	if j.trigger != "command" {
		return
	}
	r.note(i18n.Text(tongue(r.Config), "run.ended", s.Created.UUID, string(s.Status), s.Key.String()))
}

func (r *round) run(ctx context.Context, e *engine.Engine, at app.Site, wake event.Body) error {
	defer e.Close()
	s := e.State()
	name := s.Key.String()
	r.note(fmt.Sprintf("working: %s (%s): %s", name, s.Created.UUID, s.Created.Title))
	start := time.Now()
	err := e.Run(ctx, r.pin(at, e.State().Key.Project), wake)
	r.report(s, name, time.Since(start), err)
	return err
}

func (r *round) report(s *projections.State, name string, took time.Duration, err error) {
	r.mu.Lock()
	r.did++
	if s.Status == projections.Failed {
		r.code = worse(r.code, exitFailed)
	}
	if s.Status == projections.Paused && s.Rest.Reason == "model_auth" { // a stop ends it as well
		r.code = worse(r.code, contexts.ExitConfig)
	}
	r.mu.Unlock()
	if err != nil {
		return
	}
	line := fmt.Sprintf("%s: %s (%s), model calls: %d, tool calls: %d, %s", s.Status, name, s.Created.UUID,
		s.Usage.LLMCalls, s.Usage.ToolCalls, took.Round(time.Millisecond))
	switch {
	case s.Status != projections.Completed:
		line += ": " + because(s, tongue(r.Config))
	case s.ChangedInPlace():
		line += ": " + i18n.Text(tongue(r.Config), "run.inplace", s.Place.Dir)
	}
	if s.Status == projections.Failed || stuck(s) {
		r.say(line)
	} else {
		r.note(line)
	}
	r.discard(s)
}

// workspaceLock lets one context at a time work in a repository that is worked on in place.
func (r *round) workspaceLock(at app.Site) (release func(), err error) {
	dir := at.Config.Workspace
	if dir == "" {
		return func() {}, nil
	}
	r.mu.Lock()
	own := r.works[dir]
	if own == nil {
		own = &sync.Mutex{}
		r.works[dir] = own
	}
	r.mu.Unlock()
	own.Lock()
	lock, err := r.Store.LockKey("workspace " + dir)
	if err != nil {
		own.Unlock()
		return nil, err
	}
	return func() { _ = lock.Close(); own.Unlock() }, nil
}
