package rounds

import (
	"context"
	"errors"
	"os"
	"time"

	"agent/contexts"
	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/retention"
	"agent/internal/scratch"
	"agent/internal/workspace"
	"agent/projections"
)

// upkeepTime bounds what a look does beside its tasks. The next one goes on with it.
const upkeepTime = 10 * time.Second

// healIndex completes the index, which saves time. It is complete unless
// something unusual happened, as an update to another format: then it takes several
// looks. A context that is lost is trouble if it had not
// ended, in each round, and nothing else is done about it.
func (r *round) healIndex(ctx context.Context) {
	limited, cancel := r.within(ctx, upkeepTime)
	defer cancel()
	lost, err := r.Store.Heal(limited, nil)
	r.behind = err != nil
	switch {
	case ctx.Err() != nil:
	case limited.Err() != nil:
		r.Log.Info("the next round goes on to read logs for the index")
	case err != nil && !errors.Is(err, contexts.ErrBusy):
		r.Log.Warn("the index could not be healed", "error", err)
	}
	for _, i := range lost {
		if err := (&contexts.LostError{UUID: i.UUID}); i.Over() {
			r.Log.Warn(err.Error())
		} else {
			r.trouble(i.UUID, err)
			key, _ := forge.ParseTaskKey(i.TaskKey, app.Hosts(r.Config)...)
			r.tellDamage(ctx, "", key, err)
		}
	}
}

// discard removes the working copy of a context whose work was published.
func (r *round) discard(state *projections.State) {
	if err := workspace.Discard(r.Config.WorkspacesDir, state); err != nil {
		r.Log.Warn("working copy could not be removed", "error", err)
	}
}

// sweep discards what processes left that were killed in a command of git, and, once a day, what they left after
// the end of a context. Only what completed can have been published: no other log is read.
func (r *round) sweep(ctx context.Context, now time.Time) {
	scratch.RemoveLeft(now)
	for _, uuid := range workspace.RemoveLeft(r.Config.WorkspacesDir, now, r.began) {
		if err := app.Caches(r.Config).Forget(ctx, uuid); err != nil {
			r.Log.Warn("caches of a context that never began could not be removed", "error", err)
		}
	}
	if r.swept == contexts.Day(now) {
		return
	}
	r.swept = contexts.Day(now)
	left, err := os.ReadDir(r.Config.WorkspacesDir)
	if err != nil {
		return // none was made yet
	}
	for _, dir := range left {
		if place, err := r.Store.DirOf(dir.Name()); err != nil || place != contexts.Completed {
			continue
		}
		if info, err := r.Store.Info(dir.Name()); err != nil || info.State != contexts.StateCompleted {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		state, err := engine.ReadState(r.Store, dir.Name())
		if err == nil && state.Created != nil {
			r.discard(state)
		}
	}
}

// began reports whether a context is there, or may be.
func (r *round) began(uuid string) bool {
	_, err := r.Store.DirOf(uuid)
	return !errors.Is(err, contexts.ErrUnknown)
}

// upkeep does what is not urgent. Nothing depends on it.
func (r *round) upkeep(ctx context.Context) {
	limited, cancel := r.within(ctx, upkeepTime)
	defer cancel()
	r.sweep(limited, time.Now())
	if err := r.Store.ClearLate(); err != nil {
		r.Log.Warn("signals that came too late could not be removed", "error", err)
	}
	if err := r.Store.CheckPart(limited, time.Now()); err != nil && ctx.Err() == nil {
		r.Log.Warn("contexts that ended could not be checked", "error", err)
	}
	r.collectDaily(ctx, limited)
}

// collectDaily does what gc does, once a day. A backlog takes several rounds.
func (r *round) collectDaily(ctx, limited context.Context) {
	if r.behind || limited.Err() != nil {
		return // without an index all logs would be read first
	}
	if contexts.Day(time.Now()) == contexts.Day(r.Store.LastCollected().Time) {
		return
	}
	report, err := retention.Collect(limited, r.Config, r.Store, false, nil, nil)
	switch {
	case err == nil:
		r.Log.Info("old contexts were collected", "archived", report.Archived, "removed", report.Removed, "clones", report.Clones,
			"kept", report.Inheritable, "busy", report.Busy, "problems", report.Problems)
	case ctx.Err() != nil:
	case limited.Err() != nil:
		r.Log.Info("the next round goes on to collect old contexts", "archived", report.Archived, "removed", report.Removed, "clones", report.Clones)
	case !errors.Is(err, contexts.ErrBusy):
		r.Log.Warn("old contexts could not be collected", "error", err)
	}
}
