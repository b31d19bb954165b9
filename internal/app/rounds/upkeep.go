package rounds

import (
	"context"
	"errors"
	"os"
	"time"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/internal/retention"
	"agent/internal/workspace"
	"agent/projections"
)

// healIndex completes the index, which saves time. It is complete unless
// something unusual happened.
func (r *round) healIndex() {
	if err := r.Store.Heal(nil); err != nil && !errors.Is(err, contexts.ErrBusy) {
		r.Log.Warn("the index could not be healed", "error", err)
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
	report, err := retention.Collect(ctx, r.Config, r.Store, false, nil)
	switch {
	case err == nil:
		r.Log.Info("old contexts were collected", "archived", report.Archived, "removed", report.Removed, "clones", report.Clones,
			"kept", report.Inheritable, "busy", report.Busy, "problems", report.Problems)
	case ctx.Err() == nil && !errors.Is(err, contexts.ErrBusy):
		r.Log.Warn("old contexts could not be collected", "error", err)
	}
}
