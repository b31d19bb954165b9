package contexts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// bringTask brings the context that the cluster knows for a task. One that was never made is made
// impossible, since its maker may be asleep, if this worker holds the lock of the task. For others
// it may just be being made.
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
	last, err := s.lastMade(ctx, of.UUID, s.o.Member.Holds(keyLock(task)))
	if err != nil || last == 0 {
		return err
	}
	lock, err := s.lockUnlessHere(ctx, of.UUID)
	if err != nil || lock == nil {
		return err
	}
	defer lock.Close()
	if _, _, err = s.bring(of.UUID, last); errors.Is(err, ErrUnknown) {
		return nil
	}
	return err
}

// lockUnlessHere takes the lock of a context here. It is nil if another one has it and the context is here: its
// holder keeps it whole. One that is not here is just being brought.
func (s *Store) lockUnlessHere(ctx context.Context, uuid string) (io.Closer, error) {
	for {
		lock, err := s.lock(uuid + ".lock")
		if !errors.Is(err, ErrBusy) {
			return lock, err
		}
		found, err := s.dirsWith(uuid)
		if err != nil || len(found) > 0 {
			return nil, err
		}
		if err := pause(ctx, bringPause); err != nil {
			return nil, err
		}
	}
}

// lastMade is the position of the last line of a context, 0 if it was not made. prevent keeps it
// then from being made from now on, which also finds out whether the server that was asked was behind.
func (s *Store) lastMade(ctx context.Context, uuid string, prevent bool) (pos uint64, err error) {
	for {
		last, err := s.o.Bus.Last(ctx, uuid)
		if err != nil || last.Pos > 0 {
			return last.Pos, err
		}
		if found, err := s.dirsWith(uuid); err != nil || len(found) > 0 || !prevent {
			return 0, err // if it is here, it goes to the history when it is taken
		}
		if _, err = s.o.Bus.Append(ctx, uuid, 0, []byte(void))(); !errors.Is(err, cluster.ErrStale) {
			return 0, err
		}
		if err := pause(ctx, bringPause); err != nil {
			return 0, err
		}
	}
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
