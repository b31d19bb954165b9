package contexts

import (
	"cmp"
	"context"
	"encoding/json"
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
func (s *Store) bring(uuid string) (pos uint64, healed int, err error) {
	ctx, cancel := shared()
	defer cancel()
	last, err := s.o.Bus.Last(ctx, uuid)
	if err != nil {
		return 0, 0, err
	}
	found, err := s.dirsWith(uuid)
	if err != nil {
		return 0, 0, err
	}
	switch {
	case string(last.Data) == void:
		return 0, 0, s.setAside(ctx, uuid, found)
	case last.Pos == 0 && len(found) == 0:
		return 0, 0, s.nowhere(uuid)
	case last.Pos == 0:
		return s.publish(ctx, uuid)
	case len(found) == 0:
		return last.Pos, 0, s.receive(ctx, uuid)
	}
	if _, rec, err := s.lastOf(uuid); err == nil && string(rec.Line) == string(last.Data) {
		return last.Pos, 0, nil
	}
	return s.reconcile(ctx, uuid, found[0])
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

// reconcile makes the copies equal: each gets what it lacks.
func (s *Store) reconcile(ctx context.Context, uuid string, at Dir) (pos uint64, healed int, err error) {
	d, err := s.compare(ctx, uuid, at)
	switch {
	case err != nil:
		return 0, 0, err
	case len(d.more) > 0 && !d.parted:
		return s.send(ctx, uuid, d.pos, d.more)
	case !d.behind:
		return d.pos, 0, nil
	}
	if err := s.complete(ctx, uuid, at, d); err != nil {
		return 0, 0, err
	}
	last, err := s.o.Bus.Last(ctx, uuid)
	return last.Pos, 0, err
}

// complete gives the copy here what it lacks. One that is only behind gets the lines that
// follow; there is nothing to put aside.
func (s *Store) complete(ctx context.Context, uuid string, at Dir, d difference) error {
	if d.broken || len(d.more) > 0 {
		return s.restore(ctx, uuid, at)
	}
	var lines [][]byte
	for line, err := range s.o.Bus.Lines(ctx, uuid, d.pos+1) {
		if err != nil {
			return err
		}
		lines = append(lines, slices.Clone(line.Data))
	}
	follows, err := eventlog.Extend(s.fs, pathOf(at, uuid), lines)
	if err != nil && !isMissing(err) {
		return err
	}
	if !follows { // or it is archived
		return s.restore(ctx, uuid, at)
	}
	return s.dropProjections(pathOf(at, uuid))
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

// markerKey is where the cluster keeps the key of the comment markers.
const markerKey = "marker"

// sharedMarkerKey is the key of the cluster, which is that of the machine that came first.
func (s *Store) sharedMarkerKey(own []byte) ([]byte, error) {
	ctx, cancel := shared()
	defer cancel()
	for {
		v, err := s.o.Bus.Key(ctx, markerKey)
		if err == nil {
			if len(v.Data) != keySize {
				return nil, &DamageError{Name: markerKey, Reason: "the cluster's key has the wrong length"}
			}
			return v.Data, nil
		}
		if errors.Is(err, cluster.ErrMissing) {
			_, err = s.o.Bus.SetKey(ctx, markerKey, own, 0)
		}
		if err != nil && !errors.Is(err, cluster.ErrStale) {
			return nil, err
		}
	}
}

// Workers are the machines that take tasks of the cluster; none where this one is alone.
func (s *Store) Workers() ([]cluster.Info, error) {
	if s.o.Bus == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), workersTime)
	defer cancel()
	return cluster.Workers(ctx, s.o.Bus)
}

// workersTime bounds what a command that only shows waits for.
const workersTime = 5 * time.Second
