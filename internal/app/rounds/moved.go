package rounds

import (
	"context"
	"errors"

	"agent/forge"
	"agent/handlers/engine"
	"agent/handlers/policy"
	"agent/internal/app"
	"agent/internal/sanitize"
	"agent/projections"
)

// movedTo is the new address that a forge named for an item, if tasks are taken there.
func movedTo(at app.Site, err error) (to forge.TaskKey, moved bool) {
	var m *forge.Error
	if !errors.As(err, &m) || m.Kind != forge.Moved || m.To.Host != at.Host || m.Transferred && !at.Takes(m.To) {
		return to, false
	}
	return m.To, true
}

// outside reports whether the configuration does not name a context's project any more,
// under any of its names. A person may name a task of any project. The error is of a forge
// that does not say now where the old address leads.
func outside(ctx context.Context, at app.Site, s *projections.State) (bool, error) {
	if at.Config.Driver.Local || s.Created.Trigger == policy.ByCommand || at.Takes(s.Key) {
		return false, nil
	}
	_, err := at.Client.Task(ctx, s.Key)
	if passes(err) {
		return false, unread(err)
	}
	to, moved := movedTo(at, err)
	return !moved || !at.Takes(to), nil
}

// outsideError is a context whose project is not configured any more.
type outsideError struct {
	uuid string
	key  forge.TaskKey
}

func (e *outsideError) Error() string { return e.key.Project + " is not configured" }

// locate reads the item of a context wherever it is now. The engine notes the new address
// when it goes on with the work.
func locate(ctx context.Context, at app.Site, s *projections.State) (forge.Task, error) {
	t, err := at.Client.Task(ctx, s.Key)
	if to, moved := movedTo(at, err); moved {
		return at.Client.Task(ctx, to)
	}
	return t, engine.Identify(ctx, at.Client, s, t, err)
}

// movedHere looks for the live context of an item that was begun at another address:
// under an earlier name of its project, or in another project. found is true if the item
// is known by its id, whatever the earlier address leads to. The error is of a forge that
// does not say now where an earlier address leads: then a second context must not begin.
func (r *round) movedHere(ctx context.Context, j job) (uuid string, found bool, err error) {
	var here *forge.Task
	for entry, err := range r.Store.Unfinished() {
		if err != nil {
			continue // it is said where unfinished contexts are looked at
		}
		first, err := r.Store.Creation(entry.UUID)
		if err != nil {
			continue
		}
		if fork, err := r.Store.ForkOf(entry.UUID); err != nil || fork != nil && !fork.Live {
			continue
		}
		old, err := forge.ParseTaskKey(first.TaskKey, first.Forge)
		if err != nil || old.Host != j.key.Host || old.Kind != j.key.Kind {
			continue
		}
		if here == nil {
			t, err := j.at.Client.Task(ctx, j.key)
			if passes(err) {
				return "", false, unread(err)
			}
			if err != nil {
				return "", false, ctx.Err() // beginning the task reports it
			}
			here = &t
		}
		alike := first.User == here.Author.Login && first.Title == sanitize.Line(here.Title, 500)
		if old.Number != j.key.Number && !alike {
			continue
		}
		is, found, err := r.isHere(ctx, j, entry.UUID, here)
		if is || err != nil {
			return entry.UUID, found, err
		}
	}
	return "", false, ctx.Err()
}

// isHere tells whether a live context is about the item of a job, and whether its id says so.
func (r *round) isHere(ctx context.Context, j job, uuid string, here *forge.Task) (is, found bool, err error) {
	s, _, err := r.sleeper(uuid)
	if err != nil || s.Status.Ended() {
		return false, false, nil
	}
	now := s.Key
	switch {
	case forge.CompareKeys(now.String(), j.key.String()) == 0:
		return true, false, nil
	case s.Item != "" && s.Item == here.ID:
		return true, true, nil
	}
	_, err = j.at.Client.Task(ctx, now)
	if passes(err) {
		return false, false, unread(err)
	}
	now, _ = movedTo(j.at, err)
	return forge.CompareKeys(now.String(), j.key.String()) == 0, false, ctx.Err()
}

// passes is true for an error of a forge that says nothing about the item.
func passes(err error) bool {
	var failed *forge.Error
	if !errors.As(err, &failed) {
		return err != nil
	}
	return failed.Kind == forge.Transient || failed.Kind == forge.RateLimited || failed.Kind == forge.Ambiguous
}
