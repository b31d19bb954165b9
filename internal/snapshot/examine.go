package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// examine reads what may have changed.
func (c *Copy) examine(ctx context.Context, root directory, found *scanned, list []candidate) error {
	for _, x := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		content, err := c.content(root, found, x)
		if err != nil {
			return err
		}
		now := Entry{x.seen.gitMode(), content.name}
		switch {
		case content.reason != "":
			found.not = append(found.not, NotSaved{x.path, content.reason})
		case now != x.known:
			found.changes[x.path] = &now
		}
		if content.reason != "" && x.known.Name == "" {
			delete(found.changes, x.path) // it may have been entered as one that went away
		}
	}
	return nil
}

// content names the content of a file, and reads it if it may have changed.
func (c *Copy) content(root directory, found *scanned, x candidate) (now cached, err error) {
	base := x.base()
	if old, ok := x.cache.files[base]; ok && old.stamp == x.seen && (old.name == "" || c.store.Has(old.name)) {
		return old, nil
	}
	now = cached{stamp: x.seen}
	if x.seen.size > c.o.Largest {
		now.reason = TooLarge
		x.cache.files[base] = now
		return now, nil
	}
	data, err := root.readPath(x.path, x.seen, c.o.Largest)
	switch {
	case errors.Is(err, fs.ErrPermission):
		now.reason = Unreadable
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errChanged), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENOTDIR):
		return cached{reason: Unreadable}, nil // somebody changes it now: the next save reads it
	case err != nil:
		return now, fmt.Errorf("read %q: %w", x.path, err)
	case c.o.Secret != nil && c.o.Secret(x.path):
		now.reason = Secret
	default:
		c.classify(found, x, newObject(c.format, kindBlob, data), data, &now)
	}
	if x.seen.ctime < c.started-racy { // else it can change once more within the same tick of the clock
		x.cache.files[base] = now
	}
	return now, nil
}

// classify names a content, and keeps it if it is new. One that is known is stored already or the
// repository's, so it is not searched for secrets: that took most of the time of a first look.
func (c *Copy) classify(found *scanned, x candidate, blob object, data []byte, now *cached) {
	switch {
	case x.known == (Entry{x.seen.gitMode(), blob.name}):
		now.name = blob.name
	case c.o.Secret != nil && c.o.Secret(string(data)):
		now.reason = Secret
	default:
		now.name = blob.name
		found.blobs[blob.name] = blob
	}
}

// racy is how long after a change a file may change again and look the same, in nanoseconds.
const racy = 50_000_000

// readPath reads a file below the directory.
func (d directory) readPath(path string, seen stamp, most int64) ([]byte, error) {
	parent, name, err := d.parent(path, false)
	if err != nil {
		return nil, err
	}
	defer parent.close()
	return parent.read(name, seen, most)
}

// scanPaths reads some files only. ok is false if they cannot tell all: a link is on
// the way, or a directory is in the place of a file.
func (c *Copy) scanPaths(ctx context.Context, paths []string, without func([]string) []string) (found *scanned, ok bool, err error) {
	root, err := openRoot(c.Dir)
	if err != nil {
		return nil, false, err
	}
	defer root.close()
	found = &scanned{changes: map[string]*Entry{}, blobs: map[string]object{}}
	var list []candidate
	for _, path := range paths {
		x, take, ok := c.scanPath(root, path)
		if !ok {
			return nil, false, nil
		}
		if take {
			list = append(list, x)
		}
	}
	return found, true, c.examine(ctx, root, found, c.wanted(list, without))
}

// scanPath looks at one file. take is false if it is ignored.
func (c *Copy) scanPath(root directory, path string) (x candidate, take, ok bool) {
	if tooDeep(path) {
		return x, false, false
	}
	d, prefix, excluded := root, "", false
	var above []rules
	x = candidate{path: path, cache: c.cache}
	known, tracked := c.last.Entry(path)
	for left := path; ; {
		name, after, below := strings.Cut(left, "/")
		if !plainName(name) || known.Mode == ModeSubmodule {
			return x, false, false
		}
		above = withIgnore(d, prefix, above)
		seen, err := d.stat(name)
		if err != nil || below != seen.isDir() {
			return x, false, false // also if it is gone: what was below it may be as well
		}
		excluded = excluded || ignored(above, prefix+name, below)
		if !below {
			x.seen, x.known = seen, known
			return x, tracked || !excluded, seen.isRegular()
		}
		sub, err := d.sub(name)
		if err != nil {
			return x, false, false
		}
		defer sub.close()
		if _, err := sub.stat(".git"); err == nil {
			return x, false, false
		}
		d, prefix, left, x.cache = sub, prefix+name+"/", after, x.cache.sub(name)
	}
}
