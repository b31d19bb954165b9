package contexts

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agent/eventlog/event"
	"agent/internal/fsx"
)

func TestSignals(t *testing.T) {
	s, dir := realStore(t, Options{})
	made(t, s, idA)
	must(t, s.Send(idA, Resume, []byte(`{"add":1}`)), s.Send(idA, Resume, []byte(`{"add":2}`)), s.Send(idA, Stop, nil))
	got, err := s.Pending(idA)
	must(t, err)
	if string(got[Resume]) != `{"add":2}` || len(got) != 2 || got[Stop] == nil {
		t.Errorf("pending %v", got)
	}
	must(t, s.Clear(idA, Resume), s.Clear(idA, Resume))
	if got, err := s.Pending(idA); err != nil || len(got) != 1 {
		t.Errorf("pending %v, %v", got, err)
	}
	must(t, s.Send(idA, Resume, []byte(`{"add":3}`)), second(s.Pending(idA)))
	other, err := openReal(dir, Options{})
	must(t, err, other.Send(idA, Resume, []byte(`{"add":4}`)), s.Clear(idA, Resume))
	if got, err := s.Pending(idA); err != nil || string(got[Resume]) != `{"add":4}` {
		t.Errorf("a signal that nobody read was cleared: %v, %v", got, err)
	}
	must(t, s.Clear(idA, Resume), s.Clear(idA, Stop), s.Send(idA, Pause, nil))
	must(t, syscall.Mkfifo(filepath.Join(dir, ".control", idA+".stop"), 0o600))
	got, err = s.Pending(idA)
	wantExit(t, err, ExitDamage)
	if len(got) != 1 {
		t.Errorf("a bad signal hides the others: %v", got)
	}
	wantErr(t, s.Send(idB, Stop, nil), ErrUnknown)
	wantErr(t, s.Send("../"+idA, Stop, nil), ErrUnknown)
	wantErr(t, s.Clear("../"+idA, Stop), ErrUnknown)
	wantErr(t, s.Send(idA, Stop, make([]byte, maxSignal+1)), fsx.ErrTooLarge)
}

// TestLastWordCounts: a pause that nobody has taken is withdrawn by a resume, and the other way round.
func TestLastWordCounts(t *testing.T) {
	s, _ := realStore(t, Options{})
	made(t, s, idA)
	for _, g := range []Signal{Pause, Resume, Pause, Pause, Resume} {
		must(t, s.Send(idA, Stop, nil), s.Send(idA, g, nil))
		if got, err := s.Pending(idA); err != nil || len(got) != 2 || got[g] == nil || got[Stop] == nil {
			t.Errorf("after %s: pending %v, %v", g, got, err)
		}
	}
}

// A signal that comes when its context has ended is removed, and no other one.
func TestLateSignals(t *testing.T) {
	s, _ := realStore(t, Options{})
	for _, id := range []string{idA, idB} {
		made(t, s, id)
		must(t, s.Send(id, Pause, nil), s.Send(id, Stop, []byte("x")))
	}
	c, err := s.Acquire(idA, nil)
	must(t, err, second(c.Append(event.Event{Time: at, Body: &event.ContextCompleted{}})), c.Relocate(), c.Close(), s.ClearLate())
	for id, want := range map[string]int{idA: 0, idB: 2} {
		if got, err := s.Pending(id); err != nil || len(got) != want {
			t.Errorf("%s: pending %v, %v; want %d", id, got, err, want)
		}
	}
}

// A signal is durable when Send returns, a cleared one stays away.
func TestSignalsSurvive(t *testing.T) {
	m := fsx.NewMem()
	s, err := Open(m, Options{})
	must(t, err)
	made(t, s, idA)
	must(t, s.Send(idA, Stop, []byte("x")))
	s, err = Open(m.Crash(1, 0), Options{})
	must(t, err)
	if got, err := s.Pending(idA); err != nil || string(got[Stop]) != "x" {
		t.Errorf("pending %v, %v", got, err)
	}
	must(t, s.Clear(idA, Stop))
	s, err = Open(s.fs.(*fsx.Mem).Crash(1, 0), Options{})
	must(t, err)
	if got, err := s.Pending(idA); err != nil || len(got) != 0 {
		t.Errorf("pending %v, %v", got, err)
	}
}

func TestKey(t *testing.T) {
	m := fsx.NewMem()
	s, err := Open(m, Options{Rand: strings.NewReader(strings.Repeat("0123456789abcdef", 3))})
	must(t, err)
	k, err := s.Key()
	if err != nil || string(k) != strings.Repeat("0123456789abcdef", 2) {
		t.Fatalf("key %q, %v", k, err)
	}
	s, err = Open(m.Crash(1, 0), Options{})
	must(t, err)
	if again, err := s.Key(); err != nil || !bytes.Equal(again, k) {
		t.Errorf("after a power cut %q, %v", again, err)
	}
	real, dir := realStore(t, Options{})
	must(t, second(real.Key()), os.Chmod(filepath.Join(dir, keyFile), 0o640))
	wantExit(t, second(real.Key()), ExitConfig)
	must(t, os.Chmod(filepath.Join(dir, keyFile), 0o600), os.Truncate(filepath.Join(dir, keyFile), 31))
	wantExit(t, second(real.Key()), ExitDamage)
	must(t, os.Remove(filepath.Join(dir, keyFile)))
	must(t, second(real.Key())) // lost: a new one
}
