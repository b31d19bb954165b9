package contexts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/cluster"
	"agent/internal/fsx"
	"agent/projections"
)

// Where a machine is a worker of a cluster, the directory of a context is one of several
// copies. Its owner has the locks of both, and an event is acknowledged when it is durable
// here and in the cluster's history. When a context is taken, its copies are compared:
//
//	the same                     the usual case: one request tells
//	the history has more         another worker has gone on: the copy here is made again
//	the copy here has more       what the history lost, or an append that was not answered:
//	                             the history gets it
//	they part                    the history is right, if what is here was not acknowledged;
//	                             that is one line at most, since the next one waits for it
//	                             and goes to quarantine
//
// What is only to be read may be behind: [Store.Mirror] follows the history.

// sharedTime bounds what is asked of the cluster. Its leader may just be elected.
const sharedTime = 30 * time.Second

// void is the only line of a context that was never made, since whoever wanted to make it
// lost the lock of its task before, or that was removed or forgotten.
const void = "void"

func shared() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), sharedTime)
}

// both is a lock here and in the cluster.
type both struct {
	here   io.Closer
	shared *cluster.Lock
}

func (l both) Close() error { return errors.Join(l.shared.Close(), l.here.Close()) }

// lockShared takes a lock here, and in the cluster if there is one.
func (s *Store) lockShared(name string) (io.Closer, error) {
	here, err := s.lock(name + ".lock")
	if err != nil || s.o.Member == nil {
		return here, err
	}
	ctx, cancel := shared()
	defer cancel()
	there, err := s.o.Member.Lock(ctx, name)
	if err != nil {
		here.Close()
		return nil, busyIfHeld(err)
	}
	return both{here, there}, nil
}

func busyIfHeld(err error) error {
	if errors.Is(err, cluster.ErrHeld) || errors.Is(err, cluster.ErrStale) {
		return fmt.Errorf("%w: another worker of the cluster", ErrBusy)
	}
	return err
}

// replica is the history's copy of a log that is held.
type replica struct {
	bus  cluster.History
	uuid string
	pos  uint64 // of the last line
}

// Send is for [eventlog.Replica].
func (r *replica) Send(_ uint64, line []byte) (wait func() error) {
	ctx, cancel := shared()
	sent := r.bus.Append(ctx, r.uuid, r.pos, line)
	return func() error {
		defer cancel()
		pos, err := sent()
		if err != nil {
			return busyIfHeld(err)
		}
		r.pos = pos
		return nil
	}
}

// bring makes the copy here and the history one, for the holder of the lock. healed counts
// the lines that were acknowledged and that the history had lost.
//
// A position is right only for a copy that ends with the line that stands there: servers that
// answer one after another may not be equally far. So it is compared until it fits. least is the
// position of a line that the history is known to have.
func (s *Store) bring(uuid string, least uint64) (pos uint64, healed int, err error) {
	ctx, cancel := shared()
	defer cancel()
	for {
		last, err := s.o.Bus.Last(ctx, uuid)
		if err != nil {
			return 0, 0, err
		}
		found, err := s.dirsWith(uuid)
		if err != nil {
			return 0, 0, err
		}
		switch {
		case last.Pos < least: // another server has more
		case string(last.Data) == void:
			return 0, 0, s.setAside(ctx, uuid, found)
		case last.Pos == 0 && len(found) == 0:
			return 0, 0, s.nowhere(uuid)
		case last.Pos == 0:
			return s.publish(ctx, uuid)
		case len(found) == 0:
			err = s.receive(ctx, uuid)
		default:
			if _, rec, err := s.lastOf(uuid); err == nil && string(rec.Line) == string(last.Data) {
				return last.Pos, 0, nil
			}
			var equal bool
			if pos, healed, equal, err = s.reconcile(ctx, uuid, found[0], last.Pos); equal {
				return pos, healed, err
			}
		}
		if err == nil {
			err = pause(ctx, bringPause)
		}
		if err != nil {
			return 0, 0, err
		}
	}
}

