package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"agent/contexts"
	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/logging"
	"agent/internal/retention"
)

// round is one pass over everything that there is to do.
type round struct {
	*system
	voice

	mu    sync.Mutex
	code  int             // exit code so far
	did   int             // contexts worked on
	rest  int             // contexts that are paused, and that nothing woke
	taken map[string]bool // task keys and uuids of this round
	works map[string]*sync.Mutex
	seen  sightings
}

// voice says things to people, a line at a time.
type voice struct {
	say  func(string) // one line for people: an end that is not a good one
	note func(string) // one about what goes well
	warn func(string) // one about trouble, on standard error
}

func (s *system) newRound(v voice) *round {
	return &round{system: s, voice: v, taken: map[string]bool{}, works: map[string]*sync.Mutex{}}
}

// job is one piece of work: an existing context, or a task that may become one.
type job struct {
	uuid    string
	key     forge.TaskKey
	at      app.Site
	trigger string // label | command
}

// all finds and does everything: first contexts that were begun, then new tasks.
func (r *round) all(ctx context.Context) {
	r.swept.Do(r.sweep)
	r.healIndex()
	defer r.endRound()
	jobs := make(chan job)
	go func() {
		defer close(jobs)
		for _, find := range []func(context.Context, chan<- job){r.begun, r.labelled} {
			find(ctx, jobs)
		}
	}()
	r.work(ctx, jobs)
	if ctx.Err() == nil {
		r.collectDaily(ctx)
	}
}

// only does the given tasks, which are contexts (uuid or prefix) or items (URL).
func (r *round) only(ctx context.Context, refs []string) error {
	var list []job
	for _, ref := range refs {
		j, err := r.jobOf(ref)
		if err != nil {
			return err
		}
		list = append(list, j)
	}
	jobs := make(chan job, len(list))
	for _, j := range list {
		jobs <- j
	}
	close(jobs)
	defer r.writeScan()
	r.work(ctx, jobs)
	return nil
}

func (r *round) jobOf(ref string) (job, error) {
	key, err := forge.ParseTaskKey(ref, app.Hosts(r.Config)...)
	if err == nil {
		at, ok := r.Site(key.Host)
		if !ok {
			return job{}, refused(fmt.Errorf("no forge with host %s is configured", key.Host))
		}
		return job{key: key, at: at, trigger: "command"}, nil
	}
	uuid, findErr := r.Store.Find(ref)
	if errors.Is(findErr, contexts.ErrUnknown) {
		return job{}, usageError{err}
	}
	return job{uuid: uuid, trigger: "command"}, findErr
}

// healIndex makes the index complete again, for the sake of speed. It is
// complete unless something strange happened.
func (r *round) healIndex() {
	if err := r.Store.Heal(nil); err != nil && !errors.Is(err, contexts.ErrBusy) {
		r.Log.Warn("the index could not be healed", "error", err)
	}
}

func (r *round) work(ctx context.Context, jobs <-chan job) {
	var workers sync.WaitGroup
	for range r.Config.Workers {
		workers.Go(func() {
			for j := range jobs {
				if ctx.Err() == nil {
					r.do(ctx, j)
				}
			}
		})
	}
	workers.Wait()
}

// begun finds contexts that run, or whose pause is over.
func (r *round) begun(ctx context.Context, jobs chan<- job) {
	for entry, err := range r.Store.Unfinished() {
		if err != nil {
			r.trouble(entry.UUID, err)
			continue
		}
		if entry.Place == contexts.Paused && !r.due(ctx, entry.UUID) {
			continue
		}
		if !send(ctx, jobs, job{uuid: entry.UUID}) {
			return
		}
	}
}

func send(ctx context.Context, jobs chan<- job, j job) bool {
	select {
	case jobs <- j:
		return true
	case <-ctx.Done():
		return false
	}
}

// due reports whether a paused or waiting context is to be looked at.
func (r *round) due(ctx context.Context, uuid string) bool {
	state, err := engine.ReadState(r.Store, uuid)
	if err != nil {
		r.trouble(uuid, err)
		return false
	}
	if state.Resume != nil || state.Stop != nil || state.Status.Directory() != string(contexts.Paused) {
		return true // a process ended before the directory followed
	}
	pending, _ := r.Store.Pending(uuid)
	if _, stop := pending[contexts.Stop]; stop {
		return true
	}
	wake, err := r.wakeOf(ctx, state, "")
	if err != nil {
		r.trouble(uuid, err)
	}
	if wake == nil {
		r.waits(state)
	}
	return wake != nil
}

// labelled finds new tasks on the forges. One forge that fails does not hide the others.
func (r *round) labelled(ctx context.Context, jobs chan<- job) {
	if r.PauseSignal() {
		r.note("paused: " + r.signalNote())
		return
	}
	for _, at := range r.Sites {
		tasks, err := labelled(ctx, at)
		if ctx.Err() == nil {
			r.scanned(at.Host, len(tasks), err)
		}
		if err != nil && ctx.Err() == nil {
			r.trouble(at.Host, &listError{err})
		}
		for _, t := range tasks {
			if !send(ctx, jobs, job{key: t.Key, at: at, trigger: "label"}) {
				return
			}
		}
		r.leftOver(ctx, at)
	}
}

// signalNote names the file that keeps everything from being begun.
func (r *round) signalNote() string {
	return fmt.Sprintf("the pause signal stands (%s), nothing new is begun", r.Config.PauseResume.SignalFile)
}

// trouble notes what went wrong with one thing; the others go on.
func (r *round) trouble(what string, err error) {
	if errors.Is(err, contexts.ErrBusy) {
		r.note("busy: " + what + " is being worked on by another process")
		return
	}
	var warning *contexts.Warning
	if errors.As(err, &warning) {
		r.Log.Warn(warning.Error())
		return
	}
	r.Log.ErrorContext(logging.OnlyFile(context.Background()), err.Error(), "task", what)
	r.warn("trouble: " + what + ": " + err.Error())
	if hint := hintOf(err); hint != "" {
		r.warn("  → " + hint)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.code = worse(r.code, exitCode(err))
}

// take claims a name for this round, so that a task that is listed twice is done once.
func (r *round) take(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.taken[name]
	r.taken[name] = true
	return !taken
}

// collectDaily does what gc does, once a day. Nothing depends on it.
func (r *round) collectDaily(ctx context.Context) {
	if contexts.Day(time.Now()) == contexts.Day(r.Store.LastCollected().Time) {
		return
	}
	report, err := retention.Collect(ctx, r.Config, r.Store, false, nil)
	switch {
	case err == nil:
		r.Log.Info("old contexts were collected", "archived", report.Archived, "removed", report.Removed, "clones", report.Clones,
			"kept", report.Inheritable, "busy", report.Busy, "problems", report.Problems)
	case ctx.Err() == nil && !errors.Is(err, contexts.ErrBusy):
		r.Log.Warn("old contexts could not be collected", "error", err)
	}
}
