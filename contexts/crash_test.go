package contexts

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

// spilledSize is just enough to go to a blob.
const spilledSize = event.MaxResult + 3

// life is a reference run that touches everything: it returns the events that
// were acknowledged and the error that ended it.
func life(fsys fsx.FS) (acked []event.Event, err error) {
	s, err := Open(fsys, Options{})
	if err != nil {
		return nil, err
	}
	lock, err := s.LockKey(key)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	c, err := s.Create(created(idA), at)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	acked = append(acked, event.Event{Seq: 1, Body: created(idA)})
	for _, b := range []event.Body{
		&event.ToolReplied{Content: event.T(strings.Repeat("語", spilledSize/3))},
		&event.ContextPaused{Reason: "signal", Until: event.Until{Kind: "signal"}},
		&event.ContextResumed{},
		&event.MessageAdded{Role: "user", Content: event.T("ok")},
		&event.ContextCompleted{Reason: "done"},
	} {
		e, err := c.Append(event.Event{Time: at, Body: b})
		if err != nil {
			return acked, err
		}
		acked = append(acked, e)
		err = errors.Join(c.AppendFile("messages.jsonl", []byte("x\n")), c.WriteFile("metadata.json", []byte("{}")))
		if err == nil {
			err = errors.Join(c.SyncFiles())
		}
		if err == nil {
			err = c.Relocate()
		}
		if err != nil {
			return acked, err
		}
	}
	return acked, nil
}