// bringPause is how long a server that is behind is waited for.
const bringPause = 10 * time.Millisecond

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("the history: %w", cluster.ErrUnreachable)
	case <-time.After(d):
		return nil
	}
}

// setAside moves a context out of the way that was never made, and removes one that ended
// and was removed elsewhere, or was forgotten.
func (s *Store) setAside(ctx context.Context, uuid string, found []Dir) error {
	for _, dir := range found {
		if done, err := s.dropEnded(uuid); done || err != nil {
			return errors.Join(err, fmt.Errorf("%s: %w", uuid, ErrUnknown))
		}
		if _, err := s.quarantine(dir, uuid); err != nil {
			return err
		}
		if err := s.unmake(uuid); err != nil {
			return err
		}
	}
	gone, err := s.wasForgotten(ctx, uuid)
	if err == nil && gone {
		err = s.forgetQuarantine(uuid)
	}
	return errors.Join(err, fmt.Errorf("%s: %w", uuid, ErrUnknown))
}

// dropEnded removes the copy here of a context that has ended.
func (s *Store) dropEnded(uuid string) (done bool, err error) {
	c, err := s.hold(uuid, func(*Context) func(event.Event) error { return nil })
	if err != nil {
		return false, nil // it is kept for people to look at
	}
	if err := c.closeLog(); err != nil || !c.info.Over() {
		return false, err
	}
	return true, s.drop(c)
}

// difference is how the copy here and the history differ.
type difference struct {
	pos    uint64   // of the last line that both have
	more   [][]byte // lines that only the copy here has
	behind bool     // the history has lines that the copy here has not, or cannot read
	broken bool     // the copy here ends with what cannot be read
	parted bool     // it has others in the place of more
}

// compare reads both copies to their ends.
func (s *Store) compare(ctx context.Context, uuid string, at Dir) (d difference, err error) {
	next, stop := iter.Pull2(s.o.Bus.Lines(ctx, uuid, 0))
	defer stop()
	for rec, err := range eventlog.ReadFile(s.fs, pathOf(at, uuid)) {
		if err != nil {
			d.behind, d.broken = true, true // what follows is damaged or torn
			break
		}
		if len(d.more) == 0 {
			line, err, ok := next()
			if err != nil {
				return d, err
			}
			if ok && string(line.Data) == string(rec.Line) {
				d.pos = line.Pos
				continue
			}
			d.parted = ok
		}
		d.more = append(d.more, slices.Clone(rec.Line))
	}
	_, err, ok := next()
	d.behind = d.behind || d.parted || ok
	if d.parted && len(d.more) > 1 {
		return d, &DamageError{Name: pathOf(at, uuid), Reason: fmt.Sprintf("the cluster's history holds other events than the last %d here", len(d.more))}
	}
	return d, err
}

// reconcile makes the copies equal: each gets what it lacks. They are equal if pos is that of the
// last line here; else the copy here was completed, as far as the server that was asked knew. end is
// where the history ends as another answer has it.
func (s *Store) reconcile(ctx context.Context, uuid string, at Dir, end uint64) (pos uint64, healed int, equal bool, err error) {
	d, err := s.compare(ctx, uuid, at)
	switch {
	case err != nil:
		return 0, 0, false, err
	case len(d.more) > 0 && !d.parted:
		pos, healed, err = s.send(ctx, uuid, d.pos, d.more)
		return pos, healed, true, err
	case !d.behind:
		return d.pos, 0, d.pos == end, nil
	}
	return 0, 0, false, s.complete(ctx, uuid, at, d)
}

// complete gives the copy here what it lacks. One that is only behind gets the lines that
// follow; there is nothing to put aside.
func (s *Store) complete(ctx context.Context, uuid string, at Dir, d difference) (err error) {
	dir := pathOf(at, uuid)
	follows := !d.broken && len(d.more) == 0
	if follows {
		if follows, err = s.extend(ctx, uuid, dir, d.pos); err != nil {
			return err
		}
	}
	if !follows {
		return s.restore(ctx, uuid, at)
	}
	return s.dropProjections(dir)
}

