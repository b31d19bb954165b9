package contexts

import (
	"errors"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/cluster"
	"agent/internal/cluster/clustertest"
)

// What retention removes on one machine is gone in the cluster and on all machines, also on
// one that was off; and its task can be begun again.
func TestRemovedEverywhere(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	grown(t, a.Store, idA, key, &event.ContextCompleted{})
	grown(t, a.Store, idB, key+"1", &event.ContextPaused{})
	if err := b.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if size, err := a.Remove(idA); err != nil || size == 0 {
		t.Fatal(size, err)
	}
	if _, err := a.Remove(idB); !errors.Is(err, ErrNotEnded) {
		t.Fatalf("removed what is paused: %v", err)
	}
	fresh := newWorker(t, c, time.Minute)
	for _, w := range []*worker{a, b, fresh} {
		if err := w.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.locate(idA); !errors.Is(err, ErrUnknown) {
			t.Errorf("it is still there: %v", err)
		}
		if _, err := w.locate(idB); err != nil {
			t.Errorf("the other one is gone: %v", err)
		}
		if left, err := w.fs.ReadDir(quarantineDir); err != nil || len(left) > 0 {
			t.Errorf("quarantine holds %d (%v)", len(left), err)
		}
	}
	if names, err := a.bus.ObjectNames(t.Context(), idA+"/"); err != nil || len(names) > 0 {
		t.Errorf("the cluster keeps %q (%v)", names, err)
	}
	if _, err := a.bus.Key(t.Context(), taskKey(key)); !errors.Is(err, cluster.ErrMissing) {
		t.Errorf("the cluster knows a context of its task: %v", err)
	}
	lock, err := fresh.LockKey(key)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if uuid, live, err := fresh.Active(key); err != nil || live {
		t.Fatalf("the task has %s (%v)", uuid, err)
	}
	made(t, fresh.Store, idC)
}

// A copy that was only behind is completed: nothing of it is put aside. Where the cluster
// does not answer, a context that is not known here may be there all the same.
func TestBehind(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	grown(t, a.Store, idA, key, &event.ContextPaused{})
	if err := b.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	held, _ := acquire(t, a.Store, idA)
	add(t, held, &event.MessageAdded{Role: "user", Content: event.T("x")})
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	again, events := acquire(t, b.Store, idA)
	if err := again.Close(); err != nil || len(events) != 4 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	if left, err := b.fs.ReadDir(quarantineDir); err != nil || len(left) > 0 {
		t.Errorf("quarantine holds %d (%v)", len(left), err)
	}
	if one, two := wholeLog(t, a.Store, idA), wholeLog(t, b.Store, idA); one != two {
		t.Error("the copies differ")
	}
	b.bus.Cut(true)
	if err := b.CatchUp(t.Context()); !errors.Is(err, cluster.ErrUnreachable) {
		t.Fatal(err)
	}
	reader, err := openReal(b.dir, Options{Bus: b.bus, ReadOnly: true, Behind: true})
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"Find, to look": second(reader.Find(idB)), "Find": second(b.Find(idB)), "Newest, by uuid": second(b.Newest(idB)), "Newest, by task": second(b.Newest(key+"7", "forge.example")),
		"Live": second(b.Live(key+"7", "forge.example")),
	} {
		if ExitCode(err) != ExitTemporary {
			t.Errorf("%s says %v", what, err)
		}
	}
	if _, err := b.Find(idA); err != nil {
		t.Error(err)
	}
}

// Who only follows the history gets the saved files when they are looked at.
func TestFetchObjects(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	grown(t, a.Store, idA, key, &event.ContextPaused{})
	if err := b.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	reader, err := openReal(b.dir, Options{Bus: b.bus, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.FetchObjects(idA); err != nil {
		t.Fatal(err)
	}
	if names, err := reader.Objects(idA).Names(); err != nil || len(names) != 1 {
		t.Errorf("saved files: %q, %v", names, err)
	}
}

// A line that could not be written, as on a full disk, is taken again by the next process.
// One whose context is held here is its holder's.
func TestMirrorTakesAgain(t *testing.T) {
	b := newWorker(t, clustertest.New(), time.Minute)
	m := b.newMirror()
	m.at.Pos, m.behind[idA], m.behind[idB], m.behind[idC] = 9, missed{7, 8}, missed{5, 5}, missed{0, 9}
	m.save()
	if known, next := b.readMirrored().Pos, b.newMirror().at.Pos; known != 9 || next != 4 {
		t.Errorf("up to %d is known, and the next one goes on after %d", known, next)
	}
	delete(m.behind, idA)
	delete(m.behind, idB)
	m.save()
	if next := b.newMirror().at.Pos; next != 9 {
		t.Errorf("when all is written it goes on after %d", next)
	}
}
