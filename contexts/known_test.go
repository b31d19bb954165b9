package contexts

import (
	"os"
	"path/filepath"
	"testing"

	"agent/eventlog"
	"agent/eventlog/event"
)

// states lists contexts as uuid and state.
func states(infos []Info) (all []string) {
	for _, i := range infos {
		all = append(all, i.UUID[len(i.UUID)-1:]+" "+i.State)
	}
	return all
}

// What a first screen shows is there without reading logs: those that live before the others.
func TestKnown(t *testing.T) {
	s, dir := realStore(t, Options{})
	if got, err := s.Known(5); err != nil || len(got) != 0 {
		t.Errorf("an empty store: %v, %v", got, err)
	}
	made(t, s, idA, &event.ContextCompleted{Reason: "done"})
	made(t, s, idB, &event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "signal"}})
	made(t, s, idC)
	for n, want := range map[int][]string{0: nil, 1: {"3 running"}, 2: {"3 running", "2 paused"}, 9: {"3 running", "2 paused", "1 completed"}} {
		got, err := s.Known(n)
		must(t, err)
		if g, w := states(got), want; len(g) != len(w) || len(w) > 0 && (g[0] != w[0] || g[len(g)-1] != w[len(w)-1]) {
			t.Errorf("Known(%d) is %v, want %v", n, g, w)
		}
	}
	_, err := s.RebuildIndex(nil)
	must(t, err)
	got, err := s.Known(9) // the rows are in contexts.jsonl now, not in the tail
	must(t, err)
	if len(got) != 3 || got[2].Title != "t" {
		t.Errorf("after a rebuild: %+v", got)
	}
	must(t, os.RemoveAll(filepath.Join(dir, "index")))
	if got, err := s.Known(9); err != nil || len(got) != 0 {
		t.Errorf("without an index: %v, %v", got, err)
	}
}

// Who lists again and again reads a log once, and again when it has grown. That it is not
// read shows by damage that only reading finds.
func TestSeen(t *testing.T) {
	s, dir := realStore(t, Options{})
	made(t, s, idA, &event.ProcessStarted{Version: "1"})
	name := filepath.Join(dir, string(Running), idA, eventlog.FileName)
	info, err := os.Stat(name)
	must(t, err)
	whole, err := os.ReadFile(name)
	must(t, err)
	hurt := append([]byte(nil), whole...)
	hurt[20] ^= 1
	write := func(data []byte) {
		t.Helper()
		must(t, os.WriteFile(name, data, 0o600))
		must(t, os.Chtimes(name, info.ModTime(), info.ModTime()))
	}
	state := func(seen *Seen) string {
		t.Helper()
		for i, err := range s.Infos(Query{Seen: seen}) {
			must(t, err)
			return i.State
		}
		return "nothing"
	}
	seen := &Seen{}
	if got := state(seen); got != StateRunning {
		t.Fatalf("it is %s", got)
	}
	write(hurt)
	if got := state(seen); got != StateRunning {
		t.Errorf("an unchanged file was read again: %s", got)
	}
	if got := state(nil); got != StateDamaged {
		t.Errorf("who remembers nothing finds it %s", got)
	}
	if got := state(&Seen{Longest: 10}); got != StateRunning {
		t.Errorf("a long log was read: %s", got)
	}
	write(whole)
	c, _ := acquire(t, s, idA)
	add(t, c, &event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "signal"}})
	for name, seen := range map[string]*Seen{"a log that grew": seen, "a long log": {Longest: 10}} {
		if got := state(seen); got != StatePaused {
			t.Errorf("%s: %s", name, got)
		}
	}
}
