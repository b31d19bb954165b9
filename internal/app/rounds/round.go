package rounds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"agent/contexts"
	"agent/forge"
	"agent/handlers/policy"
	"agent/internal/app"
	"agent/internal/logging"
	"agent/internal/report"
	"agent/internal/webhook"
)

// round is the work of some workers on what was found in one look at everything, or in
// several of them while a task runs. A fault of the machine ends it.
type round struct {
	*Rounds

	working atomic.Int32  // jobs that were handed out and have not ended
	freed   chan struct{} // one of them has
	crowded sync.Once     // that no place is free was said

	mu      sync.Mutex
	summary Summary
	taken   map[string]bool          // task keys and uuids of this look; true: a job is at it
	after   map[string]webhook.Item  // hooks that came while a job was at their contexts
	found   map[string]forge.TaskKey // where the items of taken contexts were found by their ids
	works   map[string]*sync.Mutex
	seen    sightings
	checked *sync.Once // the machine, in this look
	sound   bool       // it was checked, and nothing was found
	fault   *Fault     // that ended the round
	refused *refusal   // nil if the model server refuses no paused task

	turnedAway *turnedAway // nil if the model refused no task of this round

	pausedMu sync.Mutex
	paused   map[string]map[string]bool // keys that a list shows, by host and label; nil: it cannot be read
}

func (s *Rounds) newRound() *round {
	return &round{Rounds: s, checked: &sync.Once{}, freed: make(chan struct{}, 1), taken: map[string]bool{}, found: map[string]forge.TaskKey{}, after: map[string]webhook.Item{}, works: map[string]*sync.Mutex{}, paused: map[string]map[string]bool{}}
}

// job is one piece of work: an existing context, or a task that may become one.
type job struct {
	uuid    string
	key     forge.TaskKey
	at      app.Site
	trigger string // policy.ByLabel, ByCommand or ByComment
	found   bool   // the context was found by the id of the item, which is at key now
	told    bool   // a hook told of the item

	actor, comment string    // who asked for another attempt, and where
	changed        time.Time // the latest change of the item, by its list
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
		if !strings.Contains(ref, "/") {
			err = fmt.Errorf("no such context: %q. Give a task, by its URL such as https://github.com/owner/repo/issues/12, or a context, by its uuid or the beginning of it", ref)
		}
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
					r.busy.Add(1)
					r.do(ctx, j)
					r.busy.Add(-1)
				}
				r.working.Add(-1)
				select {
				case r.freed <- struct{}{}:
				default:
				}
			}
		})
	}
	workers.Wait()
}

// look finds what there is to do and hands it to free workers.
func (r *round) look(ctx context.Context, jobs chan<- job) {
	r.pulse.beat(theLook, looksFor)
	if items := r.only; items != nil {
		r.only = nil
		r.lookAt(ctx, items, jobs)
		return
	}
	if r.Cluster != nil && !r.looping {
		r.Cluster.AwaitRenewals(ctx)
	}
	paused, more := r.begun(ctx, jobs)
	if more && r.dueToList() {
		r.labelled(ctx, jobs)
	}
	if r.Cluster != nil && !r.looping {
		r.takeAll(ctx, jobs)
	}
	r.waiting(ctx, jobs, paused)
	if ctx.Err() == nil {
		r.healIndex(ctx)
	}
}

// lookAgain is look once more in the same round.
func (r *round) lookAgain(ctx context.Context, jobs chan<- job) {
	r.endLook()
	r.forget()
	r.look(ctx, jobs)
	if ctx.Err() == nil {
		r.upkeep(ctx)
	}
}

// forget drops what a look knew, for the next one in the same round, which may last for days where tasks overlap. What
// ended since may be taken again. A refusal that somebody has dealt with elsewhere keeps no new task waiting.
func (r *round) forget() {
	r.mu.Lock()
	maps.DeleteFunc(r.taken, func(_ string, working bool) bool { return !working })
	maps.DeleteFunc(r.found, func(uuid string, _ forge.TaskKey) bool { return !r.taken[forge.FoldKey(uuid)] })
	if r.refused != nil && !r.taken[forge.FoldKey(r.refused.uuid)] {
		r.refused = nil // the next look finds it again if it is paused still
	}
	r.summary.Paused, r.summary.Errors = 0, nil
	r.checked = &sync.Once{}
	r.mu.Unlock()
	r.pausedMu.Lock() // a list may be on its way
	defer r.pausedMu.Unlock()
	clear(r.paused)
}

// begun finds contexts that run, and gives those that are paused. It is false if ctx ended.
func (r *round) begun(ctx context.Context, jobs chan<- job) (paused []string, more bool) {
	var running []string
	for entry, err := range r.Store.Unfinished() {
		if err != nil {
			r.trouble(entry.UUID, err)
			r.tellDamage(ctx, entry.UUID, forge.TaskKey{}, err)
			continue
		}
		if fork, err := r.Store.ForkOf(entry.UUID); err == nil && fork != nil {
			continue // a person runs it
		}
		if entry.Dir == contexts.Running {
			running = append(running, entry.UUID)
		} else {
			paused = append(paused, entry.UUID)
		}
	}
	r.noteRefusals(ctx, paused)
	for _, uuid := range running {
		if !r.isTaken(uuid) && !r.heldElsewhere(uuid) && !r.send(ctx, jobs, job{uuid: uuid}) {
			return nil, false
		}
	}
	return paused, true
}

