package contexts

import (
	"maps"
	"path"
	"slices"
	"testing"

	"agent/eventlog/event"
	"agent/internal/fsx"
)

// unsynced knows the directories whose change by a rename is not durable. Where
// a file system does not write both ends of a rename in one transaction, a power
// cut makes two contexts of one whose old directory was not synced, or none of
// one whose new directory was not.
type unsynced struct {
	fsx.FS
	dirs map[string]bool
}

func (u unsynced) RenameNoReplace(old, new string) error {
	err := u.FS.RenameNoReplace(old, new)
	if err == nil {
		u.dirs[path.Dir(old)], u.dirs[path.Dir(new)] = true, true
	}
	return err
}

func (u unsynced) SyncDir(name string) error {
	err := u.FS.SyncDir(name)
	if err == nil {
		delete(u.dirs, name)
	}
	return err
}

// After every move both directories are durable: the one that the context left
// and the one that it came to.
func TestMovesSyncBothDirectories(t *testing.T) {
	u := unsynced{fsx.NewMem(), map[string]bool{}}
	s, err := Open(u, Options{})
	must(t, err)
	check := func(what string) {
		t.Helper()
		if left := slices.Sorted(maps.Keys(u.dirs)); len(left) > 0 {
			t.Errorf("%s: not synced: %v", what, left)
		}
	}
	c, err := s.Create(created(idA), at)
	must(t, err)
	check("create")
	for _, b := range []event.Body{&event.ContextPaused{}, &event.ContextResumed{}, &event.ContextPaused{}, &event.ContextCompleted{}} {
		before := c.Dir()
		add(t, c, b)
		must(t, c.Relocate())
		if c.Dir() == before {
			t.Fatalf("%s did not move it", b.Type())
		}
		check(b.Type())
	}
	must(t, c.Close())
}

// The same of those moves that take a context out of the store or aside.
func TestRemovalsSyncBothDirectories(t *testing.T) {
	u := unsynced{fsx.NewMem(), map[string]bool{}}
	s, err := Open(u, Options{})
	must(t, err)
	made(t, s, idA, &event.ContextCompleted{})
	must(t, second(s.Remove(idA)))
	made(t, s, idB, &event.ContextPaused{})
	must(t, second(s.quarantine(Paused, idB)))
	if left := slices.Sorted(maps.Keys(u.dirs)); len(left) > 0 {
		t.Errorf("not synced: %v", left)
	}
}
