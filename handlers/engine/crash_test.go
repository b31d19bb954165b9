package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"agent/internal/exhaustive"
	"agent/internal/fsx"
)

// reference is the undisturbed run.
type reference struct {
	scenario
	end
	operations    int   // of the disk
	contacts      int64 // with the outside world
	forgeRequests int
	writeAt       []int // numbers of those that write
}

func undisturbed(t *testing.T, sc scenario) reference {
	t.Helper()
	w := newWorld(t, sc)
	defer w.close()
	l := w.born()
	if err := l.run(); err != nil {
		t.Fatal(err)
	}
	operations, requests := w.disk.Ops(), w.forge.Requests()
	got, err := w.verify()
	if err != nil {
		t.Fatal(err)
	}
	if got.counts.lostCalls+got.counts.lostReplies != 0 || len(got.Changes) != 1 {
		t.Fatalf("the scenario is not what it was: %+v", got)
	}
	want := reference{scenario: sc, end: got, operations: operations, contacts: l.contacts}
	for _, r := range requests {
		want.forgeRequests++
		if r.Method != http.MethodGet {
			want.writeAt = append(want.writeAt, want.forgeRequests)
		}
	}
	return want
}

// point is one way to end a process, and what the disk looks like afterwards.
type point struct {
	name      string
	operation int  // of the disk, 0: none
	inside    bool // the operation is half done
	contact   int64
	after     bool // the outside world has done its part
	power     int64
	again     int // operation at which the next process is killed, too
}

func (p point) String() string { return p.name }

// rise gives the disk that the next process finds.
func (p point) rise(disk *fsx.Mem) *fsx.Mem {
	if p.power != 0 {
		return disk.Crash(p.power, 0.5)
	}
	return disk.Kill()
}

// try ends a process at a point and lets the next one finish.
func (p point) try(t testing.TB, want reference) error {
	w := newWorld(t, want.scenario)
	defer w.close()
	l := w.born()
	l.last, l.after = p.contact, p.after
	if p.operation > 0 {
		w.disk.KillAt(p.operation, p.inside)
	}
	if err := l.run(); !l.dead() {
		return fmt.Errorf("the process was not killed: %w", err)
	}
	if l.posthumous > 0 && p.operation > 0 {
		return fmt.Errorf("%d contacts after the end", l.posthumous)
	}
	before := acknowledged(logBytes(w.disk.Kill()), w.acked)
	w.disk, w.dark = p.rise(w.disk), p.power != 0
	if p.again > 0 {
		w.disk.KillAt(p.again, p.again%2 == 0)
		_ = w.born().run() // it was killed, or had less to do
		w.disk = p.rise(w.disk)
	}
	if err := w.born().run(); err != nil {
		return fmt.Errorf("the next process: %w", err)
	}
	got, err := w.verify()
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(logBytes(w.disk), before) {
		err = errors.Join(err, errors.New("the log was changed"))
	}
	return errors.Join(err, got.compare(want.end))
}

// acknowledged cuts a log after its n-th line.
func acknowledged(log []byte, n uint64) []byte {
	end := 0
	for range n {
		i := bytes.IndexByte(log[end:], '\n')
		if i < 0 {
			return []byte("an acknowledged event is missing")
		}
		end += i + 1
	}
	return log[:end]
}

// disturbance is one way to disturb a run. try tells what then differs from the
// undisturbed one.
type disturbance interface {
	String() string
	try(t testing.TB, want reference) error
}

// sweep tries many disturbances, a few at a time. The sample takes every seventh:
// most sweeps go by turns through two or three kinds of disturbance.
func sweep[D disturbance](t *testing.T, want reference, all []D) {
	t.Helper()
	all = exhaustive.Sample(all, 7)
	var workers sync.WaitGroup
	work := make(chan D)
	var failed atomic.Int32
	for range 4 {
		workers.Go(func() {
			for d := range work {
				if err := d.try(t, want); err != nil && failed.Add(1) <= 5 {
					t.Errorf("%s: %v", d, err)
				}
			}
		})
	}
	for _, d := range all {
		work <- d
	}
	close(work)
	workers.Wait()
	t.Logf("%d points, %d failed", len(all), failed.Load())
}

