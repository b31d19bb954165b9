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
	"agent/internal/workspace"
	"agent/projections"
)

// healIndex completes the index, which saves time. It is complete unless
// something unusual happened. A context that is lost is trouble if it had not
// ended, in each round, and nothing else is done about it.
func (r *round) healIndex(ctx context.Context) {
	lost, err := r.Store.Heal(nil)
	if err != nil && !errors.Is(err, contexts.ErrBusy) {
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

// sweep discards what a process left that was killed after the end of a
// context. Only logs of contexts that are done are read for it.
func (r *round) sweep() {
	left, err := os.ReadDir(r.Config.WorkspacesDir)
	if err != nil {
		return // none was made yet
	}
	for _, dir := range left {
		if place, err := r.Store.DirOf(dir.Name()); err != nil || place != contexts.Completed {
			continue
		}
		state, err := engine.ReadState(r.Store, dir.Name())
		if err == nil && state.Created != nil {
			r.discard(state)
		}
	}
}

// collectDaily does what gc does, once a day. Nothing depends on it.
func (r *round) collectDaily(ctx context.Context) {
	if contexts.Day(time.Now()) == contexts.Day(r.Store.LastCollected().Time) {
		return
	}
	report, err := retention.Collect(ctx, r.Config, r.Store, false, nil, nil)
	switch {
	case err == nil:
		r.Log.Info("old contexts were collected", "archived", report.Archived, "removed", report.Removed, "clones", report.Clones,
			"kept", report.Inheritable, "busy", report.Busy, "problems", report.Problems)
	case ctx.Err() == nil && !errors.Is(err, contexts.ErrBusy):
		r.Log.Warn("old contexts could not be collected", "error", err)
	}
}
