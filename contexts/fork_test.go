package contexts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/internal/fsx"
)

// linesOf are the bytes of a log as it is, unpacked.
func linesOf(t *testing.T, s *Store, id string) string {
	t.Helper()
	f, err := s.Stream(id)
	must(t, err)
	defer f.Close()
	data, err := io.ReadAll(f)
	must(t, err)
	return string(data)
}

func forkOf(origin, id string, seq uint64) *event.ContextForked {
	return &event.ContextForked{UUID: id, Origin: origin, Seq: seq, By: "u"}
}

func fork(s *Store, first *event.ContextForked, at time.Time) error {
	return s.Fork(first.Origin, event.Event{Time: at, Body: first}, event.Event{Time: at, Body: resting})
}

var resting = &event.ContextPaused{Reason: "forked", Until: event.Until{Kind: "person"}}

// worked is a context with everything that a fork copies: large texts, saved files.
func worked(t *testing.T, s *Store, id string, ends ...event.Body) {
	t.Helper()
	c, err := s.Create(created(id), at)
	must(t, err)
	o := c.Objects()
	must(t, o.Keep("pack-1.pack", []byte("one")), o.Keep("pack-1.idx", []byte("index")), o.Sync())
	for _, b := range append([]event.Body{&event.ToolReplied{Content: event.T(strings.Repeat("語", spilledSize/3))},
		&event.LLMRequested{Estimated: 7}, &event.LLMReplied{Usage: event.Usage{Prompt: 100, Completion: 10}}, &event.MessageAdded{Role: "user", Content: event.T("ok")}}, ends...) {
		add(t, c, b)
	}
	must(t, c.Relocate(), c.Close())
}

// A fork begins with its origin's lines, byte for byte, wherever that lies: it runs, is
// paused, has ended, or is archived. Nothing of the origin changes, and the fork lives
// without it.
func TestFork(t *testing.T) {
	for name, ends := range map[string][]event.Body{"running": nil, "paused": {&event.ContextPaused{Reason: "x"}},
		"ended": {&event.ContextCompleted{Reason: "done"}}, "archived": {&event.ContextStopped{Reason: "x"}}} {
		s, dir := realStore(t, Options{})
		worked(t, s, idA, ends...)
		if name == "archived" {
			_, err := s.Archive(idA)
			must(t, err)
		}
		before := linesOf(t, s, idA)
		if name == "running" { // somebody works on it
			c, _ := acquire(t, s, idA)
			defer c.Close()
		}
		must(t, fork(s, forkOf(idA, idB, 5), at.Add(time.Hour)))
		if linesOf(t, s, idA) != before {
			t.Errorf("%s: the origin has changed", name)
		}
		forked := linesOf(t, s, idB)
		prefix := strings.Join(strings.SplitAfter(before, "\n")[:5], "")
		if !strings.HasPrefix(forked, prefix) || strings.Count(forked, "\n") != 7 {
			t.Errorf("%s: the fork's log is\n%s", name, forked)
		}
		if name == "ended" || name == "archived" {
			_, err := s.Remove(idA)
			must(t, err)
		}
		c, events := acquire(t, s, idB)
		if c.Dir() != Paused || len(events) != 7 {
			t.Errorf("%s: %d events in %s", name, len(events), c.Dir())
		}
		if whole, err := c.Blob(events[1].Body.(*event.ToolReplied).Content.Blob); err != nil || len(whole) != spilledSize {
			t.Errorf("%s: a large text of %d bytes, %v", name, len(whole), err)
		}
		if data, err := os.ReadFile(dir + "/paused/" + idB + "/objects/pack/pack-1.pack"); err != nil || string(data) != "one" {
			t.Errorf("%s: saved files: %q %v", name, data, err)
		}
		info, err := s.Info(idB)
		if err != nil || info.Fork != idA || info.ForkSeq != 5 || info.State != StatePaused || info.Tokens != 0 || info.TaskKey != key {
			t.Errorf("%s: %+v %v", name, info, err)
		}
		add(t, c, &event.ContextResumed{})
		must(t, c.Relocate())
		if c.Dir() != Running || s.Check(idB) != nil {
			t.Errorf("%s: resumed in %s, %v", name, c.Dir(), s.Check(idB))
		}
	}
}

