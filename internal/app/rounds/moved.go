package rounds

import (
	"context"
	"errors"

	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/app"
)

// movedTo is the new address that a forge named for an item, if tasks are taken there.
func movedTo(at app.Site, err error) (to forge.TaskKey, moved bool) {
	var m *forge.Error
	if !errors.As(err, &m) || m.Kind != forge.Moved || m.To.Host != at.Host || m.Transferred && !at.Takes(m.To) {
		return to, false
	}
	return m.To, true
}

// locate reads an item wherever it is now. The engine notes the new address when it
// goes on with the work.
func locate(ctx context.Context, at app.Site, key forge.TaskKey) (forge.Task, error) {
	t, err := at.Client.Task(ctx, key)
	if to, moved := movedTo(at, err); moved {
		return at.Client.Task(ctx, to)
	}
	return t, err
}

// movedHere looks for the live context of an item that was begun under an earlier name
// of its project: there it has the same number. The error is of a forge that does not
// say now where an earlier address leads: then a second context must not begin.
func (r *round) movedHere(ctx context.Context, j job) (uuid string, live bool, err error) {
	for entry, err := range r.Store.Unfinished() {
		if err != nil {
			continue // it is said where unfinished contexts are looked at
		}
		first, err := r.Store.Creation(entry.UUID)
		if err != nil {
			continue
		}
		old, err := forge.ParseTaskKey(first.TaskKey, first.Forge)
		if err != nil || old.Host != j.key.Host || old.Kind != j.key.Kind || old.Number != j.key.Number {
			continue
		}
		s, err := engine.ReadState(r.Store, entry.UUID)
		if err != nil || s.Status.Ended() {
			continue
		}
		now := s.Key
		if forge.CompareKeys(now.String(), j.key.String()) != 0 {
			_, err := j.at.Client.Task(ctx, now)
			if passes(err) {
				return "", false, unread(err)
			}
			now, _ = movedTo(j.at, err)
		}
		if forge.CompareKeys(now.String(), j.key.String()) == 0 {
			return entry.UUID, true, nil
		}
	}
	return "", false, ctx.Err()
}

// passes is true for an error of a forge that says nothing about the item.
func passes(err error) bool {
	var failed *forge.Error
	if !errors.As(err, &failed) {
		return err != nil
	}
	return failed.Kind == forge.Transient || failed.Kind == forge.RateLimited || failed.Kind == forge.Ambiguous
}
