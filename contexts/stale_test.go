package contexts

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/cluster"
	"agent/internal/cluster/clustertest"
)

// elected is a bus whose leaders have just been elected: the first answers are of an old state.
type elected struct {
	cluster.Bus
	mu              sync.Mutex
	ends, lasts     int // answers that are old
	keys, objects   int
	flaps           bool // every other last line is old
	turn            int
	end             uint64        // the old one
	line            cluster.Line  // the old last one
	key             cluster.Value // the old one; none if its revision is 0
	followed, asked int           // lines that were read again, and questions for the end
}

func (b *elected) old(answers *int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	*answers--
	return *answers >= 0
}

func (b *elected) End(ctx context.Context) (uint64, error) {
	b.asked++
	if b.old(&b.ends) {
		return b.end, nil
	}
	return b.Bus.End(ctx)
}

func (b *elected) Last(ctx context.Context, uuid string) (cluster.Line, error) {
	b.turn++
	if b.old(&b.lasts) || b.flaps && b.turn%2 == 1 {
		return b.line, nil
	}
	return b.Bus.Last(ctx, uuid)
}

func (b *elected) Key(ctx context.Context, key string) (cluster.Value, error) {
	switch {
	case !b.old(&b.keys):
		return b.Bus.Key(ctx, key)
	case b.key.Revision > 0:
		return b.key, nil
	}
	return cluster.Value{}, fmt.Errorf("key %s: %w", key, cluster.ErrMissing)
}

func (b *elected) Follow(ctx context.Context, from uint64) iter.Seq2[cluster.Line, error] {
	return func(yield func(cluster.Line, error) bool) {
		for line, err := range b.Bus.Follow(ctx, from) {
			b.followed++
			if !yield(line, err) {
				return
			}
		}
	}
}

func (b *elected) ObjectNames(ctx context.Context, prefix string) ([]string, error) {
	if b.old(&b.objects) {
		return nil, nil
	}
	return b.Bus.ObjectNames(ctx, prefix)
}

func (b *elected) Object(ctx context.Context, name string) ([]byte, error) {
	if b.old(&b.objects) {
		return nil, fmt.Errorf("object %s: %w", name, cluster.ErrMissing)
	}
	return b.Bus.Object(ctx, name)
}

// behindLeaders gives a worker that asks leaders which are behind.
func behindLeaders(t *testing.T, w *worker, bus *elected) *Store {
	t.Helper()
	bus.Bus = w.bus
	s, err := openReal(w.dir, Options{Bus: bus, Member: w.m, Warn: func(err error) { t.Log(err) }})
	must(t, err)
	return s
}

// A name is not unknown because a server does not know it yet.
func TestNamesThatAServerDoesNotKnowYet(t *testing.T) {
	for name, find := range map[string]func(*Store) (string, error){
		"uuid":    func(s *Store) (string, error) { return s.Find(idA) },
		"prefix":  func(s *Store) (string, error) { return s.Find(idA[:8]) },
		"newest":  func(s *Store) (string, error) { return s.Newest("https://" + key) },
		"live":    func(s *Store) (string, error) { return s.Live("https://" + key) },
		"by uuid": func(s *Store) (string, error) { return s.Live(idA) },
		"named": func(s *Store) (string, error) {
			_, uuids, err := s.Named("https://" + key)
			return strings.Join(uuids, " "), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clustertest.New()
			a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
			made(t, a.Store, idA)
			s := behindLeaders(t, b, &elected{ends: 3, keys: 2})
			must(t, s.CatchUp(t.Context()))
			if uuid, err := find(s); err != nil || uuid != idA {
				t.Errorf("found %q (%v)", uuid, err)
			}
		})
	}
}

// What is unknown stays unknown after a while, and at once where nothing may change that.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	b := newWorker(t, clustertest.New(), time.Minute)
	alone, err := openReal(filepath.Join(t.TempDir(), "contexts"), Options{})
	must(t, err)
	for _, c := range []struct {
		what        string
		s           *Store
		ref         string
		least, most time.Duration
	}{
		{"uuid", b.Store, idA, lookTime, lookTime + time.Second},
		{"no name", b.Store, "xyz", 0, time.Second},
		{"alone", alone, idA, 0, time.Second},
	} {
		start := time.Now()
		_, err := c.s.Newest(c.ref)
		if took := time.Since(start); !errors.Is(err, ErrUnknown) || took < c.least || took > c.most {
			t.Errorf("%s: %v after %s", c.what, err, took)
		}
	}
	start := time.Now()
	if task, uuids, err := b.Named("https://" + key); task != key || len(uuids) > 0 || err != nil || time.Since(start) < lookTime {
		t.Errorf("a task without contexts: %q, %v (%v)", task, uuids, err)
	}
	b.bus.Cut(true)
	if _, err := b.Find(idA); !errors.Is(err, cluster.ErrUnreachable) || ExitCode(err) != ExitTemporary {
		t.Errorf("when the cluster does not answer: %v", err)
	}
}