// A fork is not the task's context unless it is live, and nothing inherits from it.
func TestForkIsNotTheTasks(t *testing.T) {
	s, _ := realStore(t, Options{})
	worked(t, s, idA, &event.ContextCompleted{Reason: "done"})
	must(t, fork(s, forkOf(idA, idB, 5), at))
	if id, live, err := s.Active(key); live || err != nil {
		t.Errorf("active: %s %v", id, err)
	}
	first, err := s.Creation(idB)
	if err != nil || first.UUID != idB || first.TaskKey != key {
		t.Errorf("creation: %+v %v", first, err)
	}
	c, _ := acquire(t, s, idB)
	add(t, c, &event.ContextResumed{})
	add(t, c, &event.LLMRequested{})
	add(t, c, &event.LLMReplied{Usage: event.Usage{Prompt: 3, Completion: 1}})
	add(t, c, &event.ContextCompleted{Reason: "done"})
	must(t, c.Relocate(), c.Close())
	must(t, healed(s))
	info, err := s.Info(idB)
	if err != nil || info.Inheritable() || info.Tokens != 4 {
		t.Errorf("%+v %v", info, err)
	}
	if tokens, _, err := s.Spent(Day(at)); err != nil || tokens != 114 { // the origin's once, and the fork's own
		t.Errorf("spent %d %v", tokens, err)
	}
	live := forkOf(idA, idC, 5)
	live.Live = true
	must(t, fork(s, live, at))
	if id, found, err := s.Active(key); !found || id != idC || err != nil {
		t.Errorf("active: %s %v %v", id, found, err)
	}
}

// The index remembers forks; what it says is what the logs say.
func TestForkInTheIndex(t *testing.T) {
	s, dir := realStore(t, Options{})
	worked(t, s, idA, &event.ContextCompleted{Reason: "done"})
	must(t, fork(s, forkOf(idA, idB, 5), at))
	for range 2 {
		found := map[string]string{}
		for i, err := range s.Infos(Query{}) {
			must(t, err, i.Err)
			found[i.UUID] = i.Fork
		}
		if fmt.Sprint(found) != fmt.Sprint(map[string]string{idA: "", idB: idA}) {
			t.Errorf("listed: %v", found)
		}
		must(t, os.RemoveAll(dir+"/index"))
	}
}

// A fork of a fork names the fork, and its log proves the whole descent.
func TestForkOfAFork(t *testing.T) {
	s, _ := realStore(t, Options{})
	worked(t, s, idA, &event.ContextCompleted{Reason: "done"})
	must(t, fork(s, forkOf(idA, idB, 4), at))
	must(t, fork(s, forkOf(idB, idC, 6), at))
	of, err := s.ForkOf(idC)
	if err != nil || of.Origin != idB || s.Check(idC) != nil || s.Provenance(idC) != nil || s.Provenance(idB) != nil {
		t.Errorf("%+v %v", of, err)
	}
	// It cannot be called one of the ancestor whose events these are not alone.
	wantExit(t, fork(s, forkOf(idA, "ffff0000-0000-4000-8000-000000000004", 99), at), 1)
}

// What a log says of its descent is proven, or the context is damaged: a copy in another
// context's directory, a fork of other events, a creation in the middle.
func TestFalseDescent(t *testing.T) {
	other := "ffff0000-0000-4000-8000-000000000004"
	for name, b := range map[string]event.Body{
		"of another context": &event.ContextForked{UUID: idA, Origin: other, Seq: 5, Hash: "00"},
		"of other events":    &event.ContextForked{UUID: idA, Origin: idA, Seq: 5, Hash: strings.Repeat("0", 64)},
		"of later events":    &event.ContextForked{UUID: idA, Origin: idA, Seq: 9, Hash: strings.Repeat("0", 64)},
		"created twice":      created(idA),
	} {
		s, dir := realStore(t, Options{})
		worked(t, s, idA)
		log, _, err := eventlog.Open(mustFS(t, dir), "running/"+idA, ".quarantine/x", func(eventlog.Record) error { return nil })
		must(t, err)
		draft, err := event.Draft(event.Event{Time: at, Body: b})
		must(t, err)
		_, err = log.Append(draft)
		must(t, err, log.Close())
		_, err = s.Acquire(idA, nil)
		wantExit(t, err, ExitDamage)
		info, err := s.Info(idA)
		if err != nil || info.State != StateDamaged && b.Type() != "context.created" {
			t.Errorf("%s: %+v %v", name, info, err)
		}
		wantExit(t, fork(s, forkOf(idA, idB, 3), at), ExitDamage)
	}
}

