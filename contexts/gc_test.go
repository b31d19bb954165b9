package contexts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/internal/fsx"
)

// aged makes contexts that ended some days before at, in all ways, each with a task of its own.
func aged(t *testing.T, m fsx.FS) *Store {
	t.Helper()
	s, err := Open(m, Options{})
	must(t, err)
	for n, c := range []struct {
		task int
		days int
		end  event.Body
	}{
		{0, 400, &event.ContextCompleted{}}, {0, 300, &event.ContextCompleted{}}, {0, 20, &event.ContextStopped{}}, {0, 10, &event.ContextFailed{}},
		{1, 400, &event.ContextStopped{}}, {2, 3, &event.ContextCompleted{}}, {3, 50, &event.ContextPaused{}}, {4, 50, nil}, {5, 60, &event.ContextFailed{}},
	} {
		then := at.AddDate(0, 0, -c.days)
		first := created(numbered(n))
		first.TaskKey = keyOf(c.task)
		made, err := s.Create(first, then)
		must(t, err)
		bodies := []event.Body{&event.ToolReplied{Content: event.T("some text that was said\n")}, c.end}
		for _, b := range bodies {
			if b != nil {
				_, err := made.Append(event.Event{Time: then, Body: b})
				must(t, err)
			}
		}
		must(t, made.Relocate(), made.Close())
	}
	return s
}

var yearly = Retention{Now: at, ArchiveAfter: 7, RemoveAfter: 30, InheritFor: 90}

func uuids(t *testing.T, s *Store) (archived, plain []string) {
	t.Helper()
	for i, err := range s.Infos(Query{}) {
		must(t, err, i.Err)
		if i.Archived {
			archived = append(archived, i.UUID[24:])
		} else {
			plain = append(plain, i.UUID[24:])
		}
	}
	slices.Sort(archived)
	slices.Sort(plain)
	return archived, plain
}

func TestCollect(t *testing.T) {
	m := fsx.NewMem()
	s := aged(t, m)
	key, err := s.LockKey(keyOf(1))
	must(t, err, key.Close())
	dry := yearly
	dry.DryRun = true
	var would, did, again Collected
	must(t, s.Collect(context.Background(), dry, &would))
	if archived, plain := uuids(t, s); len(archived) != 0 || len(plain) != 9 {
		t.Errorf("a dry run left %v and %v", archived, plain)
	}
	must(t, s.Collect(context.Background(), yearly, &did))
	archived, plain := uuids(t, s)
	// 2 and 3 are the newest of task 0, of which 2 can be inherited; 0, 1, 4 and 8 are too old for everything.
	if fmt.Sprint(archived, plain) != "[000000000002 000000000003] [000000000005 000000000006 000000000007]" {
		t.Errorf("left archived %v and others %v", archived, plain)
	}
	if did.Archived != 2 || did.Removed != 4 || did.ArchivedTo == 0 || did.RemovedBytes == 0 || did.Busy+did.Problems != 0 ||
		would.Archived != did.Archived || would.Removed != did.Removed || did.Locks == 0 {
		t.Errorf("would %+v, did %+v", would, did)
	}
	for _, i := range []string{numbered(2), numbered(3)} {
		if len(drain(t, s, i)) != 3 {
			t.Errorf("%s cannot be read", i)
		}
	}
	must(t, s.Collect(context.Background(), yearly, &again))
	if again.Archived+again.Removed+again.Locks != 0 {
		t.Errorf("again %+v", again)
	}
	if diff := cmp.Diff(truth(t, m, 6), ask(t, s, 6), infoForm); diff != "" {
		t.Errorf("the logs say (-), the index says (+):\n%s", diff)
	}
	if x, err := s.snapshot(); err != nil || !x.complete {
		t.Errorf("the index is not complete: %v", err)
	}
	if !s.LastCollected().Time.Equal(at) {
		t.Errorf("gc.json says %+v", s.LastCollected())
	}
}

// The newest that can be inherited stays, as long as it can be.
func TestCollectKeepsWhatIsInherited(t *testing.T) {
	m := fsx.NewMem()
	s := aged(t, m)
	r := yearly
	r.RemoveAfter = 5
	var c Collected
	must(t, s.Collect(context.Background(), r, &c))
	of, err := s.OfTask(keyOf(0))
	must(t, err)
	if len(of) != 1 || of[0].UUID != numbered(2) || c.Inheritable != 1 {
		t.Errorf("left %v, %+v", of, c)
	}
}

// One that is busy or damaged is counted, and the others are collected.
func TestCollectGoesOn(t *testing.T) {
	m := fsx.NewMem()
	s := aged(t, m)
	lock, err := s.lockContext(numbered(0))
	must(t, err)
	name := "completed/" + numbered(1) + "/" + eventlog.FileName
	data, err := fsx.ReadFile(m, name, 1<<20)
	must(t, err)
	data[len(data)/2] ^= 1
	must(t, fsx.WriteFile(m, name, data))
	var c Collected
	must(t, s.Collect(context.Background(), yearly, &c))
	if c.Busy != 1 || c.Problems != 1 || c.Removed != 2 || c.Archived != 2 {
		t.Errorf("%+v", c)
	}
	if got, err := fsx.ReadFile(m, name, 1<<20); err != nil || !bytes.Equal(got, data) {
		t.Errorf("the damaged log was touched: %v", err)
	}
	must(t, lock.Close())
}