// Killed at every operation of the disk, before it and in its middle.
func TestKilledAtEveryOperation(t *testing.T) {
	want := undisturbed(t, correction)
	var points []point
	for n := 1; n <= want.operations; n++ {
		for _, inside := range []bool{false, true} {
			points = append(points, point{name: fmt.Sprintf("operation %d, inside %v", n, inside), operation: n, inside: inside})
		}
	}
	sweep(t, want, points)
}

// The power fails at every operation of the disk: what was not synced is gone, or half of it.
func TestPowerFailsAtEveryOperation(t *testing.T) {
	want := undisturbed(t, correction)
	var points []point
	for n := 1; n <= want.operations; n++ {
		points = append(points, point{name: fmt.Sprintf("power at operation %d", n), operation: n, inside: n%2 == 0, power: int64(n)})
	}
	sweep(t, want, points)
}

// Killed at every contact with the outside world, before it and before its answer.
func TestKilledAtEveryContact(t *testing.T) {
	want := undisturbed(t, correction)
	var points []point
	for n := int64(1); n <= want.contacts; n++ {
		for _, after := range []bool{false, true} {
			for _, power := range []int64{0, n} {
				points = append(points, point{name: fmt.Sprintf("contact %d, after %v, power %d", n, after, power), contact: n, after: after, power: power})
			}
		}
	}
	sweep(t, want, points)
}

// A result that is too large for a line goes to a file of its own before its event.
func TestKilledAroundALargeResult(t *testing.T) {
	want := undisturbed(t, large)
	var points []point
	for n := want.operations / 4; n <= want.operations*3/4; n++ {
		p := point{name: fmt.Sprintf("operation %d", n), operation: n, inside: true}
		points = append(points, p)
		p.name, p.power = p.name+", power cut", int64(n)
		points = append(points, p)
	}
	sweep(t, want, points)
}

// Killed while it makes good what an earlier kill has left, above all at the
// end: an ended context that has moved is never looked at again.
func TestKilledTwice(t *testing.T) {
	want := undisturbed(t, correction)
	var points []point
	for n := 3; n <= want.operations; n++ {
		if n%20 != 0 && n < want.operations-10 {
			continue
		}
		for again := 1; again <= 9; again++ {
			p := point{name: fmt.Sprintf("operation %d, then %d", n, again), operation: n, again: again}
			if (n+again)%2 == 0 {
				p.name, p.power = p.name+", power cut", int64(n*again)
			}
			points = append(points, p)
		}
	}
	sweep(t, want, points)
}

// The checks see what they are there for.
func TestChecksSee(t *testing.T) {
	for name, damage := range map[string]func(w *world){
		"a second comment": func(w *world) { w.forge.AddComment(project, 1, bot, w.forge.Comments(project, 1)[1].Body) },
		"a lost comment":   func(w *world) { w.forge.DeleteComment(project, w.forge.Comments(project, 1)[2].ID) },
		"a second run":     func(w *world) { w.runs["append journal.txt"]++ },
		"a short log": func(w *world) {
			w.alter("events.jsonl", func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] })
		},
		"another message": func(w *world) { w.alter("current.jsonl", func(b []byte) []byte { return append(b, '\n') }) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, correction)
			defer w.close()
			if err := w.born().run(); err != nil {
				t.Fatal(err)
			}
			damage(w)
			if _, err := w.verify(); err == nil {
				t.Error("nobody noticed")
			}
		})
	}
}

// alter changes a file of the only context.
func (w *world) alter(name string, change func([]byte) []byte) {
	entries, err := w.disk.ReadDir("completed")
	if err != nil {
		w.t.Fatal(err)
	}
	file := "completed/" + entries[0].Name() + "/" + name
	data, err := fsx.ReadFile(w.disk, file, 1<<30)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := fsx.WriteFile(w.disk, file, change(data)); err != nil {
		w.t.Fatal(err)
	}
}
