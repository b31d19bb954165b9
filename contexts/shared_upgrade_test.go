package contexts

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/cluster/clustertest"
)

// While workers are upgraded one after the other, one of the older release leaves what a
// newer one has written to others: it keeps its copy, works on the rest, and can go on with
// the context when it is upgraded itself.
func TestOlderWorker(t *testing.T) {
	c := clustertest.New()
	newer, older := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	made(t, newer.Store, idA)
	grown(t, newer.Store, idB, key+"1", &event.ContextPaused{})
	last, err := newer.bus.Last(t.Context(), idA)
	if err != nil {
		t.Fatal(err)
	}
	unknown := bytes.TrimSuffix(rawLine(2, "message.added", 99, `{"role":"user"}`, lineHash(last.Data)), []byte("\n"))
	if _, err := newer.bus.Append(context.Background(), idA, last.Pos, unknown)(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // it does not get stuck, either
		if err := older.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err := older.Acquire(idA, func(event.Event) error { return nil })
		wantExit(t, err, ExitUnsupported)
	}
	if log := wholeLog(t, older.Store, idA); log != string(last.Data)+"\n"+string(unknown)+"\n" {
		t.Errorf("its copy is %q", log)
	}
	held, err := older.Acquire(idB, func(event.Event) error { return nil })
	if err != nil {
		t.Fatalf("the other context: %v", err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	lock, err := newer.lockContext(idA)
	if errors.Is(err, ErrBusy) {
		t.Fatal("the older one holds what it cannot work on")
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = lock.Close()
}
