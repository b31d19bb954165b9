package contexts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"agent/eventlog"
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
	behind   map[string]missed    // contexts that did not get a line
	spending map[string]*Spending // of contexts whose model call is open
}

// missed are lines that a context did not get.
type missed struct {
	first uint64 // position of the first, 0 if it was held here: its holder has it
	last  uint64 // position of the last
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

// catchUpAll is CatchUp that also tries once more to write lines that could not be written. Every
// command would be slow if it did that: some may never be written.
func (s *Store) catchUpAll(ctx context.Context) error {
	err := s.catchUp(ctx)
	if err == nil && s.readMirrored().Redo > 0 {
		var lock io.Closer
		if lock, err = s.lock(mirrorLock); errors.Is(err, ErrBusy) {
			return nil // the one that mirrors tries by itself
		}
		if err == nil {
			err = errors.Join(s.newMirror().upTo(ctx, s.readMirrored().Pos), lock.Close())
		}
	}
	s.behind.Store(err != nil)
	return err
}

func (s *Store) catchUp(ctx context.Context) error {
	end, lost, err := s.end(ctx)
	if err != nil {
		return err
	}
	for {
		switch at := s.mirroredTo(); {
		case at < end:
			lost = false
		case at == end || !lost: // who mirrors may have gone on meanwhile
			return nil
		}
		lock, err := s.lock(mirrorLock)
		if err == nil {
			return errors.Join(s.newMirror().catchUp(ctx, end, lost), lock.Close())
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

// catchUp takes the lines up to the end of the history. lost says that it is another history than the
// one that was followed, or has lost its end.
func (m *mirror) catchUp(ctx context.Context, end uint64, lost bool) error {
	if m.at.Pos > end && lost {
		m.at = mirrored{}
	}
	if m.at.Pos >= end {
		m.save()
		return nil
	}
	return m.upTo(ctx, end)
}

// mirroredTo is how far the mirror of this process or of another one is.
func (s *Store) mirroredTo() uint64 { return max(s.followed.Load(), s.readMirrored().Pos) }

// end is where the history ends. That it ends before what is here already is doubted, and if it
// stays so it has lost lines.
func (s *Store) end(ctx context.Context) (end uint64, lost bool, err error) {
	err = doubt(ctx, func() (behind bool, err error) {
		at := s.mirroredTo()
		end, err = s.o.Bus.End(ctx)
		lost = err == nil && end < at
		return lost, err
	})
	return end, lost, err
}

func (s *Store) newMirror() *mirror {
	at := s.readMirrored()
	if at.Redo > 0 {
		at.Pos = at.Redo - 1
	}
	return &mirror{s: s, at: at, behind: map[string]missed{}, spending: map[string]*Spending{}}
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
	for _, lines := range m.behind {
		if lines.first > 0 && (m.at.Redo == 0 || lines.first < m.at.Redo) {
			m.at.Redo = lines.first
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

// again looks at contexts that did not get a line.
func (m *mirror) again(ctx context.Context) {
	for uuid, lines := range m.behind {
		lock, err := m.s.lock(uuid + ".lock")
		if err != nil {
			continue
		}
		whole, err := m.s.refreshOnce(ctx, uuid, lines.last)
		err = errors.Join(err, lock.Close())
		if err != nil && ctx.Err() == nil {
			m.s.o.Warn(fmt.Errorf("%s: %w", uuid, err))
		}
		if err == nil && whole || ExitCode(err) == ExitDamage {
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

// Refresh makes the copy here of a context what the history is now, for who may have lost it. One that is
// worked on here is that already.
func (s *Store) Refresh(ctx context.Context, uuid string) error {
	if s.o.Member == nil {
		return nil
	}
	if err := s.CatchUp(ctx); err != nil {
		return err
	}
	var lock io.Closer
	err := doubt(ctx, func() (busy bool, err error) { // it may just be mirrored
		if lock, err = s.lock(uuid + ".lock"); errors.Is(err, ErrBusy) {
			return true, nil
		}
		return false, err
	})
	if err != nil || lock == nil {
		return err
	}
	defer lock.Close()
	last, err := s.o.Bus.Last(ctx, uuid)
	if err != nil {
		return err
	}
	return s.refresh(ctx, uuid, last.Pos)
}

// refresh makes the copy here what the history is, which is known to have a line at a position: a
// server that is behind gives fewer. What only the copy here has stays: its owner will say.
func (s *Store) refresh(ctx context.Context, uuid string, pos uint64) error {
	whole := false
	err := doubt(ctx, func() (_ bool, err error) {
		whole, err = s.refreshOnce(ctx, uuid, pos)
		return !whole, err
	})
	if err == nil && !whole {
		err = fmt.Errorf("%s: no server gives line %d: %w", uuid, pos, cluster.ErrUnreachable)
	}
	return err
}

// refreshOnce reports whether the copy here has all that the history has.
func (s *Store) refreshOnce(ctx context.Context, uuid string, pos uint64) (whole bool, err error) {
	last, err := s.o.Bus.Last(ctx, uuid)
	if err != nil || last.Pos < pos || last.Pos == 0 {
		return err == nil && last.Pos >= pos, err
	}
	found, err := s.dirsWith(uuid)
	if err != nil {
		return false, err
	}
	switch {
	case string(last.Data) == void:
		if err := s.setAside(ctx, uuid, found); !errors.Is(err, ErrUnknown) {
			return false, err
		}
		return true, nil
	case len(found) == 0:
		err = s.receive(ctx, uuid)
	default:
		err = s.follow(ctx, uuid, found[0], last)
	}
	if err != nil {
		return false, err
	}
	// Nothing is awaited of a log that cannot be read.
	wanted, err := eventlog.Parse(last.Data)
	_, rec, unread := s.lastOf(uuid)
	return err != nil || unread != nil || rec.Seq >= wanted.Seq, nil
}

// follow gives a copy that is behind what it lacks.
func (s *Store) follow(ctx context.Context, uuid string, at Dir, last cluster.Line) error {
	if _, rec, err := s.lastOf(uuid); err == nil && string(rec.Line) == string(last.Data) {
		return nil
	}
	d, err := s.compare(ctx, uuid, at)
	if err != nil || !d.behind || len(d.more) > 0 && !d.parted {
		return err
	}
	if err := s.complete(ctx, uuid, at, d); err != nil {
		return err
	}
	return s.relocate(uuid)
}