// The copy here has each line that was announced, whatever the leader says of the context.
func TestLinesThatALeaderDoesNotKnowYet(t *testing.T) {
	for _, lasts := range []int{1, 5} {
		c := clustertest.New()
		a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
		made(t, a.Store, idA)
		s := behindLeaders(t, b, &elected{lasts: lasts})
		must(t, s.CatchUp(t.Context()))
		if _, err := s.locate(idA); err != nil {
			t.Fatalf("%d answers: %v", lasts, err)
		}
		first, err := b.bus.Last(t.Context(), idA)
		must(t, err)
		held, _ := acquire(t, a.Store, idA)
		add(t, held, &event.ProcessStarted{})
		add(t, held, &event.ContextCompleted{})
		must(t, errors.Join(held.Relocate(), held.Close()))
		must(t, s.fs.Remove(pathOf(Running, idA)+"/events.jsonl")) // it is not just extended
		b.open(t)
		s = behindLeaders(t, b, &elected{lasts: lasts, line: first})
		must(t, s.CatchUp(t.Context()))
		if one, two := wholeLog(t, a.Store, idA), wholeLog(t, s, idA); one != two {
			t.Errorf("%d answers: the copies differ:\n%s\n%s", lasts, one, two)
		}
	}
}

// What came while the context was held is taken later, up to the last line that came.
func TestLinesOfAHeldContext(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	made(t, a.Store, idA)
	must(t, b.CatchUp(t.Context()))
	first, err := b.bus.Last(t.Context(), idA)
	must(t, err)
	here, err := b.lock(idA + ".lock")
	must(t, err)
	held, _ := acquire(t, a.Store, idA)
	add(t, held, &event.ProcessStarted{})
	add(t, held, &event.ContextCompleted{})
	must(t, errors.Join(held.Relocate(), held.Close()))
	end, err := b.bus.End(t.Context())
	must(t, err)
	s := behindLeaders(t, b, &elected{lasts: 2, line: first})
	m := s.newMirror()
	must(t, m.upTo(t.Context(), end))
	must(t, here.Close())
	for range 2 {
		if m.again(t.Context()); len(m.behind) == 0 {
			t.Fatal("an old answer was taken for the end of the log")
		}
	}
	m.again(t.Context())
	if one, two := wholeLog(t, a.Store, idA), wholeLog(t, s, idA); one != two || len(m.behind) > 0 {
		t.Errorf("%v, the copies:\n%s\n%s", m.behind, one, two)
	}
}

// A history that seems to end too early is not read anew.
func TestEndThatALeaderDoesNotKnowYet(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	made(t, a.Store, idA, &event.ProcessStarted{}, &event.ProcessStarted{})
	must(t, b.CatchUp(t.Context()))
	bus := &elected{ends: 3, end: 1}
	s := behindLeaders(t, b, bus)
	must(t, s.CatchUp(t.Context()))
	if bus.followed > 0 || bus.asked < 4 || s.readMirrored().Pos != 3 {
		t.Errorf("%d lines were read again, up to %d", bus.followed, s.readMirrored().Pos)
	}
	c.DropLines(2)
	must(t, s.CatchUp(t.Context()))
	if bus.followed != 1 || s.readMirrored().Pos != 1 {
		t.Errorf("a history that lost its end: %d lines are read, up to %d", bus.followed, s.readMirrored().Pos)
	}
}

// A name that is in a line which could not be written is found if the line can be written now.
func TestNameInALineThatWasNotWritten(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	made(t, a.Store, idA)
	m := b.newMirror()
	m.at.Pos, m.behind[idA] = 1, missed{1, 1}
	m.save()
	must(t, b.CatchUp(t.Context()))
	if uuid, err := b.Find(idA[:6]); err != nil || uuid != idA {
		t.Errorf("found %q (%v)", uuid, err)
	}
}

