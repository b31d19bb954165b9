package contexts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/cluster"
)

// Which context works on a task is a key of the cluster that is compared and set.

// taskKey is the key that says which context works on a task.
func taskKey(task string) string { return "tasks/" + keyLock(task) }

// taken is its content.
type taken struct {
	UUID string `json:"uuid"`
	Task string `json:"task"`
}

// ofTaskShared reads which context the cluster knows for a task, with the revision that
// says so.
func (s *Store) ofTaskShared(ctx context.Context, task string) (of taken, revision uint64, err error) {
	v, err := s.o.Bus.Key(ctx, taskKey(task))
	if errors.Is(err, cluster.ErrMissing) {
		return taken{}, 0, nil
	}
	if err == nil {
		err = json.Unmarshal(v.Data, &of)
	}
	return of, v.Revision, err
}

// bringTask brings the context that the cluster knows for a task, for the holder of the
// task's lock. One that was never made is made impossible: its maker may be asleep.
func (s *Store) bringTask(task string) error {
	ctx, cancel := shared()
	defer cancel()
	of, revision, err := s.ofTaskShared(ctx, task)
	if err != nil {
		return err
	}
	s.claims.Store(keyLock(task), revision)
	if of.UUID == "" {
		return nil
	}
	last, err := s.o.Bus.Last(ctx, of.UUID)
	if err == nil && last.Pos == 0 {
		found, err := s.dirsWith(of.UUID)
		if err != nil || len(found) > 0 {
			return err // it is here, and goes to the history when it is taken
		}
		_, err = s.o.Bus.Append(ctx, of.UUID, 0, []byte(void))()
		if err == nil || !errors.Is(err, cluster.ErrStale) {
			return err
		}
	}
	if err != nil {
		return err
	}
	lock, err := s.lock(of.UUID + ".lock")
	if errors.Is(err, ErrBusy) {
		return nil // its holder keeps it whole
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, _, err = s.bring(of.UUID); errors.Is(err, ErrUnknown) {
		return nil
	}
	return err
}

// claim says that a context is that of its task, before it is made: of two that are made
// at the same time one is refused, whatever became of the lock.
func (s *Store) claim(ctx context.Context, uuid, task string) error {
	known, ok := s.claims.LoadAndDelete(keyLock(task)) // when it was looked for a live one
	revision, _ := known.(uint64)
	if !ok {
		of, now, err := s.ofTaskShared(ctx, task)
		if err != nil || of.UUID == uuid {
			return err
		}
		revision = now
	}
	data, err := json.Marshal(taken{uuid, task})
	if err == nil {
		_, err = s.o.Bus.SetKey(ctx, taskKey(task), data, revision)
	}
	if errors.Is(err, cluster.ErrUnreachable) {
		if of, _, again := s.ofTaskShared(ctx, task); again == nil && of.UUID == uuid {
			return nil
		}
	}
	return busyIfHeld(err)
}

// unclaim says that no context is that of a task any more, if this one is.
func (s *Store) unclaim(ctx context.Context, uuid, task string) error {
	of, revision, err := s.ofTaskShared(ctx, task)
	if err != nil || of.UUID != uuid {
		return err
	}
	if err := s.o.Bus.DeleteKey(ctx, taskKey(task), revision); !errors.Is(err, cluster.ErrStale) {
		return err
	}
	return nil // it has another one now
}

// publish gives the history a context that it does not have: one of before this machine
// was a worker, a fork, or one whose maker died on the way.
func (s *Store) publish(ctx context.Context, uuid string) (pos uint64, healed int, err error) {
	if gone, err := s.wasForgotten(ctx, uuid); gone || err != nil {
		return 0, 0, errors.Join(err, fmt.Errorf("%s was forgotten: %w", uuid, ErrUnknown))
	}
	d, err := s.descent(uuid)
	if err != nil {
		return 0, 0, err
	}
	at, err := s.locate(uuid)
	if err != nil {
		return 0, 0, err
	}
	var lines [][]byte
	for rec, err := range eventlog.ReadFile(s.fs, pathOf(at, uuid)) {
		var torn *eventlog.TornError
		if errors.As(err, &torn) {
			break
		}
		if err != nil {
			return 0, 0, err
		}
		lines = append(lines, slices.Clone(rec.Line))
	}
	if at != Completed && (d.fork == nil || d.fork.Live) {
		of, _, err := s.ofTaskShared(ctx, d.first.TaskKey)
		switch {
		case err != nil:
			return 0, 0, err
		case of.UUID == "" || of.UUID == uuid:
			if err := s.claim(ctx, uuid, d.first.TaskKey); err != nil {
				return 0, 0, err
			}
		case len(lines) == 1:
			return 0, 0, s.setAside(ctx, uuid, []Dir{at})
		default:
			return 0, 0, &DamageError{Name: pathOf(at, uuid), Reason: "in the cluster another context works on its task: " + of.UUID}
		}
	}
	if err := s.upload(uuid, pathOf(at, uuid)); err != nil {
		return 0, 0, err
	}
	pos, _, err = s.send(ctx, uuid, 0, lines)
	return pos, 0, err
}

// announce gives the history the first line of a context that is being made.
func (s *Store) announce(first *event.ContextCreated, staged string) (pos uint64, err error) {
	ctx, cancel := shared()
	defer cancel()
	if err := s.claim(ctx, first.UUID, first.TaskKey); err != nil {
		return 0, err
	}
	for rec, err := range eventlog.ReadFile(s.fs, staged) {
		if err != nil {
			return 0, err
		}
		pos, err = s.o.Bus.Append(ctx, first.UUID, 0, rec.Line)()
		return pos, busyIfHeld(err)
	}
	return 0, &DamageError{Name: staged, Reason: "its log holds no event"}
}
