package contexts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/cluster"
	"agent/internal/cluster/clustertest"
)

// worker is a machine of a cluster in memory.
type worker struct {
	*Store
	dir string
	bus *clustertest.Memory
	m   *cluster.Member
}

func newWorker(t *testing.T, c *clustertest.Cluster, lease time.Duration) *worker {
	t.Helper()
	w := &worker{bus: c.Join(), dir: filepath.Join(t.TempDir(), "contexts")}
	m, err := cluster.Join(t.Context(), w.bus, cluster.Options{Info: cluster.Info{Worker: t.Name(), Capacity: 1}, Lease: lease})
	if err != nil {
		t.Fatal(err)
	}
	w.m = m
	t.Cleanup(func() { _ = m.Leave(context.Background()) })
	w.open(t)
	return w
}

func (w *worker) open(t *testing.T) {
	t.Helper()
	var err error
	if w.Store, err = openReal(w.dir, Options{Bus: w.bus, Member: w.m, Warn: func(err error) { t.Log(err) }}); err != nil {
		t.Fatal(err)
	}
}

func wholeLog(t *testing.T, s *Store, uuid string) string {
	t.Helper()
	var all strings.Builder
	for rec, err := range s.Records(uuid) {
		if err != nil {
			t.Fatal(err)
		}
		all.Write(rec.Line)
		all.WriteByte('\n')
	}
	return all.String()
}

// A context that one worker began goes on at another one, whose store was empty, with
// all its texts and saved files.
func TestAnotherWorkerGoesOn(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	held, err := a.Create(created(idA), at)
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 200<<10)
	add(t, held, &event.MessageAdded{Role: "user", Content: event.T(large)})
	if err := held.Objects().Keep("pack-1.pack", []byte("files")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(idA, nil); !errors.Is(err, ErrBusy) && !errors.Is(err, ErrUnknown) {
		t.Fatalf("taken while the other has it: %v", err)
	}
	if uuid, live, err := b.Active(key); err != nil || !live || uuid != idA {
		t.Fatalf("the task has %q, %v (%v)", uuid, live, err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	taken, events := acquire(t, b.Store, idA)
	if m, ok := events[1].Body.(*event.MessageAdded); !ok || m.Content.Inline != large {
		t.Errorf("the large text is %.20q", events[1].Body)
	}
	names, err := taken.Objects().Names()
	if err != nil || len(names) != 1 {
		t.Errorf("saved files: %q, %v", names, err)
	}
	add(t, taken, &event.ContextCompleted{})
	if err := errors.Join(taken.Relocate(), taken.Close()); err != nil {
		t.Fatal(err)
	}
	again, events := acquire(t, a.Store, idA)
	if len(events) != 3 || again.Dir() != Completed {
		t.Errorf("%d events, in %s", len(events), again.Dir())
	}
	if one, two := wholeLog(t, a.Store, idA), wholeLog(t, b.Store, idA); one != two {
		t.Error("the copies differ")
	}
}

// Who lost its lease cannot append: the position says so, whatever it believes.
func TestStaleOwner(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, 300*time.Millisecond), newWorker(t, c, time.Minute)
	made(t, a.Store, idA)
	old, _ := acquire(t, a.Store, idA)
	a.bus.Cut(true) // its renewals get nowhere
	var taken *Context
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var err error
		if taken, err = b.Acquire(idA, nil); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	if left := old.lock.(both).shared.Left(); left > 0 {
		t.Fatalf("the old owner believes in its lease for %s", left)
	}
	a.bus.Heal()
	add(t, taken, &event.PauseRequested{By: "command"})
	if _, err := old.Append(event.Event{Time: at, Body: &event.ContextCompleted{}}); !errors.Is(err, ErrBusy) {
		t.Errorf("the old owner appended: %v", err)
	}
	if _, err := old.Append(event.Event{Time: at, Body: &event.ContextCompleted{}}); !errors.Is(err, eventlog.ErrPoisoned) {
		t.Errorf("and again: %v", err)
	}
	if err := errors.Join(old.Close(), taken.Close()); err != nil {
		t.Fatal(err)
	}
	if err := a.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if one, two := wholeLog(t, a.Store, idA), wholeLog(t, b.Store, idA); one != two {
		t.Errorf("the old owner keeps\n%swhile the history is\n%s", one, two)
	}
}

// Of two workers that begin a task at once one does, also if the other had the lock of
// the task and slept.
func TestOneBegins(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, 300*time.Millisecond), newWorker(t, c, time.Minute)
	lock, err := a.LockKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if _, live, err := a.Active(key); live || err != nil {
		t.Fatal(live, err)
	}
	if _, err := b.LockKey(key); !errors.Is(err, ErrBusy) {
		t.Fatalf("both have the lock: %v", err)
	}
	a.bus.Cut(true)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err = b.LockKey(key); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	if _, live, err := b.Active(key); live || err != nil {
		t.Fatal(live, err)
	}
	made(t, b.Store, idB)
	a.bus.Heal()
	if _, err := a.Create(created(idA), at); !errors.Is(err, ErrBusy) {
		t.Errorf("a second context for one task: %v", err)
	}
	_ = lock.Close()
	if uuid, live, err := a.Active(key); err != nil || !live || uuid != idB {
		t.Errorf("the task has %q, %v (%v)", uuid, live, err)
	}
}

