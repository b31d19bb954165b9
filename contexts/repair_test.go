package contexts

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

func TestReadersSeeAroundTrouble(t *testing.T) {
	s, dir := realStore(t, Options{})
	made(t, s, idA, &event.MessageAdded{Role: "user"})
	running := filepath.Join(dir, "running", idA)
	line("some.thing", 3, `{"a":1}`)(t, running)
	line("message.added", 99, `{"role":"user"}`)(t, running)
	line("context.resumed", 1, `{}`)(t, running)
	before := tree(t, dir)
	var kinds []string
	for e, err := range s.Events(idA) {
		switch {
		case errors.Is(err, event.ErrNewer):
			kinds = append(kinds, fmt.Sprintf("newer:%d:%v", e.Seq, e.Time.Equal(at)))
		case err != nil:
			t.Fatal(err)
		default:
			kinds = append(kinds, e.Body.Type())
		}
	}
	want := "[context.created message.added some.thing newer:4:true context.resumed]"
	if fmt.Sprint(kinds) != want {
		t.Errorf("got %v, want %v", kinds, want)
	}
	edit(func(b []byte) []byte { b[bytes.IndexByte(b, '\n')+30] ^= 1; return b })(t, running)
	good, bad := 0, 0
	for l, err := range s.Lines(idA) {
		must(t, err)
		if l.Err != nil {
			bad++
		} else {
			good++
		}
	}
	var last error
	for _, last = range s.Events(idA) {
	}
	wantExit(t, last, ExitDamage)
	if bad < 1 || good+bad != 5 || tree(t, dir) != before {
		t.Errorf("%d good, %d bad lines, or something was written", good, bad)
	}
}

func TestRepair(t *testing.T) {
	s, dir := realStore(t, Options{})
	made(t, s, idA, &event.MessageAdded{Role: "user"}, &event.MessageAdded{Role: "user"}, &event.ContextCompleted{})
	if lost, err := s.Repair(idA, at); err != nil || lost.Bytes != 0 || len(drain(t, s, idA)) != 4 {
		t.Fatalf("nothing to repair: %+v, %v", lost, err)
	}
	edit(func(b []byte) []byte { b[bytes.LastIndexByte(b[:len(b)-1], '\n')+30] ^= 1; return b })(t, filepath.Join(dir, "completed", idA))
	wantExit(t, second(s.Acquire(idA, nil)), ExitDamage)
	lost, err := s.Repair(idA, at)
	must(t, err)
	c, events := acquire(t, s, idA)
	note, ok := events[len(events)-1].Body.(*event.ProcessRecovered)
	if !ok || len(events) != 4 || note.GivenUp != lost.Bytes || note.Quarantine == "" || c.Dir() != Running {
		t.Errorf("events %v, lost %+v, in %s", events, lost, c.Dir())
	}
	if !exists(t, filepath.Join(dir, note.Quarantine)) {
		t.Error("the original is not in quarantine")
	}
	must(t, c.Close())
	edit(func(b []byte) []byte { b[10] ^= 1; return b })(t, filepath.Join(dir, "running", idA))
	_, err = s.Repair(idA, at)
	wantExit(t, err, ExitDamage) // nothing is left to keep
	wantErr(t, second(s.Repair(idB, at)), ErrUnknown)
}

// A context in completed/ whose log never ended goes back to work, and says so.
func TestRepairAheadOfItsLog(t *testing.T) {
	s, dir := realStore(t, Options{})
	made(t, s, idA)
	must(t, os.Rename(filepath.Join(dir, "running", idA), filepath.Join(dir, "completed", idA)))
	wantExit(t, second(s.Acquire(idA, nil)), ExitDamage)
	must(t, second(s.Repair(idA, at)))
	c, events := acquire(t, s, idA)
	if _, ok := events[len(events)-1].Body.(*event.ProcessRecovered); !ok || c.Dir() != Running {
		t.Errorf("events %v in %s", events, c.Dir())
	}
}

// What this release cannot read is not given up.
func TestRepairOfNewerLog(t *testing.T) {
	s, dir := realStore(t, Options{})
	made(t, s, idA)
	running := filepath.Join(dir, "running", idA)
	line("message.added", 99, `{}`)(t, running)
	line("message.added", 1, `{}`)(t, running)
	edit(func(b []byte) []byte { b[len(b)-30] ^= 1; return b })(t, running)
	before := tree(t, dir)
	wantExit(t, second(s.Repair(idA, at)), ExitUnsupported)
	if after := tree(t, dir); after != before {
		t.Errorf("changed from\n%s\nto\n%s", before, after)
	}
}

// Repair killed at every operation: what was valid stays, and repair can be
// asked for again.
func TestRepairKilledAnywhere(t *testing.T) {
	for n := 1; ; n++ {
		m := damaged(t)
		m.KillAt(m.Ops()+n, true)
		s := &Store{fs: m, o: Options{Warn: func(error) {}, Rand: rand.Reader}, tail: maxTail}
		_, err := s.Repair(idA, at)
		done := err == nil
		if !done && !errors.Is(err, fsx.ErrKilled) {
			t.Fatal(err)
		}
		for _, next := range []*fsx.Mem{m.Crash(1, 0), m.Crash(2, 0.5), m.Kill()} {
			s, err := Open(next, Options{})
			must(t, err)
			must(t, second(s.Repair(idA, at)))
			c, events := acquire(t, s, idA)
			if len(events) < 2 || c.Dir() != Running {
				t.Errorf("operation %d: %d events in %s", n, len(events), c.Dir())
			}
			if whole, err := next.ReadDir(quarantineDir); err != nil || len(whole) == 0 {
				t.Errorf("operation %d: the original is not in quarantine: %v", n, err)
			}
		}
		if done {
			return
		}
	}
}

// damaged has a completed context whose last line is damaged.
func damaged(t *testing.T) *fsx.Mem {
	t.Helper()
	m := fsx.NewMem()
	s, err := Open(m, Options{})
	must(t, err)
	made(t, s, idA, &event.MessageAdded{Role: "user"}, &event.ContextCompleted{})
	name := "completed/" + idA + "/" + eventlog.FileName
	data, err := fsx.ReadFile(m, name, 1<<20)
	must(t, err)
	data[len(data)-30] ^= 1
	must(t, fsx.WriteFile(m, name, data))
	return m
}
