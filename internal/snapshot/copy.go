package snapshot

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Options of a [Copy].
type Options struct {
	Largest int64             // bytes of a file that is saved
	Secret  func(string) bool // whether a text holds a secret value; nil: none does

	// Original gives contents of the repository that the work began on, as far as it
	// has them. What they hold is checked. nil: there is none.
	Original func(ctx context.Context, names []string, each func(name string, content []byte)) error
}

// Copy is a working copy whose files are saved. It is used by one goroutine at a time.
type Copy struct {
	Dir     string
	format  int
	store   *Store
	base    *Tree // that the work began on
	last    *Tree // saved last
	cache   *cacheDir
	said    map[NotSaved]bool // that a save has named
	started int64             // when the files are read, in nanoseconds
	o       Options
}

// NewCopy is the working copy in dir, whose files were last seen as last, which is base
// at first. said are the files that earlier saves have named as not saved.
func NewCopy(dir string, store *Store, base, last *Tree, said []NotSaved, o Options) (*Copy, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("save files: %w", err)
	}
	if !last.Whole() {
		return nil, fmt.Errorf("the tree %s %w as a whole", last.name, ErrMissing)
	}
	c := &Copy{Dir: dir, format: base.format, store: store, base: base, last: last, o: o, said: map[NotSaved]bool{}}
	for _, n := range said {
		c.said[n] = true
	}
	return c, nil
}

// Last is the tree that was saved last, or that the work began on.
func (c *Copy) Last() *Tree { return c.last }

// Change is a path of a save.
type Change struct {
	Path           string
	Before, Now    Entry // the zero entry is none
	Added, Removed int   // lines; 0 for what is no text, or not known
	Binary         bool
}

// Saved is what a save found.
type Saved struct {
	Tree     string // its name
	From     string // name of the tree before
	Changes  []Change
	NotSaved []NotSaved // that no save has named before
}

// ReadError says that the copy could not be read. Every other error is of the store.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return "read files: " + e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

// Nothing reports whether there is nothing to tell.
func (s Saved) Nothing() bool { return s.Tree == s.From && len(s.NotSaved) == 0 }

// Request says what a save is to read.
type Request struct {
	// Paths are the only files that can have changed, relative with slashes. What they
	// cannot tell is found out by reading all. nil: all files.
	Paths []string
	// Without names the files and directories among new paths that are left out; a
	// directory ends in a slash. New paths are in no tree that was saved.
	Without func(fresh []string) []string
}

// Save stores what has changed since the last save. Nobody must change the files meanwhile.
func (c *Copy) Save(ctx context.Context, r Request) (Saved, error) {
	saved := Saved{Tree: c.last.name, From: c.last.name}
	found, err := c.read(ctx, r)
	if err != nil {
		return saved, &ReadError{err}
	}
	next := c.last.With(found.changes)
	list, err := Compare(c.last, next)
	if err != nil {
		return saved, fmt.Errorf("save files: %w", err)
	}
	if saved.Changes, err = c.keep(ctx, list, next, found.blobs); err != nil {
		return saved, err
	}
	for _, n := range found.not {
		if !c.said[n] {
			c.said[n] = true
			saved.NotSaved = append(saved.NotSaved, n)
		}
	}
	c.last, saved.Tree = next, next.name
	return saved, nil
}

// read finds what differs from the last tree.
func (c *Copy) read(ctx context.Context, r Request) (found *scanned, err error) {
	c.started = time.Now().UnixNano()
	if paths, ok := ofCopy(r.Paths); ok && c.cache != nil {
		if found, ok, err = c.scanPaths(ctx, paths, r.Without); ok || err != nil {
			return found, err
		}
	}
	return c.scan(ctx, r.Without)
}

// ofCopy are paths as trees have them; ok is false if one is not below the copy.
func ofCopy(paths []string) (clean []string, ok bool) {
	for _, p := range paths {
		if p = path.Clean(p); p == "." || path.IsAbs(p) || p == ".." || strings.HasPrefix(p, "../") {
			return nil, false
		}
		clean = append(clean, p)
	}
	return clean, len(clean) > 0
}

