// Package rounds finds what there is to do and does it with several workers.
//
// A round looks at contexts that were begun and did not end, then at the items
// that carry a trigger label. Each becomes a job; a worker takes the context, or
// begins one under the lock of its task key, and runs the engine until the task
// ends, pauses or waits. Several processes may do rounds at the same time: locks
// keep them from doing anything twice.
//
// Who may begin or wake a task is decided by package policy. This package reads
// the facts for it. What it sees goes to scan.json, where `agent why` finds it.
package rounds

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"agent/contexts"
	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/cluster"
	"agent/internal/i18n"
	"agent/internal/sdnotify"
	"agent/internal/webhook"
)

// Rounds does rounds with one set of adapters.
type Rounds struct {
	*app.App
	Hooks   *webhook.Queue   // items that forges or the cluster told of; nil: nobody does
	Service sdnotify.Service // who waits for signs of life

	voice     Voice
	pulse     Pulse
	noted     noted
	looping   bool           // more rounds follow
	swept     string         // the day on which leftovers were removed last
	behind    bool           // the index lacks contexts whose logs were not read yet
	told      string         // the fault that was said last
	turns     sync.Once      // said that projects are asked in turns
	only      []webhook.Item // what the next look is at; nil: everything
	next      time.Time      // of the next look at everything
	every     time.Duration  // between two of them, in a loop
	allListed time.Time      // when all items were listed
	over      endedItems
	scanning  map[string]*cluster.Lock         // forges that this worker scans for the cluster
	lanes     map[string]map[forge.TaskKey]int // of what this worker has offered to the cluster, by host
	busy      atomic.Int32                     // jobs of all rounds
	inFlight  atomic.Int32                     // items of hooks that are on their way to a worker
	late      sync.WaitGroup                   // looks for what effects have undone that came late

	within func(context.Context, time.Duration) (context.Context, context.CancelFunc) // bounds what a look does beside its tasks
}

// New makes rounds that report to v.
func New(a *app.App, v Voice) *Rounds {
	s := &Rounds{App: a, voice: v, scanning: map[string]*cluster.Lock{}, lanes: map[string]map[forge.TaskKey]int{}, within: context.WithTimeout}
	if a.Cluster != nil {
		s.Hooks = webhook.NewQueue()
	}
	return s
}

// Summary is the result of a round.
type Summary struct {
	Did    int      // contexts worked on
	Paused int      // contexts that are paused, and that nothing woke
	Failed int      // contexts that ended as failed
	Outage bool     // the model server did not answer, and a task waits for it
	Left   []string // contexts whose work was interrupted
	Errors []error  // each was given to Voice.Trouble
}

// ListError is a forge whose tasks could not be listed.
type ListError struct{ Err error }

func (e *ListError) Error() string { return e.Err.Error() }
func (e *ListError) Unwrap() error { return e.Err }

// ExitCode is 78 also for a project that does not exist or that the token cannot
// see, and for a list that is refused: unlike a missing item, that is a matter of
// configuration.
func (e *ListError) ExitCode() int {
	var failed *forge.Error
	if errors.As(e.Err, &failed) && (failed.Kind == forge.NotFound || failed.Kind.Lasting()) {
		return contexts.ExitConfig
	}
	return (&engine.Temporary{Err: e.Err}).ExitCode()
}

// OfTaskFile reports whether an error is about files that are no proper tasks.
func OfTaskFile(err error) bool {
	var failed *forge.Error
	return errors.As(err, &failed) && failed.Local && failed.Kind == forge.Invalid
}

// OfDirectory reports whether a directory of task files cannot be used: there is no token to look at.
func OfDirectory(err error) bool {
	var failed *forge.Error
	return errors.As(err, &failed) && failed.Local && failed.Kind == forge.Forbidden
}

// RefError is a task on the command line that cannot be worked on.
type RefError struct {
	Err        error
	Unreadable bool // it is neither a context nor the URL of an item
}

func (e *RefError) Error() string { return e.Err.Error() }
func (e *RefError) Unwrap() error { return e.Err }

var errNoItem = errors.New("there is no such item, or the token cannot see it")

// All finds and does everything: first contexts that were begun, then new tasks.
func (s *Rounds) All(ctx context.Context) Summary {
	return s.round(ctx, func(*round) bool { return false })
}

// round looks for what there is to do while its workers do it, as often as again lets it.
func (s *Rounds) round(ctx context.Context, again func(*round) bool) Summary {
	r := s.newRound()
	jobs := make(chan job)
	go func() {
		defer close(jobs)
		r.look(ctx, jobs)
		for r.pulse.end(theLook); again(r); r.pulse.end(theLook) {
			r.lookAgain(ctx, jobs)
		}
	}()
	r.work(ctx, jobs)
	r.tellTurnedAway()
	r.tellWithheld()
	if ctx.Err() == nil {
		r.pulse.beat(theLook, looksFor)
		r.upkeep(ctx)
	}
	r.endLook()
	r.pulse.end(theLook)
	if !s.looping {
		s.late.Wait()
	}
	return r.summary
}

// Only does the given tasks, which are contexts (a uuid or the beginning of one)
// or items (a URL). An error is about one that cannot be read: nothing was done.
func (s *Rounds) Only(ctx context.Context, refs []string) (Summary, error) {
	r := s.newRound()
	jobs := make(chan job, len(refs))
	for _, ref := range refs {
		j, err := r.jobOf(ref)
		if err != nil {
			return Summary{}, err
		}
		jobs <- j
		r.working.Add(1)
	}
	close(jobs)
	r.work(ctx, jobs)
	r.tellTurnedAway()
	r.sawSound()
	r.writeScan()
	s.late.Wait()
	return r.summary, nil
}

// Continue goes on with a context if something has woken it, as an answer on its task.
func (s *Rounds) Continue(ctx context.Context, uuid string) Summary {
	r := s.newRound()
	r.do(ctx, job{uuid: uuid})
	r.writeScan()
	s.late.Wait()
	return r.summary
}

func (s *Rounds) text(id i18n.ID, args ...any) string { return i18n.Text(s.Language(), id, args...) }

// unread is the error of a read that failed, with the exit code of its class.
func unread(err error) error { return engine.Unread(err) }

func noForge(host string) error { return fmt.Errorf("no forge with host %s is configured", host) }