func mustFS(t *testing.T, dir string) fsx.FS {
	t.Helper()
	fsys, err := fsx.OpenOS(dir)
	must(t, err)
	return fsys
}

// A log that is damaged is not forked, also where the damage comes later. A torn tail is
// an event that is just being written.
func TestForkOfDamage(t *testing.T) {
	s, dir := realStore(t, Options{})
	worked(t, s, idA)
	log := dir + "/running/" + idA + "/events.jsonl"
	whole, err := os.ReadFile(log)
	must(t, err)
	must(t, os.WriteFile(log, append(bytes.Clone(whole), `{"seq":6,"ti`...), 0o600))
	must(t, fork(s, forkOf(idA, idB, 5), at))
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-30] ^= 1
	must(t, os.WriteFile(log, flipped, 0o600))
	wantExit(t, fork(s, forkOf(idA, idC, 2), at), ExitDamage)
	if _, err := s.Find(idC); !errors.Is(err, ErrUnknown) {
		t.Errorf("something is left of it: %v", err)
	}
}

// Damage in the origin's part of a fork leaves nothing of its own: repair says so.
func TestRepairFork(t *testing.T) {
	s, dir := realStore(t, Options{})
	worked(t, s, idA)
	must(t, fork(s, forkOf(idA, idB, 5), at))
	log := dir + "/paused/" + idB + "/events.jsonl"
	whole, err := os.ReadFile(log)
	must(t, err)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	lines[2][20] ^= 1
	must(t, os.WriteFile(log, bytes.Join(lines, nil), 0o600))
	_, err = s.Repair(idB, at)
	wantExit(t, err, ExitDamage)
	lines[2][20] ^= 1
	lines[6][20] ^= 1 // its own pause
	must(t, os.WriteFile(log, bytes.Join(lines, nil), 0o600))
	lost, err := s.Repair(idB, at)
	if err != nil || lost.Lines != 1 || s.Check(idB) != nil {
		t.Errorf("%+v %v %v", lost, err, s.Check(idB))
	}
}

// Killed and cut from power at every operation of a fork: there is nothing, or all of
// it, the origin is what it was, and the next try succeeds.
func TestForkKilledAnywhere(t *testing.T) {
	points := 0
	for n := 1; ; n += exhaustive.Every(7) {
		m := fsx.NewMem()
		s, err := Open(m, Options{})
		must(t, err)
		worked(t, s, idA, &event.ContextCompleted{Reason: "done"})
		before := linesOf(t, s, idA)
		m.KillAt(n, n%2 == 0)
		err = fork(s, forkOf(idA, idB, 5), at)
		if err == nil {
			break
		}
		points++
		if !errors.Is(err, fsx.ErrKilled) {
			t.Fatalf("operation %d: %v", n, err)
		}
		for seed, p := range []float64{0, 1, 0.5} {
			if err := forkSurvives(m.Crash(int64(seed), p), before); err != nil {
				t.Errorf("power cut at operation %d (p %v): %v", n, p, err)
			}
		}
		if err := forkSurvives(m.Kill(), before); err != nil {
			t.Errorf("killed at operation %d: %v", n, err)
		}
	}
	if points < 5 {
		t.Fatalf("only %d points", points)
	}
}

func forkSurvives(fsys fsx.FS, before string) error {
	s, err := Open(fsys, Options{})
	if err != nil {
		return err
	}
	found, err := s.dirsWith(idB)
	if err != nil || len(found) > 1 {
		return fmt.Errorf("in %v: %w", found, err)
	}
	if len(found) == 0 {
		if err := fork(s, forkOf(idA, idB, 5), at); err != nil {
			return fmt.Errorf("what is left prevents the next try: %w", err)
		}
	}
	seen := 0
	c, err := s.Acquire(idB, func(e event.Event) error { seen++; return nil })
	if err != nil {
		return err
	}
	defer c.Close()
	for _, hash := range []string{"pack-1.pack", "pack-1.idx"} {
		if _, err := c.Objects().Open(hash); err != nil {
			return err
		}
	}
	f, err := s.Stream(idA)
	if err != nil {
		return err
	}
	defer f.Close()
	if now, err := io.ReadAll(f); err != nil || string(now) != before || seen != 7 || c.Dir() != Paused {
		return fmt.Errorf("%d events in %s, the origin is the same: %v (%w)", seen, c.Dir(), string(now) == before, err)
	}
	var report Collected
	return s.Collect(context.Background(), Retention{Now: at.AddDate(1, 0, 0), RemoveAfter: 1}, &report)
}
