package contexts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"agent/eventlog/event"
	"agent/internal/cluster"
	"agent/internal/fsx"
)

const (
	mirrorFile = "cluster.json"
	mirrorLock = "mirror.lock"
	// mirrorEvery is how often a mirror writes how far it is, and looks again at contexts
	// that were held when a line of theirs came.
	mirrorEvery = time.Second
	// mirrorPause is how long lines are collected: those of one context are written together.
	mirrorPause = 50 * time.Millisecond
	mirrorMost  = 256
	// catchUpEvery is how often it is looked how far another goroutine or process is.
	catchUpEvery = 2 * time.Millisecond
)

// mirrored is the content of cluster.json. It may be deleted: the mirror then reads all.
type mirrored struct {
	Pos  uint64 `json:"pos"`            // of the last line that was looked at
	Redo uint64 `json:"redo,omitempty"` // of the first line that could not be written: what follows next begins there
}

// mirror keeps the copies here of contexts that other workers hold.
type mirror struct {
	s        *Store
	at       mirrored
	behind   map[string]uint64    // contexts that did not get a line: its position, or 0 if they were held here, whose holder has it
	spending map[string]*Spending // of contexts whose model call is open
}

// Mirror follows the cluster's history until ctx ends: lists, and all commands that only
// read, then know the contexts of all workers, and signals that were left elsewhere arrive
// here. Of several processes with one store one mirrors, and the others wait to take over.
func (s *Store) Mirror(ctx context.Context) error {
	var keys sync.WaitGroup
	defer keys.Wait()
	keys.Go(func() { s.mirrorKeys(ctx, "signals/", s.mirrorSignal) })
	keys.Go(func() { s.mirrorKeys(ctx, forgotten, s.mirrorForgotten) })
	for ctx.Err() == nil {
		lock, err := s.lock(mirrorLock)
		if err == nil {
			err = errors.Join(s.newMirror().follow(ctx), lock.Close())
		}
		if err != nil && !errors.Is(err, ErrBusy) && ctx.Err() == nil {
			s.o.Warn(fmt.Errorf("the copies of other workers' contexts: %w", err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(mirrorEvery):
		}
	}
	return nil
}

// CatchUp brings the store to where the history is now. Where another process mirrors, it
// waits for that one.
func (s *Store) CatchUp(ctx context.Context) error {
	err := s.catchUp(ctx)
	s.behind.Store(err != nil)
	return err
}

func (s *Store) catchUp(ctx context.Context) error {
	end, err := s.o.Bus.End(ctx)
	if err != nil {
		return err
	}
	for {
		if at := max(s.followed.Load(), s.readMirrored().Pos); at >= end {
			if end, err = s.o.Bus.End(ctx); err != nil || at <= end {
				return err // the other one has gone on meanwhile
			}
		}
		lock, err := s.lock(mirrorLock)
		if err == nil {
			m := s.newMirror()
			if m.at.Pos > end { // another history, or one that lost its end
				m.at = mirrored{}
			}
			return errors.Join(m.upTo(ctx, end), lock.Close())
		}
		if !errors.Is(err, ErrBusy) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(catchUpEvery):
		}
	}
}

func (s *Store) newMirror() *mirror {
	at := s.readMirrored()
	if at.Redo > 0 {
		at.Pos = at.Redo - 1
	}
	return &mirror{s: s, at: at, behind: map[string]uint64{}, spending: map[string]*Spending{}}
}

func (s *Store) readMirrored() (at mirrored) {
	data, err := fsx.ReadFile(s.fs, mirrorFile, 1<<10)
	if err != nil || json.Unmarshal(data, &at) != nil {
		return mirrored{}
	}
	return at
}

func (m *mirror) follow(ctx context.Context) error {
	defer m.s.followed.Store(0) // another process may go on, in another history
	defer m.save()
	lines := make(chan cluster.Line, mirrorMost)
	ended := make(chan error, 1)
	within, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer close(lines)
		for line, err := range m.s.o.Bus.Follow(within, m.at.Pos+1) {
			if err != nil {
				ended <- err
				return
			}
			select {
			case lines <- line:
			case <-within.Done():
				return
			}
		}
	}()
	tick := time.NewTicker(mirrorEvery)
	defer tick.Stop()
	var more []cluster.Line
	flush := time.NewTicker(mirrorPause)
	defer flush.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			if errors.Is(err, cluster.ErrMissing) { // another history, or one that lost its end
				m.at = mirrored{}
			}
			return err
		case line, ok := <-lines:
			if !ok {
				lines = nil
				continue
			}
			if more = append(more, line); len(more) < mirrorMost {
				continue
			}
			if err := m.takeAll(ctx, &more); err != nil {
				return err
			}
		case <-flush.C:
			if err := m.takeAll(ctx, &more); err != nil {
				return err
			}
		case <-tick.C:
			m.again(ctx)
			m.save()
		}
	}
}

