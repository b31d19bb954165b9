package contexts

import (
	"fmt"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

// Create makes a context whose log holds its first event, in running/. The
// caller holds the lock of the TaskKey and has seen that there is no live one.
// When it fails nothing is visible, or the whole context is (found at the next start).
func (s *Store) Create(first *event.ContextCreated, at time.Time) (*Context, error) {
	lock, err := s.lockContext(first.UUID)
	if err != nil {
		return nil, fmt.Errorf("create context: %w", err)
	}
	c, err := s.create(first, at)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("create context %s: %w", first.UUID, err)
	}
	c.lock = lock
	return c, nil
}

func (s *Store) create(first *event.ContextCreated, at time.Time) (*Context, error) {
	found, err := s.dirsWith(first.UUID)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return nil, fmt.Errorf("it exists in %s: %w", found[0], errTaken)
	}
	staged := stagingDir + "/" + first.UUID
	head, err := s.stage(staged, first, at)
	var pos uint64
	if err == nil && s.o.Member != nil {
		pos, err = s.announce(first, staged)
	}
	if err != nil {
		_ = s.fs.RemoveAll(staged) // best effort, else the next sweep does it
		return nil, err
	}
	info := Info{Head: head}
	info.apply(event.Event{Time: at, Body: first})
	// The index knows a context before anybody can see it.
	if err := s.note(info, func() error { return s.move(staged, pathOf(Running, first.UUID)) }); err != nil {
		if s.unmake(first.UUID) == nil {
			_ = s.fs.RemoveAll(staged) // best effort, else the next sweep does it
		}
		return nil, err
	}
	c := s.context(first.UUID, Running)
	if s.o.Member != nil {
		c.replica = &replica{bus: s.o.Bus, uuid: first.UUID, pos: pos}
	}
	return c, c.open(nil)
}

// stage builds the directory of a context with a durable first event.
func (s *Store) stage(dir string, first *event.ContextCreated, at time.Time) (eventlog.Head, error) {
	// What a dead process left there is nobody's: the lock is ours.
	if err := s.fs.RemoveAll(dir); err != nil {
		return eventlog.Head{}, err
	}
	if err := fsx.MkdirSync(s.fs, dir); err != nil {
		return eventlog.Head{}, err
	}
	log, err := eventlog.Create(s.fs, dir)
	if err != nil {
		return eventlog.Head{}, err
	}
	defer log.Close()
	draft, err := event.Draft(event.Event{Time: at, Body: first})
	if err != nil {
		return eventlog.Head{}, err
	}
	_, err = log.Append(draft)
	return log.Head(), err
}
