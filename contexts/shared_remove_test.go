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
