package workspace

import (
	"errors"
	"fmt"
	"io/fs"
)

// transaction changes several files, or none.
type transaction struct {
	w       *workspace
	changes []*change
}

// change is what becomes of one file: it is (M)odified, (A)dded, (D)eleted or (R)enamed.
type change struct {
	kind     byte
	path, to string
	before   document
	after    string
	data     []byte // of a deleted file
	link     string // of a deleted link
	mode     fs.FileMode
	said     string
	notes    []string
}

// commit makes all changes. When one fails those before it are undone.
func (t *transaction) commit() error {
	for _, c := range t.changes { // what cannot be encoded is found before anything is written
		if _, err := c.before.encode(c.after); err != nil {
			return fmt.Errorf("%q: %w", c.path, err)
		}
	}
	for i, c := range t.changes {
		err := t.make(c)
		if err == nil {
			continue
		}
		for j := i; j >= 0; j-- {
			if undo := t.undo(t.changes[j], j == i); undo != nil && j < i {
				err = errors.Join(err, fmt.Errorf("and %s could not be put back: %w", t.changes[j].path, undo))
			}
		}
		return err
	}
	return nil
}

func (t *transaction) make(c *change) error {
	switch c.kind {
	case 'D':
		return t.w.remove(c.path)
	case 'R':
		if err := t.w.move(c.path, c.to); err != nil {
			return err
		}
	}
	d := c.before
	d.path, d.text = c.to, c.after
	return t.w.save(d)
}

// undo puts a file back as it was. Of a change that failed nothing but a move may have been made.
func (t *transaction) undo(c *change, failed bool) error {
	switch {
	case c.kind == 'A' && !failed:
		return t.w.remove(c.path)
	case c.kind == 'D' && !failed:
		return t.restore(c)
	case c.kind == 'R':
		if err := t.w.move(c.to, c.path); err != nil {
			return err
		}
	case c.kind != 'M' || failed:
		return nil
	}
	return t.w.save(c.before)
}

func (t *transaction) restore(c *change) error {
	name, err := t.w.free(c.path)
	if err != nil {
		return err
	}
	if c.link != "" {
		return t.w.root.Symlink(c.link, name)
	}
	if err := t.w.replace(c.path, c.data); err != nil {
		return err
	}
	return t.w.root.Chmod(name, c.mode.Perm())
}