// survives checks everything that must hold of a file system after a fault.
func survives(fsys fsx.FS, acked []event.Event) error {
	var warned []error
	s, err := Open(fsys, Options{Warn: func(err error) { warned = append(warned, err) }})
	if err != nil {
		return err
	}
	var entries []Entry
	for e, err := range s.List() {
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	found, err := s.dirsWith(idA)
	switch {
	case err != nil:
		return err
	case len(found) > 1 || len(entries) != len(found):
		return fmt.Errorf("in %v, listed as %v", found, entries)
	case len(found) == 0 && len(acked) > 0:
		return errors.New("nowhere, but acknowledged")
	case len(found) == 0:
		c, err := s.Create(created(idA), at)
		if err != nil {
			return fmt.Errorf("what is left prevents the next try: %w", err)
		}
		return errors.Join(c.Close(), errors.Join(warned...))
	}
	if id, ok, err := s.Active(key); err != nil || found[0] != Completed && (!ok || id != idA) {
		return fmt.Errorf("live: %q %v %w", id, ok, err)
	}
	return errors.Join(continues(s, acked), errors.Join(warned...))
}

// continues takes the context and works on.
func continues(s *Store, acked []event.Event) error {
	var events []event.Event
	c, err := s.Acquire(idA, func(e event.Event) error { events = append(events, e); return nil })
	if err != nil {
		return err
	}
	if len(events) < len(acked) {
		return fmt.Errorf("%d events, %d were acknowledged", len(events), len(acked))
	}
	want := Running
	for i, e := range events {
		if i < len(acked) && e.Body.Type() != acked[i].Body.Type() {
			return fmt.Errorf("seq %d is %s, acknowledged was %s", e.Seq, e.Body.Type(), acked[i].Body.Type())
		}
		switch b := e.Body.(type) {
		case *event.ToolReplied:
			if whole, err := c.Blob(b.Content.Blob); err != nil || len(whole) != spilledSize {
				return fmt.Errorf("blob of %d bytes: %w", len(whole), err)
			}
		case *event.ContextPaused:
			want = Paused
		case *event.ContextResumed:
			want = Running
		case *event.ContextCompleted:
			want = Completed
		}
	}
	if found, _ := s.dirsWith(idA); len(found) != 1 || found[0] != want || c.Dir() != want {
		return fmt.Errorf("in %v, says %s, want %s", found, c.Dir(), want)
	}
	e, err := c.Append(event.Event{Time: at, Body: &event.ProcessRecovered{}})
	if err == nil && int(e.Seq) != len(events)+1 {
		err = fmt.Errorf("next seq is %d after %d events", e.Seq, len(events))
	}
	return errors.Join(err, c.Relocate(), c.Close())
}

// Killed and cut from power at every operation: never in two directories, never
// neither, never half-made, everything acknowledged is there.
func TestKilledAnywhere(t *testing.T) {
	points := 0
	for _, inside := range []bool{false, true} {
		for n := 1; ; n++ {
			m := fsx.NewMem()
			m.KillAt(n, inside)
			acked, err := life(m)
			if err == nil {
				points += n
				break
			}
			if !errors.Is(err, fsx.ErrKilled) {
				t.Fatalf("operation %d: %v", n, err)
			}
			for seed, p := range []float64{0, 1, 0.5} {
				if err := survives(m.Crash(int64(seed), p), acked); err != nil {
					t.Errorf("power cut at operation %d (inside %v, p %v, seed %d): %v", n, inside, p, seed, err)
				}
			}
			if err := survives(m.Kill(), acked); err != nil {
				t.Errorf("killed at operation %d (inside %v): %v", n, inside, err)
			}
		}
	}
	if points < 100 {
		t.Fatalf("only %d operations: the run does not do what it should", points)
	}
}

// A process is killed, the next one goes on and acknowledges, then the power
// fails: what the first had renamed but not synced must not come undone with it.
func TestKilledThenPowerCut(t *testing.T) {
	for n := 1; ; n++ {
		m := fsx.NewMem()
		m.KillAt(n, true)
		acked, err := life(m)
		if err == nil {
			return
		}
		next := m.Kill()
		s, err := Open(next, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if found, _ := s.dirsWith(idA); len(found) == 0 {
			continue
		}
		before := 0
		c, err := s.Acquire(idA, func(event.Event) error { before++; return nil })
		if err != nil {
			t.Fatalf("operation %d: %v", n, err)
		}
		if before < len(acked) {
			t.Fatalf("operation %d: %d events of %d", n, before, len(acked))
		}
		add(t, c, &event.ProcessRecovered{})
		var events []event.Event
		for e, err := range s.Events(idA) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		if err := survives(next.Crash(1, 0), events); err != nil {
			t.Errorf("operation %d: %v", n, err)
		}
	}
}

// An error at every operation: nothing is acknowledged after it, the exit code
// fits, and the next process finds everything that was.
func TestErrorAnywhere(t *testing.T) {
	for _, fault := range []struct {
		err  error
		code int
	}{
		{syscall.EIO, ExitIO}, {syscall.EROFS, ExitIO}, {syscall.ENOSPC, ExitTemporary}, {syscall.EMFILE, ExitTemporary},
	} {
		for n := 1; ; n++ {
			m := fsx.NewMem()
			m.FailAt(n, fault.err)
			acked, err := life(m)
			if err == nil {
				if m.Ops() >= n {
					t.Errorf("%v at operation %d was swallowed", fault.err, n)
				}
				break
			}
			if got := ExitCode(err); got != fault.code {
				t.Errorf("%v at operation %d: exit code %d: %v", fault.err, n, got, err)
			}
			if err := survives(m.Kill(), acked); err != nil {
				t.Errorf("%v at operation %d: %v", fault.err, n, err)
			}
		}
	}
}

// After an error nothing more is done with a context.
func TestPoisoned(t *testing.T) {
	m := fsx.NewMem()
	s, err := Open(m, Options{})
	must(t, err)
	c, err := s.Create(created(idA), at)
	must(t, err)
	add(t, c, &event.ContextPaused{})
	m.FailAt(m.Ops()+2, syscall.EIO) // the sync after the rename
	wantExit(t, c.Relocate(), ExitIO)
	for _, err := range []error{c.Relocate(), second(c.Append(event.Event{Time: at, Body: &event.ContextResumed{}}))} {
		wantExit(t, err, ExitIO)
		if !errors.Is(err, eventlog.ErrPoisoned) {
			t.Errorf("got %v", err)
		}
	}
}

// No directory moves on the strength of a log that failed.
func TestNoMoveAfterFailedAppend(t *testing.T) {
	m := fsx.NewMem()
	s, err := Open(m, Options{})
	must(t, err)
	c, err := s.Create(created(idA), at)
	must(t, err)
	add(t, c, &event.ContextPaused{})
	m.FailAt(m.Ops()+2, syscall.EIO) // the sync of the line
	wantExit(t, second(c.Append(event.Event{Time: at, Body: &event.ContextResumed{}})), ExitIO)
	wantErr(t, c.Relocate(), eventlog.ErrPoisoned)
	if c.Dir() != Running {
		t.Errorf("moved to %s", c.Dir())
	}
}

func second[T any](_ T, err error) error { return err }

// Projection files are durable after SyncFiles and not a moment before.
func TestSyncFiles(t *testing.T) {
	for _, synced := range []bool{false, true} {
		m := fsx.NewMem()
		s, err := Open(m, Options{})
		must(t, err)
		c, err := s.Create(created(idA), at)
		must(t, err)
		name := "planning/" + idA + ".jsonl"
		must(t, c.AppendFile(name, []byte("ab")), c.WriteFile("metadata.json", []byte("{}")))
		if synced {
			must(t, c.SyncFiles())
		}
		after := m.Crash(1, 0)
		plan, _ := fsx.ReadFile(after, "running/"+idA+"/"+name, 10)
		meta, _ := fsx.ReadFile(after, "running/"+idA+"/metadata.json", 10)
		if got := string(plan) + string(meta); (got == "ab{}") != synced {
			t.Errorf("synced %v: %q after a power cut", synced, got)
		}
	}
}