func TestOnlyTheEndedAreCollected(t *testing.T) {
	s := aged(t, fsx.NewMem())
	for _, id := range []string{numbered(6), numbered(7)} {
		wantErr(t, second(s.Archive(id)), ErrNotEnded)
		wantErr(t, second(s.Remove(id)), ErrNotEnded)
	}
}

// Appending to an archived context unpacks it.
func TestAppendToArchived(t *testing.T) {
	s := aged(t, fsx.NewMem())
	must(t, second(s.Archive(numbered(0))))
	c, events := acquire(t, s, numbered(0))
	if len(events) != 3 || c.Head().Seq != 3 {
		t.Fatalf("%d events, head %+v", len(events), c.Head())
	}
	add(t, c, &event.BlobForgotten{Blob: "x"})
	must(t, c.Relocate())
	if got := drain(t, s, numbered(0)); len(got) != 4 {
		t.Errorf("%d events", len(got))
	}
	if archived, plain := uuids(t, s); len(archived) != 0 || len(plain) != 9 {
		t.Errorf("archived %v, plain %v", archived, plain)
	}
}

// Killed and cut from power at every operation: every context is there whole or,
// if it was to be removed, not at all; what is kept is readable.
func TestCollectKilledAnywhere(t *testing.T) {
	for n := 1; ; n += exhaustive.Every(5) {
		m := fsx.NewMem()
		s := aged(t, m)
		s.tail = 3 // the index is merged meanwhile
		m.KillAt(m.Ops()+n, n%2 == 0)
		err := s.Collect(context.Background(), yearly, &Collected{})
		if err == nil {
			if x, err := s.snapshot(); n < 50 || err != nil || x.trailer.Contexts == 0 {
				t.Fatalf("only %d operations, or the index was not merged: %v", n, err)
			}
			return
		}
		if !errors.Is(err, fsx.ErrKilled) {
			t.Fatal(err)
		}
		ends := []func() *fsx.Mem{func() *fsx.Mem { return m.Crash(int64(n), 0) }, func() *fsx.Mem { return m.Crash(int64(n), 1) },
			func() *fsx.Mem { return m.Crash(int64(n), 0.5) }, m.Kill}
		after := ends[n/2%4]()
		s, err = Open(after, Options{Now: func() time.Time { return at.AddDate(1, 0, 0) }})
		must(t, err)
		if diff := cmp.Diff(truth(t, after, 6), ask(t, s, 6), infoForm); diff != "" {
			t.Fatalf("operation %d: the logs say (-), the index says (+):\n%s", n, diff)
		}
		must(t, healed(s), s.Collect(context.Background(), yearly, &Collected{}))
		archived, plain := uuids(t, s)
		if fmt.Sprint(archived, plain) != "[000000000002 000000000003] [000000000005 000000000006 000000000007]" {
			t.Fatalf("operation %d: left archived %v and others %v", n, archived, plain)
		}
	}
}

// A damaged archive is repaired like a log: what comes before the damage stays.
func TestRepairOfArchive(t *testing.T) {
	for name, harm := range map[string]func([]byte) []byte{
		"cut":            func(b []byte) []byte { return b[:len(b)-40] },
		"flipped":        func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"flipped at end": func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
	} {
		m := fsx.NewMem()
		s, err := Open(m, Options{})
		must(t, err)
		bodies := make([]event.Body, 0, 60)
		for n := range 60 {
			bodies = append(bodies, &event.MessageAdded{Role: "user", Content: event.T(fmt.Sprint(n, bytes.Repeat([]byte{byte(n)}, 2000)))})
		}
		made(t, s, idA, append(bodies, &event.ContextCompleted{})...)
		must(t, second(s.Archive(idA)))
		file := "completed/" + idA + "/" + eventlog.ArchiveName
		data, err := fsx.ReadFile(m, file, 1<<20)
		must(t, err)
		must(t, fsx.WriteFile(m, file, harm(data)))
		wantExit(t, second(s.Acquire(idA, nil)), ExitDamage)
		must(t, second(s.Repair(idA, at)))
		c, events := acquire(t, s, idA)
		if len(events) < 2 {
			t.Errorf("%s: %d events are left", name, len(events))
		}
		must(t, c.Close())
		if left, err := m.ReadDir(quarantineDir); err != nil || len(left) == 0 {
			t.Errorf("%s: the archive was not set aside", name)
		}
		again, err := s.Repair(idA, at)
		if err != nil || again.Lines != 0 {
			t.Errorf("%s: repaired again: %+v, %v", name, again, err)
		}
	}
}
