package snapshot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Found is how a copy differs from a tree.
type Found struct {
	Tree    string       // name of the tree that the copy is
	Changes []Difference // Before is in the tree, Now in the copy
	blobs   map[string]object
}

// Differs reads the copy and says how it differs from the tree that was saved last. It
// stores nothing.
func (c *Copy) Differs(ctx context.Context, without func([]string) []string) (Found, error) {
	found, err := c.read(ctx, Request{Without: without})
	if err != nil {
		return Found{}, &ReadError{err}
	}
	now := c.last.With(found.changes)
	list, err := Compare(c.last, now)
	return Found{now.name, list, found.blobs}, err
}

// Bounds of what is kept aside.
const (
	keptFiles = 2000
	keptBytes = 256 << 20
)

// Kept says what became of contents that were in the way.
type Kept struct {
	Paths []string // that were put aside
	Lost  int      // that were too many, or too large
}

// Put copies what the copy has instead of the tree into a directory, which it makes.
// Nothing is there twice if it is done again.
func (f Found) Put(dir string) (kept Kept, err error) {
	room := int64(keptBytes)
	for _, d := range f.Changes {
		blob, ok := f.blobs[d.Now.Name]
		if !ok {
			continue // it is gone in the copy, or a submodule
		}
		if room -= int64(len(blob.data)); room < 0 || len(kept.Paths) == keptFiles {
			kept.Lost++
			continue
		}
		if len(kept.Paths) == 0 {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return kept, fmt.Errorf("keep files: %w", err)
			}
		}
		if err := writeBelow(dir, d.Path, d.Now.Mode, blob.data); err != nil {
			return kept, fmt.Errorf("keep %q: %w", d.Path, err)
		}
		kept.Paths = append(kept.Paths, d.Path)
	}
	return kept, nil
}

// Missing are paths whose content is known nowhere.
type Missing []string

// Fill makes the copy what the tree that was saved last says, where it differs. Contents
// come from the store and from the repository.
func (c *Copy) Fill(ctx context.Context, f Found) (missing Missing, err error) {
	root, err := openRoot(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("restore files: %w", err)
	}
	defer root.close()
	for _, d := range f.Changes { // what is too much first: it may be in the way
		if d.Now.Name != "" && d.Now.Mode != ModeSubmodule && d.Before.Name == "" {
			if err := root.remove(d.Path); err != nil {
				return nil, fmt.Errorf("restore %q: %w", d.Path, err)
			}
		}
	}
	contents, err := c.contents(ctx, f.Changes)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Changes {
		if d.Before.Name == "" || d.Before.Mode == ModeSubmodule {
			continue
		}
		data, ok := contents(d.Before.Name)
		if !ok {
			missing = append(missing, d.Path)
			continue
		}
		if err := root.write(d.Path, d.Before.Mode, data); err != nil {
			return missing, fmt.Errorf("restore %q: %w", d.Path, err)
		}
	}
	return missing, nil
}

// contents finds contents in the store, and those that it does not have in the repository.
func (c *Copy) contents(ctx context.Context, list []Difference) (func(name string) ([]byte, bool), error) {
	var wanted []string
	for _, d := range list {
		if d.Before.Name != "" && d.Before.Mode != ModeSubmodule && !c.store.Has(d.Before.Name) {
			wanted = append(wanted, d.Before.Name)
		}
	}
	original := map[string][]byte{}
	if len(wanted) > 0 && c.o.Original != nil {
		err := c.o.Original(ctx, wanted, func(name string, data []byte) {
			if nameOf(c.format, kindBlob, data) == name {
				original[name] = slices.Clone(data)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("restore files: %w", err)
		}
	}
	return func(name string) ([]byte, bool) {
		if data, ok := c.store.Blob(name); ok {
			return data, true
		}
		data, ok := original[name]
		return data, ok
	}, nil
}

// WriteBelow writes the entries of a tree whose contents the store has into a directory
// that is empty or not there. missing are the others.
func (s *Store) WriteBelow(dir string, t *Tree) (missing Missing, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("write files: %w", err)
	}
	t.Walk(func(path string, e Entry) {
		data, ok := s.Blob(e.Name)
		switch {
		case e.Mode == ModeSubmodule || err != nil:
		case !ok:
			missing = append(missing, path)
		default:
			if failed := writeBelow(dir, path, e.Mode, data); failed != nil {
				err = fmt.Errorf("write %q: %w", path, failed)
			}
		}
	})
	return missing, err
}

func writeBelow(dir, path, mode string, data []byte) error {
	root, err := openRoot(dir)
	if err != nil {
		return err
	}
	defer root.close()
	return root.write(path, mode, data)
}

// parent opens the directory of a path, which it makes where it is missing. What lies
// in its way, as a file or a link, is removed.
func (d directory) parent(path string, create bool) (parent directory, name string, err error) {
	parent, err = d.sub(".")
	for err == nil {
		dir, left, below := strings.Cut(path, "/")
		if !plainName(dir) {
			parent.close()
			return directory{}, "", fmt.Errorf("%q is no name of a file in git", dir)
		}
		if !below {
			return parent, dir, nil
		}
		var next directory
		next, err = parent.sub(dir)
		if create && (errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)) {
			if err = unix.Unlinkat(parent.fd(), dir, 0); err == nil {
				err = fs.ErrNotExist
			}
		}
		if create && errors.Is(err, fs.ErrNotExist) {
			if err = unix.Mkdirat(parent.fd(), dir, 0o777); err == nil || errors.Is(err, fs.ErrExist) {
				next, err = parent.sub(dir)
			}
		}
		parent.close()
		parent, path = next, left
	}
	return directory{}, "", err
}

// write puts a file or link in the place of whatever a path is.
func (d directory) write(path, mode string, data []byte) error {
	parent, name, err := d.parent(path, true)
	if err != nil {
		return err
	}
	defer parent.close()
	if err := parent.clear(name); err != nil {
		return err
	}
	temporary := ".agent-" + rand.Text() + ".tmp"
	if mode == ModeLink {
		err = unix.Symlinkat(string(data), parent.fd(), temporary)
	} else {
		err = parent.create(temporary, mode, data)
	}
	if err == nil {
		err = unix.Renameat(parent.fd(), temporary, parent.fd(), name)
	}
	if err != nil {
		_ = unix.Unlinkat(parent.fd(), temporary, 0)
	}
	return err
}

func (d directory) create(name, mode string, data []byte) error {
	perm := uint32(0o666)
	if mode == ModeProgram {
		perm = 0o777
	}
	f, err := open(d.fd(), name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// clear removes a directory that is in the place of a file.
func (d directory) clear(name string) error {
	seen, err := d.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !seen.isDir() {
		return err
	}
	sub, err := d.sub(name)
	if err != nil {
		return err
	}
	defer sub.close()
	names, err := sub.names()
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := sub.clear(n); err != nil {
			return err
		}
		if err := unix.Unlinkat(sub.fd(), n, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return unix.Unlinkat(d.fd(), name, unix.AT_REMOVEDIR)
}

// remove takes a file or link away, and the directories that are empty without it.
func (d directory) remove(path string) error {
	for first := true; ; first = false {
		parent, name, err := d.parent(path, false)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
			return nil
		}
		if err != nil {
			return err
		}
		flags := unix.AT_REMOVEDIR
		if first {
			flags = 0
		}
		err = unix.Unlinkat(parent.fd(), name, flags)
		parent.close()
		if first && err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		at := strings.LastIndexByte(path, '/')
		if !first && err != nil || at < 0 {
			return nil // it holds something else
		}
		path = path[:at]
	}
}
