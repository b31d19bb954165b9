package contexts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/cluster"
	"agent/internal/fsx"
	"agent/projections"
)

const (
	mirrorFile = "cluster.json"
	mirrorLock = "mirror.lock"
	// mirrorEvery is how often a mirror writes how far it is, and looks again at contexts
	// that were held when a line of theirs came.
	mirrorEvery = time.Second
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
	lines := make(chan cluster.Line)
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
			if err := m.take(ctx, line); err != nil {
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
	for line, err := range m.s.o.Bus.Follow(ctx, m.at.Pos+1) {
		if err == nil {
			err = m.take(ctx, line)
		}
		if err != nil || line.Pos >= end {
			return err
		}
	}
	return nil
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

// take takes over one line. One context that is broken does not hold up the others.
func (m *mirror) take(ctx context.Context, line cluster.Line) error {
	err := m.apply(ctx, line)
	switch {
	case errors.Is(err, ErrBusy):
		if _, known := m.behind[line.UUID]; !known {
			m.behind[line.UUID] = 0
		}
	case ExitCode(err) == ExitIO, ExitCode(err) == ExitTemporary && !errors.Is(err, cluster.ErrUnreachable):
		if m.behind[line.UUID] == 0 {
			m.behind[line.UUID] = line.Pos
		}
	case err != nil && (ctx.Err() != nil || errors.Is(err, cluster.ErrUnreachable)):
		return err
	case err != nil:
		m.s.o.Warn(fmt.Errorf("%s: %w", line.UUID, err))
	}
	m.at.Pos = line.Pos
	m.s.followed.Store(line.Pos)
	return nil
}

func (m *mirror) apply(ctx context.Context, line cluster.Line) error {
	if !canonical(line.UUID) {
		return nil
	}
	if string(line.Data) != void {
		m.spend(line)
	}
	lock, err := m.s.lock(line.UUID + ".lock")
	if err != nil {
		return err
	}
	defer lock.Close()
	found, err := m.s.dirsWith(line.UUID)
	if err != nil {
		return err
	}
	if len(found) > 0 && string(line.Data) != void {
		follows, err := eventlog.Extend(m.s.fs, pathOf(found[0], line.UUID), [][]byte{line.Data})
		if err == nil && follows {
			return m.s.extended(line, found[0])
		}
		if err != nil && !isMissing(err) {
			return err
		}
	}
	return m.s.refresh(ctx, line.UUID)
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

// extended follows a line that was added to a log.
func (s *Store) extended(line cluster.Line, at Dir) error {
	rec, err := eventlog.Parse(line.Data)
	if err != nil {
		return err
	}
	c := s.context(line.UUID, at)
	if err := c.RemoveFile(projections.MetadataFile); err != nil {
		return err // the others are another log's now
	}
	if !strings.HasPrefix(string(rec.Type), "context.") {
		return nil
	}
	return s.relocate(line.UUID)
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

// spend counts what a call of another worker has cost. What was counted is not counted again.
func (m *mirror) spend(line cluster.Line) {
	rec, err := eventlog.Parse(line.Data)
	if err != nil || !strings.HasPrefix(string(rec.Type), "llm.") {
		return
	}
	e, err := event.Decode(rec)
	if err != nil {
		return
	}
	of := m.spending[line.UUID]
	if of == nil {
		of = &Spending{}
	}
	tokens, usd, ok := of.Of(e)
	if !ok { // the call is open
		m.spending[line.UUID] = of
		return
	}
	delete(m.spending, line.UUID)
	if err := m.s.Spend(line.UUID, Call{Seq: e.Seq, Day: Day(e.Time), Tokens: tokens, USD: usd}); err != nil {
		m.s.o.Warn(err)
	}
}