// A maker that sleeps between its claim and its first line does not come late: the line
// has no place any more.
func TestLateCreation(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	if _, _, err := a.Active(key); err != nil {
		t.Fatal(err)
	}
	if err := a.claim(t.Context(), idA, key); err != nil {
		t.Fatal(err)
	}
	lock, err := b.LockKey(key)
	must(t, err)
	if _, live, err := b.Active(key); live || err != nil {
		t.Fatal(live, err)
	}
	made(t, b.Store, idB)
	must(t, lock.Close())
	if _, err := a.bus.Append(t.Context(), idA, 0, []byte(`{"seq":1}`))(); !errors.Is(err, cluster.ErrStale) {
		t.Errorf("the first line of the other came late: %v", err)
	}
}

// The history lost what it had acknowledged: the owner's copy heals it. A copy that is
// damaged is healed by the history.
func TestEachHealsTheOther(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	made(t, a.Store, idA, &event.MessageAdded{Role: "user", Content: event.T("one")}, &event.MessageAdded{Role: "user", Content: event.T("two")},
		&event.MessageAdded{Role: "user", Content: event.T("three")})
	whole := wholeLog(t, a.Store, idA)
	c.DropLines(2)
	held, events := acquire(t, a.Store, idA)
	if len(events) != 4 || held.Healed() != 1 { // the last may never have been acknowledged
		t.Errorf("%d events, %d healed", len(events), held.Healed())
	}
	_ = held.Close()
	got, _ := acquire(t, b.Store, idA)
	_ = got.Close()
	if wholeLog(t, b.Store, idA) != whole {
		t.Error("the history was not healed")
	}
	file := filepath.Join(b.dir, "running", idA, "events.jsonl")
	data, err := os.ReadFile(file)
	if err == nil {
		data[len(data)/2] ^= 4
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, _ = acquire(t, b.Store, idA)
	_ = got.Close()
	if wholeLog(t, b.Store, idA) != whole {
		t.Error("the copy was not healed")
	}
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	got, _ = acquire(t, b.Store, idA)
	_ = got.Close()
	if wholeLog(t, b.Store, idA) != whole {
		t.Error("the copy that was gone did not come back")
	}
}

// Where both lost something that the other does not have, nothing is thrown away.
func TestBothLost(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	made(t, a.Store, idA, &event.MessageAdded{Role: "user", Content: event.T("one")}, &event.MessageAdded{Role: "user", Content: event.T("two")})
	c.DropLines(2)
	held, _ := acquire(t, b.Store, idA)
	add(t, held, &event.MessageAdded{Role: "user", Content: event.T("another")})
	_ = held.Close()
	before := wholeLog(t, a.Store, idA)
	if _, err := a.Acquire(idA, nil); ExitCode(err) != ExitDamage {
		t.Errorf("taken: %v", err)
	}
	if err := a.CatchUp(t.Context()); err != nil {
		t.Error(err)
	}
	if wholeLog(t, a.Store, idA) != before {
		t.Error("the copy was changed")
	}
}

// Answers that are lost: an append that was stored is not stored twice, and one that was
// not is repeated.
func TestLostAnswers(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	held, err := a.Create(created(idA), at)
	if err != nil {
		t.Fatal(err)
	}
	a.bus.LoseAnswers(1)
	_, err = held.Append(event.Event{Time: at, Body: &event.PauseRequested{By: "command"}})
	if err != nil && !errors.Is(err, cluster.ErrUnreachable) {
		t.Fatal(err)
	}
	_ = held.Close()
	held, events := acquire(t, a.Store, idA)
	if len(events) != 2 {
		t.Errorf("%d events", len(events))
	}
	add(t, held, &event.ContextCompleted{})
	_ = errors.Join(held.Relocate(), held.Close())
	if err := b.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if one, two := wholeLog(t, a.Store, idA), wholeLog(t, b.Store, idA); one != two || strings.Count(one, "\n") != 3 {
		t.Errorf("copies:\n%s\n%s", one, two)
	}
}

// Lists, signals and the day's spending are those of all workers.
func TestMirror(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Mirror(ctx) }()
	held, err := a.Create(created(idA), at)
	if err != nil {
		t.Fatal(err)
	}
	add(t, held, &event.LLMRequested{Estimated: 10})
	add(t, held, &event.LLMReplied{Usage: event.Usage{Prompt: 40, Completion: 2}})
	soon(t, "the context is in the other's list", func() bool {
		for i, err := range b.Infos(Query{}) {
			if err == nil && i.UUID == idA && i.LLMCalls == 1 {
				return true
			}
		}
		return false
	})
	soon(t, "the other counts what was spent", func() bool {
		tokens, _, err := b.Spent(Day(at))
		return err == nil && tokens == 42
	})
	if locked, err := b.Locked(idA); err != nil || !locked {
		t.Errorf("locked: %v, %v", locked, err)
	}
	aCtx, stopA := context.WithCancel(t.Context())
	doneA := make(chan error, 1)
	go func() { doneA <- a.Mirror(aCtx) }()
	if err := b.Send(idA, Pause, []byte("by b")); err != nil {
		t.Fatal(err)
	}
	soon(t, "the signal arrives", func() bool {
		pending, err := a.Pending(idA)
		return err == nil && string(pending[Pause]) == "by b"
	})
	if err := a.Clear(idA, Pause); err != nil {
		t.Fatal(err)
	}
	soon(t, "the signal is gone everywhere", func() bool {
		one, _ := a.Pending(idA)
		two, _ := b.Pending(idA)
		return len(one)+len(two) == 0
	})
	add(t, held, &event.ContextCompleted{})
	if err := errors.Join(held.Relocate(), held.Close()); err != nil {
		t.Fatal(err)
	}
	soon(t, "the directory moves", func() bool {
		dir, err := b.DirOf(idA)
		return err == nil && dir == Completed
	})
	stop()
	stopA()
	if err := errors.Join(<-done, <-doneA); err != nil {
		t.Error(err)
	}
}

