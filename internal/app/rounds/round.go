package rounds

import (
	"context"
	"errors"
	"sync"

	"agent/contexts"
	"agent/forge"
	"agent/handlers/engine"
	"agent/handlers/policy"
	"agent/internal/app"
	"agent/internal/logging"
)

// round is one pass over everything that there is to do.
type round struct {
	*Rounds

	mu      sync.Mutex
	summary Summary
	taken   map[string]bool          // task keys and uuids of this round
	found   map[string]forge.TaskKey // where the items of taken contexts were found by their ids
	works   map[string]*sync.Mutex
	seen    sightings
	checked sync.Once // the machine
	sound   bool      // it was checked, and nothing was found
	fault   *Fault    // that ended the round
	refused *refusal  // nil if the model server refuses no paused task

	turnedAway *turnedAway // nil if the model refused no task of this round

	pausedMu sync.Mutex
	paused   map[string]map[string]bool // keys that a list shows, by host and label; nil: it cannot be read
}

func (s *Rounds) newRound() *round {
	return &round{Rounds: s, taken: map[string]bool{}, found: map[string]forge.TaskKey{}, works: map[string]*sync.Mutex{}, paused: map[string]map[string]bool{}}
}

// job is one piece of work: an existing context, or a task that may become one.
type job struct {
	uuid    string
	key     forge.TaskKey
	at      app.Site
	trigger string // policy.ByLabel or policy.ByCommand
	found   bool   // the context was found by the id of the item, which is at key now
}

func (r *round) jobOf(ref string) (job, error) {
	key, err := forge.ParseTaskKey(ref, app.Hosts(r.Config)...)
	if err == nil {
		at, ok := r.Site(key.Host)
		if !ok {
			return job{}, &RefError{Err: noForge(key.Host)}
		}
		return job{key: key, at: at, trigger: policy.ByCommand}, nil
	}
	uuid, findErr := r.Store.Find(ref)
	if errors.Is(findErr, contexts.ErrUnknown) {
		return job{}, &RefError{err, true}
	}
	return job{uuid: uuid, trigger: policy.ByCommand}, findErr
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
	entries, running := []contexts.Entry{}, false
	for entry, err := range r.Store.Unfinished() {
		if err != nil {
			r.trouble(entry.UUID, err)
			r.tellDamage(ctx, entry.UUID, forge.TaskKey{}, err)
			continue
		}
		if fork, err := r.Store.ForkOf(entry.UUID); err == nil && fork != nil {
			continue // a person runs it
		}
		entries, running = append(entries, entry), running || entry.Dir == contexts.Running
	}
	if running {
		r.noteRefusals(entries)
	}
	for _, entry := range entries {
		if entry.Dir == contexts.Paused && !r.due(ctx, entry.UUID) {
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
		r.tellDamage(ctx, uuid, forge.TaskKey{}, err)
		return false
	}
	if state.Resume != nil || state.Stop != nil || state.Status.Directory() != string(contexts.Paused) {
		return true // a process ended before the directory followed
	}
	r.noteRefusal(state)
	pending, _ := r.Store.Pending(uuid)
	if _, stop := pending[contexts.Stop]; stop {
		return true
	}
	wake, _, err := r.wakeOf(ctx, state, "")
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
		r.voice.Note(r.text("round.paused", r.signalNote()))
		return
	}
	for _, at := range r.Sites {
		tasks, err := listLabelled(ctx, at)
		if ctx.Err() == nil {
			r.scanned(at.Host, len(tasks), err)
		}
		if err != nil && ctx.Err() == nil {
			r.trouble(at.Host, &ListError{err})
		}
		for _, t := range tasks {
			if !send(ctx, jobs, job{key: t.Key, at: at, trigger: policy.ByLabel}) {
				return
			}
		}
		r.leftOver(ctx, at)
	}
}

// signalNote says that the pause signal keeps new tasks from being started.
func (r *round) signalNote() string {
	return r.text("round.signal", r.Config.PauseResume.SignalFile)
}

// trouble notes what went wrong with one thing; the others go on.
func (r *round) trouble(what string, err error) {
	if errors.Is(err, contexts.ErrBusy) {
		r.voice.Note(r.text("round.busy", what))
		return
	}
	var warning *contexts.Warning
	if errors.As(err, &warning) {
		r.Log.Warn(warning.Error())
		return
	}
	r.Log.ErrorContext(logging.OnlyFile(context.Background()), err.Error(), "task", what)
	r.voice.Trouble(what, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary.Errors = append(r.summary.Errors, err)
}

// take claims a name for this round, so that a task that is listed twice is done once.
func (r *round) take(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	name = forge.FoldKey(name)
	taken := r.taken[name]
	r.taken[name] = true
	return !taken
}

// release lets another job of the round take what take took, unless one found it
// elsewhere meanwhile: then it says where.
func (r *round) release(uuid string) (at forge.TaskKey, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, found = r.found[uuid]; !found {
		delete(r.taken, forge.FoldKey(uuid))
	}
	return at, found
}

// takeAt is take for a context that was found by the id of its item. A job that has it
// already learns where the item is.
func (r *round) takeAt(uuid string, at forge.TaskKey) bool {
	if r.take(uuid) {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found[uuid] = at
	return false
}