// wanted are the candidates without those that are to be left out.
func (c *Copy) wanted(list []candidate, without func([]string) []string) []candidate {
	var fresh []string
	for _, x := range list {
		if _, known := c.base.Entry(x.path); !known && x.known.Name == "" {
			fresh = append(fresh, x.path)
		}
	}
	if without == nil || len(fresh) == 0 {
		return list
	}
	slices.Sort(fresh)
	out := without(fresh)
	if len(out) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(x candidate) bool {
		_, isNew := slices.BinarySearch(fresh, x.path)
		return isNew && slices.ContainsFunc(out, func(o string) bool {
			return x.path == o || strings.HasSuffix(o, "/") && strings.HasPrefix(x.path, o)
		})
	})
}

// group is how many bytes of contents are held before they are stored.
const group = 64 << 20

// keep stores what two trees need to be compared: the trees on the way, and both
// contents of each path.
func (c *Copy) keep(ctx context.Context, list []Difference, next *Tree, blobs map[string]object) ([]Change, error) {
	trees := map[string]object{}
	for _, d := range list {
		c.last.onTheWay(d.Path, trees)
		next.onTheWay(d.Path, trees)
	}
	var objects []object
	for _, o := range trees {
		objects = append(objects, o)
	}
	before, err := c.before(ctx, list)
	if err != nil {
		return nil, err
	}
	size := 0
	var changes []Change
	for _, d := range list {
		if name := d.Now.Name; name != "" && d.Now.Mode != ModeSubmodule && blobs[name].name == "" && !c.store.Has(name) {
			return nil, fmt.Errorf("save files: the content of %q %w", d.Path, ErrMissing)
		}
		changes = append(changes, measure(d, before, blobs))
		for _, o := range []object{before[d.Before.Name], blobs[d.Now.Name]} {
			if o.name != "" {
				objects = append(objects, o)
				size += len(o.data)
			}
		}
		if size > group {
			if err := c.store.put(c.format, objects); err != nil {
				return nil, err
			}
			objects, size = nil, 0
		}
	}
	return changes, c.store.put(c.format, objects)
}

// before gives the earlier contents of what has changed, those of the repository and
// those that are stored. One that is not there, or holds a secret, is left out.
func (c *Copy) before(ctx context.Context, list []Difference) (map[string]object, error) {
	all := map[string]object{}
	var wanted []string
	for _, d := range list {
		name := d.Before.Name
		if name == "" || d.Before.Mode == ModeSubmodule {
			continue
		}
		if data, ok := c.store.Blob(name); ok {
			all[name] = object{name, kindBlob, data}
		} else {
			wanted = append(wanted, name)
		}
	}
	if len(wanted) == 0 || c.o.Original == nil {
		return all, nil
	}
	err := c.o.Original(ctx, wanted, func(name string, data []byte) {
		secret := c.o.Secret != nil && c.o.Secret(string(data))
		if !secret && int64(len(data)) <= c.o.Largest && nameOf(c.format, kindBlob, data) == name {
			all[name] = object{name, kindBlob, data}
		}
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	_ = err // what the repository does not give is missing in a diff, and the save is as good
	return all, nil
}

func measure(d Difference, before, blobs map[string]object) Change {
	change := Change{Path: d.Path, Before: d.Before, Now: d.Now}
	old, now := before[d.Before.Name], blobs[d.Now.Name]
	if d.Before.Name == d.Now.Name || d.Before.Mode == ModeSubmodule || d.Now.Mode == ModeSubmodule {
		return change // only the mode
	}
	if d.Before.Name != "" && old.name == "" || d.Now.Name != "" && now.name == "" {
		return change // one of them is not known
	}
	change.Added, change.Removed, change.Binary = Lines(old.data, now.data)
	return change
}
