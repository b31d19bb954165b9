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
	"agent/internal/git"
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

// sweep discards what a process left that was killed in a command of git, or after the end of a
// context. Only logs of contexts that are done are read for it.
func (r *round) sweep() {
	git.RemoveLeftovers(time.Now())
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

// upkeepTime bounds what a round does beside its tasks. The next one goes on with it.
const upkeepTime = 10 * time.Second

// upkeep does what is not urgent. Nothing depends on it.
func (r *round) upkeep(ctx context.Context) {
	if err := r.Store.CheckPart(ctx, time.Now()); err != nil && ctx.Err() == nil {
		r.Log.Warn("contexts that ended could not be checked", "error", err)
	}
	r.collectDaily(ctx)
}

// collectDaily does what gc does, once a day. A backlog takes several rounds.
func (r *round) collectDaily(ctx context.Context) {
	if contexts.Day(time.Now()) == contexts.Day(r.Store.LastCollected().Time) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, upkeepTime)
	defer cancel()
	report, err := retention.Collect(ctx, r.Config, r.Store, false, nil, nil)
	switch {
	case err == nil:
		r.Log.Info("old contexts were collected", "archived", report.Archived, "removed", report.Removed, "clones", report.Clones,
			"kept", report.Inheritable, "busy", report.Busy, "problems", report.Problems)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.Log.Info("the next round goes on to collect old contexts", "archived", report.Archived, "removed", report.Removed, "clones", report.Clones)
	case ctx.Err() == nil && !errors.Is(err, contexts.ErrBusy):
		r.Log.Warn("old contexts could not be collected", "error", err)
	}
}