// A context that another process of this machine is just getting is not missing: the mirror has passed its
// lines by, since that process has the lock.
func TestContextThatIsJustComing(t *testing.T) {
	for name, find := range map[string]func(*Store) (string, error){
		"its name": func(s *Store) (string, error) { return s.Newest("https://" + key) },
		"its task": func(s *Store) (uuid string, err error) { uuid, _, err = s.Active(key); return uuid, err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clustertest.New()
			a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
			made(t, a.Store, idA)
			other, err := b.lock(idA + ".lock")
			must(t, err)
			must(t, b.CatchUp(t.Context()))
			time.AfterFunc(300*time.Millisecond, func() { _ = errors.Join(b.receive(context.Background(), idA), other.Close()) })
			if uuid, err := find(b.Store); err != nil || uuid != idA {
				t.Errorf("found %q (%v)", uuid, err)
			}
		})
	}
}

// A task has one live context, also if it is asked for while its history is not known yet. Who only
// asks prevents nothing.
func TestTaskThatALeaderDoesNotKnowYet(t *testing.T) {
	for _, bus := range []*elected{{lasts: 2}, {flaps: true}} {
		c := clustertest.New()
		a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
		made(t, a.Store, idA)
		s := behindLeaders(t, b, bus)
		lock, err := s.LockKey(key)
		must(t, err)
		if uuid, live, err := s.Active(key); err != nil || !live || uuid != idA {
			t.Errorf("the task has %q, %v (%v)", uuid, live, err)
		}
		must(t, lock.Close())
	}
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	must(t, a.claim(t.Context(), idA, key))
	if _, live, err := b.Active(key); live || err != nil {
		t.Error(live, err)
	}
	if _, err := a.Create(created(idA), at); err != nil {
		t.Errorf("the context that was being made: %v", err)
	}
}

// A signal is neither lost nor taken twice because of a leader that is behind.
func TestSignalThatALeaderDoesNotKnowYet(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	made(t, a.Store, idA)
	must(t, b.CatchUp(t.Context()))
	must(t, a.Send(idA, Pause, []byte("by a")))
	sent, err := a.bus.Key(t.Context(), signalKey(idA, Pause))
	must(t, err)
	s := behindLeaders(t, b, &elected{keys: 2})
	must(t, s.mirrorSignal(t.Context(), sent))
	if pending, err := s.Pending(idA); err != nil || string(pending[Pause]) != "by a" {
		t.Fatalf("pending: %q (%v)", pending, err)
	}
	bus := &elected{keys: 2, Bus: b.bus}
	s.o.Bus = bus
	must(t, s.Clear(idA, Pause))
	if v, err := b.bus.Key(t.Context(), signalKey(idA, Pause)); !errors.Is(err, cluster.ErrMissing) {
		t.Errorf("the signal that was taken is still %q (%v)", v.Data, err)
	}
	bus.keys, bus.key = 1, sent
	must(t, s.mirrorSignal(t.Context(), cluster.Value{Key: sent.Key, Revision: sent.Revision + 1, Deleted: true}))
	if pending, err := s.Pending(idA); err != nil || len(pending) > 0 {
		t.Errorf("the signal that was taken came back: %q (%v)", pending, err)
	}
}

// What a line names is there, also if a leader does not know it yet. What was forgotten is not waited for
// again and again.
func TestObjectsThatALeaderDoesNotKnowYet(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	large := strings.Repeat("x", 600<<10)
	grown(t, a.Store, idA, key, &event.MessageAdded{Role: "user", Content: event.T(large)}, &event.ContextPaused{})
	bus := &elected{objects: 1}
	s := behindLeaders(t, b, bus)
	held, events := acquire(t, s, idA)
	if names, err := held.Objects().Names(); err != nil || len(names) != 0 {
		t.Fatalf("the case is none: %q (%v)", names, err)
	}
	bus.objects = 2
	if more, err := held.FetchMore(); err != nil || !more {
		t.Errorf("no saved files came (%v)", err)
	}
	var hash string
	for _, ev := range events {
		for _, blob := range event.Blobs(ev.Body) {
			hash = blob
		}
	}
	must(t, s.fs.RemoveAll(pathOf(Paused, idA)+"/blobs"))
	bus.objects = 2
	if data, err := held.Blob(hash); err != nil || string(data) != large {
		t.Errorf("the text: %.20q (%v)", data, err)
	}
	must(t, b.bus.RemoveObjects(t.Context(), idA+"/"))
	must(t, s.fs.RemoveAll(pathOf(Paused, idA)+"/blobs"))
	for n, least := range []time.Duration{doubtTime, 0} {
		start := time.Now()
		if _, err := held.Blob(hash); err == nil || time.Since(start) < least || time.Since(start) > least+time.Second {
			t.Errorf("question %d for what is gone took %s (%v)", n+1, time.Since(start), err)
		}
	}
	must(t, held.Close())
}