// upTo takes the lines up to a position.
func (m *mirror) upTo(ctx context.Context, end uint64) error {
	defer m.save()
	var more []cluster.Line
	for line, err := range m.s.o.Bus.Follow(ctx, m.at.Pos+1) {
		if err != nil {
			return errors.Join(err, m.takeAll(ctx, &more))
		}
		more = append(more, line)
		if line.Pos >= end {
			break
		}
		if len(more) < mirrorMost {
			continue
		}
		if err := m.takeAll(ctx, &more); err != nil {
			return err
		}
	}
	return m.takeAll(ctx, &more)
}

// save notes how far the mirror is.
func (m *mirror) save() {
	m.at.Redo = 0
	for _, pos := range m.behind {
		if pos > 0 && (m.at.Redo == 0 || pos < m.at.Redo) {
			m.at.Redo = pos
		}
	}
	if m.s.readMirrored() == m.at {
		return
	}
	data, err := json.Marshal(m.at)
	if err == nil {
		err = m.s.put(mirrorFile, append(data, '\n'), m.s.fs.Rename)
	}
	if err != nil {
		m.s.o.Warn(err)
	}
}

// again looks at contexts that were held when a line of theirs came.
func (m *mirror) again(ctx context.Context) {
	for uuid := range m.behind {
		lock, err := m.s.lock(uuid + ".lock")
		if err != nil {
			continue
		}
		err = errors.Join(m.s.refresh(ctx, uuid), lock.Close())
		if err != nil && ctx.Err() == nil {
			m.s.o.Warn(fmt.Errorf("%s: %w", uuid, err))
		}
		if err == nil || ExitCode(err) == ExitDamage {
			delete(m.behind, uuid)
		}
	}
}

// relocate moves a context to where its log sends it, for the holder of its lock here.
func (s *Store) relocate(uuid string) error {
	c, err := s.hold(uuid, func(*Context) func(event.Event) error { return nil })
	if err != nil {
		return err
	}
	return errors.Join(c.Relocate(), c.closeLog())
}

// refresh makes the copy here what the history is. What only the copy here has stays: its
// owner will say.
func (s *Store) refresh(ctx context.Context, uuid string) error {
	last, err := s.o.Bus.Last(ctx, uuid)
	if err != nil || last.Pos == 0 {
		return err
	}
	found, err := s.dirsWith(uuid)
	if err != nil {
		return err
	}
	switch {
	case string(last.Data) == void:
		if err := s.setAside(ctx, uuid, found); !errors.Is(err, ErrUnknown) {
			return err
		}
		return nil
	case len(found) == 0:
		return s.receive(ctx, uuid)
	}
	if _, rec, err := s.lastOf(uuid); err == nil && string(rec.Line) == string(last.Data) {
		return nil
	}
	d, err := s.compare(ctx, uuid, found[0])
	if err != nil || !d.behind || len(d.more) > 0 && !d.parted {
		return err
	}
	if err := s.complete(ctx, uuid, found[0], d); err != nil {
		return err
	}
	return s.relocate(uuid)
}