func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so: %s", what)
		}
	}
}

// What a machine did before it was a worker becomes the cluster's when it is worked on.
func TestBecomesAWorker(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	alone, err := openReal(a.dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	held, err := alone.Create(created(idA), at)
	if err != nil {
		t.Fatal(err)
	}
	add(t, held, &event.MessageAdded{Role: "user", Content: event.T(strings.Repeat("y", 200<<10))})
	_ = held.Close()
	taken, _ := acquire(t, a.Store, idA)
	_ = taken.Close()
	_, events := acquire(t, b.Store, idA)
	if len(events) != 2 {
		t.Errorf("%d events", len(events))
	}
	if uuid, live, err := b.Active(key); err != nil || !live || uuid != idA {
		t.Errorf("the task has %q, %v (%v)", uuid, live, err)
	}
}

// What one machine forgets is forgotten by all, also by one that was off.
func TestForgottenEverywhere(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	made(t, a.Store, idA, &event.MessageAdded{Role: "user", Content: event.T(strings.Repeat("secret ", 50<<10))}, &event.ContextCompleted{})
	if err := b.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Forget(idA, "me", at, func(*Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if names, err := b.bus.ObjectNames(t.Context(), idA+"/"); err != nil || len(names) > 0 {
		t.Errorf("objects are left: %q, %v", names, err)
	}
	if last, err := b.bus.Last(t.Context(), idA); err != nil || string(last.Data) != void {
		t.Errorf("lines are left: %v, %v", last, err)
	}
	if _, err := b.Acquire(idA, nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("the other can take it: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Mirror(ctx) }()
	soon(t, "the other's copy goes", func() bool {
		_, err := b.DirOf(idA)
		return errors.Is(err, ErrUnknown)
	})
	if left, err := os.ReadDir(filepath.Join(b.dir, ".quarantine")); err != nil || len(left) > 0 {
		t.Errorf("in quarantine are %v (%v)", left, err)
	}
	if err := a.CatchUp(t.Context()); err != nil {
		t.Error(err) // the end of the history is a line that is there
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A comment that one machine posted and that its death left open is known to the next one
// by its marker: the key of the markers is that of all.
func TestOneMarkerKey(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	alone, err := openReal(b.dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	own, err := alone.Key()
	if err != nil {
		t.Fatal(err)
	}
	one, errA := a.Key()
	two, errB := b.Key()
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if len(one) != keySize || string(one) != string(two) || string(one) == string(own) {
		t.Errorf("the keys are %x and %x, and alone %x", one, two, own)
	}
}

// A history that lost its end, or is another one, is followed from its beginning.
func TestMirrorOfAnotherHistory(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	made(t, a.Store, idA, &event.MessageAdded{Role: "user", Content: event.T("one")}, &event.MessageAdded{Role: "user", Content: event.T("two")})
	if err := b.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.DropLines(3)
	first := created(idB)
	first.TaskKey = "forge.example/o/r/issues/13"
	held, err := a.Create(first, at)
	if err != nil {
		t.Fatal(err)
	}
	_ = held.Close()
	if err := b.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.DirOf(idB); err != nil {
		t.Errorf("what the shorter history holds is not here: %v", err)
	}
	if lines := strings.Count(wholeLog(t, b.Store, idA), "\n"); lines != 3 {
		t.Errorf("what only the copy here has was changed: %d lines", lines)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Mirror(ctx) }()
	taken, _ := acquire(t, a.Store, idB)
	add(t, taken, &event.PauseRequested{By: "command"})
	soon(t, "the mirror goes on", func() bool { return strings.Count(wholeLog(t, b.Store, idB), "\n") == 2 })
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