// waiting finds those of the paused contexts whose pause is over. New tasks come before
// them: each may take requests to its forge. Those without a note come last, in any order: there may be
// too many logs to read them all in one look.
func (r *round) waiting(ctx context.Context, jobs chan<- job, paused []string) {
	var unread []string
	for _, uuid := range paused {
		if !r.looksAfter(ctx, uuid) {
			continue
		}
		if n := r.note(uuid); n == nil && !r.signalled(uuid) {
			unread = append(unread, uuid)
		} else if !r.consider(ctx, jobs, uuid, n) {
			return
		}
	}
	rand.Shuffle(len(unread), func(i, j int) { unread[i], unread[j] = unread[j], unread[i] })
	limited, cancel := r.within(ctx, upkeepTime)
	defer cancel()
	for n, uuid := range unread {
		if limited.Err() != nil && ctx.Err() == nil {
			r.unread(len(unread) - n)
			return
		}
		if !r.consider(ctx, jobs, uuid, nil) {
			return
		}
	}
}

// consider hands a paused context to a worker if its pause is over. It is false if ctx ended.
func (r *round) consider(ctx context.Context, jobs chan<- job, uuid string, n *report.Sleeper) bool {
	r.pulse.beat(theLook, looksFor)
	return r.isTaken(uuid) || !r.due(ctx, job{uuid: uuid}, n) || r.send(ctx, jobs, job{uuid: uuid})
}

func (r *round) send(ctx context.Context, jobs chan<- job, j job) bool {
	r.working.Add(1)
	r.pulse.end(theLook) // it waits for a worker
	defer r.pulse.beat(theLook, looksFor)
	select {
	case jobs <- j:
		return true
	case <-ctx.Done():
		r.working.Add(-1)
		return false
	}
}

// due reports whether a paused or waiting context is to be looked at. n is the note about it, if it has one.
func (r *round) due(ctx context.Context, j job, n *report.Sleeper) bool {
	uuid := j.uuid
	state, because, err := r.sleeperBy(uuid, n)
	if err != nil {
		r.trouble(uuid, err)
		r.tellDamage(ctx, uuid, forge.TaskKey{}, err)
		return false
	}
	pending, _ := r.Store.Pending(uuid)
	if _, stop := pending[contexts.Stop]; stop {
		return true
	}
	if r.leavesToTry(state.Created.Forge) {
		r.saw(state.Created.TaskKey, contexts.Skipped, r.text("skip.try", uuid[:8]), uuid)
		return false
	}
	if state.Resume != nil || state.Stop != nil || state.Owes() || state.Status.Directory() != string(contexts.Paused) {
		return true // a process ended before the directory followed
	}
	r.noteRefusal(ctx, state)
	if at, ok := r.Site(state.Created.Forge); ok {
		out, err := outside(ctx, at, state)
		if err != nil {
			r.trouble(uuid, err)
			return false
		}
		if out {
			r.saw(state.Created.TaskKey, contexts.Skipped, r.text("skip.project", state.Key.Project), uuid)
			return false
		}
	}
	wake, _, err := r.wakeOf(ctx, state, j)
	if err != nil {
		r.trouble(uuid, err)
	}
	if wake == nil {
		r.waits(state, because)
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
		r.pulse.beat(theLook, looksFor)
		if !r.scans(ctx, at.Host) {
			r.scanned(at.Host, 0, nil) // another worker does
			continue
		}
		tasks, err := listLabelled(ctx, at)
		if ctx.Err() == nil {
			r.scanned(at.Host, len(tasks), err)
		}
		if err != nil && ctx.Err() == nil {
			r.trouble(at.Host, &ListError{err})
		}
		r.tellTurns(at)
		if r.Cluster != nil {
			r.offer(ctx, at, tasks)
			tasks = nil
		}
		for _, t := range tasks {
			if !r.send(ctx, jobs, job{key: t.Key, at: at, trigger: policy.ByLabel}) {
				return
			}
		}
		r.leftOver(ctx, at)
		r.changedAfterEnd(ctx, at, jobs)
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

// claims are the names that one job has taken.
type claims []string

// take claims a name for a job, so that a task that is listed twice is done once in a look.
func (r *round) take(name string, c *claims) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	name = forge.FoldKey(name)
	if _, taken := r.taken[name]; taken {
		return false
	}
	r.taken[name] = true
	*c = append(*c, name)
	return true
}

// isClaimed reports whether a job has taken a name itself.
func (r *round) isClaimed(c *claims, name string) bool {
	return slices.Contains(*c, forge.FoldKey(name))
}

// isTaken reports whether a job has claimed a name.
func (r *round) isTaken(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, taken := r.taken[forge.FoldKey(name)]
	return taken
}

// leave lets the next look take what a job has taken.
func (r *round) leave(c *claims) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range *c {
		r.pulse.end(name)
		r.taken[name] = false
		if item, ok := r.after[name]; ok {
			delete(r.after, name)
			r.Hooks.Add(item)
		}
	}
}

// release lets another job of the look take what take took, unless one found it
// elsewhere meanwhile: then it says where.
func (r *round) release(uuid string, c *claims) (at forge.TaskKey, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, found = r.found[uuid]; !found {
		name := forge.FoldKey(uuid)
		r.pulse.end(name)
		delete(r.taken, name)
		*c = slices.DeleteFunc(*c, func(n string) bool { return n == name })
	}
	return at, found
}

// takeAt is take for a context that was found by the id of its item. A job that has it
// already learns where the item is.
func (r *round) takeAt(uuid string, at forge.TaskKey, c *claims) bool {
	if r.take(uuid, c) {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found[uuid] = at
	return false
}
