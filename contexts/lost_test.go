package contexts

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"agent/eventlog/event"
)

// TestLost: a directory that somebody removed by hand was dropped from the index
// without a word, and the next label began the same task again.
func TestLost(t *testing.T) {
	for name, ends := range map[string][]event.Body{
		"running": nil,
		"paused":  {&event.ContextPaused{}},
		"ended":   {&event.ContextCompleted{}},
	} {
		s, dir := realStore(t, Options{})
		made(t, s, idA, ends...)
		at, err := s.DirOf(idA)
		must(t, err)
		kept := t.TempDir() + "/kept"
		must(t, os.Rename(dir+"/"+pathOf(at, idA), kept))
		for range 2 { // the second heal finds what the first did
			lost, err := s.Heal(t.Context(), nil)
			if err != nil || len(lost) != 1 || lost[0].UUID != idA || lost[0].TaskKey != key {
				t.Fatalf("%s: heal gives %+v %v", name, lost, err)
			}
			wantLost(t, name, s)
		}
		_, live, err := s.Active(key)
		if wantErr := name != "ended"; live || (ExitCode(err) == ExitDamage) != wantErr {
			t.Errorf("%s: active: %v %v", name, live, err)
		}
		made(t, s, idC, &event.ContextStopped{}) // others go on, and it is lost still
		wantLost(t, name, s)

		must(t, os.Rename(kept, dir+"/"+pathOf(at, idA)))
		if lost, err := s.Heal(t.Context(), nil); err != nil || len(lost) > 0 || s.Check(idA) != nil {
			t.Errorf("%s: put back: %v %v %v", name, lost, err, s.Check(idA))
		}
		must(t, os.RemoveAll(dir+"/"+pathOf(at, idA)))
		must(t, os.Chtimes(dir+"/"+string(at), time.Time{}, time.Now())) // where the clock of the file system ticks too slowly
		wantLost(t, name, s)
		forget := func() error {
			_, err := s.Forget(idA, "test", time.Now(), func(*Context) error { return nil })
			return err
		}
		must(t, forget())
		if _, err := s.Find(idA); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: forgotten: %v", name, err)
		}
		must(t, healed(s))
		if x, err := s.snapshot(); err != nil || !x.complete {
			t.Errorf("%s: the index is not complete: %v", name, err)
		}
	}
}

// wantLost: everybody who asks for idA hears the same.
func wantLost(t *testing.T, name string, s *Store) {
	t.Helper()
	_, found := s.Find(idA[:8])
	_, findErr := s.Find(idA)
	if found != nil || ExitCode(findErr) != ExitDamage {
		t.Errorf("%s: find: %v %v", name, found, findErr)
	}
	_, acquired := s.Acquire(idA, nil)
	info, infoErr := s.Info(idA)
	of, ofErr := s.OfTask(key)
	must(t, infoErr, ofErr)
	for _, err := range []error{s.Check(idA), acquired, info.Err, of[slices.IndexFunc(of, func(i Info) bool { return i.UUID == idA })].Err} {
		var lost *LostError
		if !errors.As(err, &lost) || ExitCode(err) != ExitDamage {
			t.Errorf("%s: %v", name, err)
		}
	}
	listed := false
	for e, err := range s.List() {
		must(t, err)
		listed = listed || e.UUID == idA
	}
	for i, err := range s.Infos(Query{States: []string{StateDamaged}}) {
		must(t, err)
		listed = listed && i.UUID == idA
	}
	if !listed {
		t.Errorf("%s: not listed", name)
	}
}

// TestRebuiltWithoutTheLost: who makes the index anew hears what it will not hold.
func TestRebuiltWithoutTheLost(t *testing.T) {
	s, dir := realStore(t, Options{})
	made(t, s, idA, &event.ContextCompleted{})
	must(t, os.RemoveAll(dir+"/completed/"+idA))
	if lost, err := s.RebuildIndex(nil); err != nil || len(lost) != 1 {
		t.Errorf("%v %v", lost, err)
	}
	if lost, err := s.Heal(t.Context(), nil); err != nil || len(lost) > 0 {
		t.Errorf("%v %v", lost, err)
	}
}
