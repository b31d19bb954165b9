package contexts

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"agent/eventlog/event"
)

// Saved files belong to their context: they are where it is, and nowhere when it is gone.
func TestObjectsFollowTheirContext(t *testing.T) {
	s, dir := realStore(t, Options{})
	c, err := s.Create(created(idA), at)
	must(t, err)
	o := c.Objects()
	if names, err := o.Names(); len(names) > 0 || err != nil {
		t.Errorf("before the first: %q, %v", names, err)
	}
	must(t, o.Keep("pack-1.pack", []byte("one")), o.Sync())
	add(t, c, &event.ContextPaused{})
	must(t, c.Relocate(), o.Keep("pack-2.pack", []byte("two")), o.Sync())
	add(t, c, &event.ContextStopped{})
	must(t, c.Relocate(), c.Close())

	reader := s.Objects(idA)
	names, err := reader.Names()
	if len(names) != 2 || err != nil {
		t.Fatalf("%q, %v", names, err)
	}
	f, err := reader.Open("pack-2.pack")
	must(t, err)
	defer f.Close()
	if data, err := io.ReadAll(f); string(data) != "two" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	where, err := reader.Path()
	must(t, err)
	if data, err := os.ReadFile(filepath.Join(where, "pack/pack-1.pack")); string(data) != "one" || err != nil {
		t.Errorf("at the path: %q, %v", data, err)
	}
	if info, err := os.Stat(where); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := s.Archive(idA); err != nil {
		t.Fatal(err)
	}
	if names, err := reader.Names(); len(names) != 2 || err != nil {
		t.Errorf("archived: %q, %v", names, err)
	}
	if size, err := s.Remove(idA); err != nil || size < 6 {
		t.Errorf("removed %d bytes, %v", size, err)
	}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".pack" {
			return errors.New(path + " is left")
		}
		return err
	}))
}