// extendBy is how many bytes of lines are in memory at a time.
const extendBy = 4 << 20

// extend adds the lines after a position to a log. It is false for one that takes none, as
// an archived one.
func (s *Store) extend(ctx context.Context, uuid, dir string, pos uint64) (follows bool, err error) {
	var lines [][]byte
	size := 0
	add := func() bool {
		if follows, err = eventlog.Extend(s.fs, dir, lines); isMissing(err) {
			err = nil
		}
		lines, size = nil, 0
		return follows && err == nil
	}
	for line, lineErr := range s.o.Bus.Lines(ctx, uuid, pos+1) {
		if lineErr != nil {
			return false, lineErr
		}
		lines = append(lines, slices.Clone(line.Data))
		if size += len(line.Data); size >= extendBy && !add() {
			return follows, err
		}
	}
	add()
	return follows, err
}

// send gives lines to the history. The last of them may never have been acknowledged.
func (s *Store) send(ctx context.Context, uuid string, pos uint64, lines [][]byte) (uint64, int, error) {
	for _, line := range lines {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sharedTime)
		next, err := s.o.Bus.Append(ctx, uuid, pos, line)()
		cancel()
		if err != nil {
			return 0, 0, busyIfHeld(err)
		}
		pos = next
	}
	return pos, len(lines) - 1, nil
}

// restore makes the log of a context again from the history. Its projection files are
// another log's.
func (s *Store) restore(ctx context.Context, uuid string, at Dir) error {
	dir := pathOf(at, uuid)
	if err := eventlog.Restore(s.fs, dir, quarantineDir+"/"+uuid+"-replaced", s.lines(ctx, uuid)); err != nil {
		return err
	}
	if err := s.fs.Remove(path.Join(dir, eventlog.ArchiveName)); err != nil && !isMissing(err) {
		return err
	}
	return s.dropProjections(dir)
}

// dropProjections removes the first of the projection files, without which all are made again.
func (s *Store) dropProjections(dir string) error {
	if err := s.fs.Remove(path.Join(dir, projections.MetadataFile)); err != nil && !isMissing(err) {
		return err
	}
	return s.fs.SyncDir(dir)
}

func (s *Store) lines(ctx context.Context, uuid string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for line, err := range s.o.Bus.Lines(ctx, uuid, 0) {
			if !yield(line.Data, err) || err != nil {
				return
			}
		}
	}
}

// receive makes a context that only the history has.
func (s *Store) receive(ctx context.Context, uuid string) error {
	staged := pathOf(stagingDir, uuid)
	if err := s.fs.RemoveAll(staged); err != nil { // what a dead process left there is nobody's
		return err
	}
	if err := fsx.MkdirSync(s.fs, staged); err != nil {
		return err
	}
	if err := eventlog.Restore(s.fs, staged, quarantineDir+"/"+uuid, s.lines(ctx, uuid)); err != nil {
		_ = s.fs.RemoveAll(staged) // best effort, else the next sweep does it
		return err
	}
	return s.adopt(uuid, staged)
}

// adopt makes a context visible whose directory lies in .staging/.
func (s *Store) adopt(uuid, staged string) error {
	c := s.context(uuid, stagingDir)
	err := c.open(nil)
	if errors.Is(err, event.ErrNewer) { // it is kept, and left to the workers of a newer release
		return s.move(staged, pathOf(cmp.Or(c.want, Running), uuid))
	}
	if err == nil {
		err = errors.Join(c.measure(), c.closeLog())
	}
	// The index knows a context before anybody can see it.
	if err == nil {
		err = s.note(c.info, func() error { return s.move(staged, pathOf(c.want, uuid)) })
	}
	if err != nil && s.unmake(uuid) == nil {
		_ = s.fs.RemoveAll(staged) // best effort, else the next sweep does it
	}
	return err
}
