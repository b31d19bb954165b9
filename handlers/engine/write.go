package engine

import (
	"context"
	"errors"
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/forge"
)

// write is one change of the forge.
type write struct {
	uncertain  bool                          // it may have been done already
	find       func() (event.Body, error)    // finds it if it was done; nil if doing it twice is no harm
	send       func() (event.Body, error)    // does it
	refused    func(*forge.Error) event.Body // the outcome of a definite no
	maxRuns    int                           // runs after which, and maxWait, a forge that does not answer counts as a no; 0: never
	closing    bool                          // it is part of an end: a no that may pass is waited for
	bestEffort bool                          // what it says is said again later: a forge that does not answer counts as a no at once
}

func (w write) policy() forgePolicy {
	if w.bestEffort {
		return forgeProgress
	}
	return forgeWrite
}

// write does it exactly once, as far as the forge lets us see. It gives up with
// a Temporary error, which leaves the intent open for the next run.
func (e *Engine) write(ctx context.Context, w write) (event.Body, error) {
	for try := 1; ; try++ {
		if w.uncertain && w.find != nil {
			found, err := e.findTwice(ctx, w.find)
			if failed := (*forge.Error)(nil); w.bestEffort && ctx.Err() == nil && errors.As(err, &failed) {
				return e.giveUp(w, failed)
			}
			if found != nil || err != nil {
				return found, err
			}
		}
		done, err := w.send()
		if err == nil {
			return done, nil
		}
		var failed *forge.Error
		if ctx.Err() != nil || !errors.As(err, &failed) {
			return nil, err
		}
		if followed, err := e.followWrite(ctx, failed); err != nil {
			return nil, err
		} else if followed && try < forgeWrite.tries {
			continue
		}
		wait, again := w.policy().next(failed, try, e.p.Jitter())
		if !again {
			return e.giveUp(w, failed)
		}
		w.uncertain = w.uncertain || failed.Kind == forge.Ambiguous
		if err := e.p.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// giveUp ends the tries of this run. A token that is refused is waited for like a forge that is
// down: nothing else would succeed, either.
func (e *Engine) giveUp(w write, failed *forge.Error) (event.Body, error) {
	if w.closing && mayPass(failed) && !e.waited(closingRuns) {
		return nil, &Temporary{failed}
	}
	lasting := w.bestEffort && !failed.Kind.NeedsPerson() || w.maxRuns > 0 && failed.Kind != forge.RateLimited && e.waited(w.maxRuns)
	if temporary(failed.Kind) && !lasting {
		return nil, &Temporary{failed}
	}
	if w.closing {
		e.p.Log.Warn("the end could not be said on the task", "error", failed)
	}
	return w.refused(failed), nil
}

// waited reports whether the open intent was tried in so many runs, and for so long, that what the
// forge says now may be taken for its last word. Runs alone say little: a loop has five within seconds.
func (e *Engine) waited(runs int) bool {
	return e.state.OpenRuns >= runs && e.state.Open != nil && e.p.Now().Sub(e.state.Open.Time) >= maxWait
}

// maxWait is how long a forge that does not do its part is waited for, at least: a used-up limit lasts an hour.
const maxWait = 6 * time.Hour

// closingRuns is in how many runs, and for maxWait at least, the forge is asked again to take a last comment or label.
const closingRuns = 20

// mayPass are refusals that somebody may take back: a permission that is missing, a
// project that moved. A locked item and an archived project stay so.
func mayPass(failed *forge.Error) bool {
	text := strings.ToLower(failed.Message)
	if strings.Contains(text, "locked") || strings.Contains(text, "archived") {
		return false
	}
	return failed.Kind == forge.Forbidden || failed.Kind == forge.Moved
}

func temporary(k forge.ErrorKind) bool {
	return k == forge.Ambiguous || k == forge.Transient || k == forge.RateLimited || k == forge.Hidden || k.NeedsPerson()
}

// findTwice looks, and looks once more after the time that the forge may need
// to list a new comment.
func (e *Engine) findTwice(ctx context.Context, find func() (event.Body, error)) (event.Body, error) {
	for first := true; ; first = false {
		found, err := find()
		var failed *forge.Error
		switch {
		case found != nil:
			return found, nil
		case errors.As(err, &failed):
			return nil, &Temporary{failed}
		case err != nil || !first:
			return nil, err
		}
		if err := e.p.Sleep(ctx, e.p.AdoptWait); err != nil {
			return nil, err
		}
	}
}
