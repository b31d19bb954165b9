package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"agent/contexts"
	"agent/internal/git"
	"agent/internal/redact"
	"agent/internal/snapshot"
	"agent/projections"
)

// Written is what became of the files of a saved tree.
type Written struct {
	Files    int
	Missing  []string // whose content is neither stored nor in the repository
	Redacted []string // that hold something which looks like a secret: it was taken out
}

// Write writes the files of a saved tree into a directory, which must be empty or
// not there. from is a working copy with the commit that the work began on; without
// one only what steps changed can be written, and the rest is missing.
func Write(ctx context.Context, s *projections.State, o *contexts.Objects, tree, from, to string, clean *redact.Redactor) (w Written, err error) {
	if err := emptyDir(to); err != nil {
		return w, err
	}
	store, err := snapshot.OpenStore(o)
	if err != nil {
		return w, err
	}
	var base *snapshot.Tree
	if from != "" {
		if base, err = baseTree(ctx, from, s.Saved.Base); err != nil {
			return w, err
		}
	}
	wanted, err := store.Tree(tree, base)
	if err != nil {
		return w, err
	}
	var missing snapshot.Missing
	if base == nil {
		missing, err = store.WriteBelow(to, wanted)
	} else {
		missing, err = fill(ctx, store, base, wanted, from, to)
	}
	if err != nil {
		return w, err
	}
	w.Missing = missing
	wanted.Walk(func(path string, e snapshot.Entry) {
		if e.Name != "" {
			w.Files++
		}
		if data, ok := store.Blob(e.Name); ok && err == nil && (e.Mode == snapshot.ModeFile || e.Mode == snapshot.ModeProgram) {
			if plain, changed := clean.String(string(data)); changed {
				err = overwrite(to, path, plain)
				w.Redacted = append(w.Redacted, path)
			}
		}
	})
	w.Files -= len(missing)
	return w, err
}

// fill writes a whole tree, with contents of the store and of the repository in from.
func fill(ctx context.Context, store *snapshot.Store, base, wanted *snapshot.Tree, from, to string) (snapshot.Missing, error) {
	c, err := snapshot.NewCopy(to, store, base, wanted, nil, snapshot.Options{Largest: largestFile,
		Original: func(ctx context.Context, names []string, each func(string, []byte)) error {
			return originals(ctx, from, names, each)
		}})
	if err != nil {
		return nil, err
	}
	found, err := c.Differs(ctx, nil)
	if err != nil {
		return nil, err
	}
	return c.Fill(ctx, found)
}

func emptyDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	there, err := os.ReadDir(dir)
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("%s is not empty", dir)
	}
	return err
}

func overwrite(dir, path, text string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile(filepath.FromSlash(path), []byte(text), 0o600)
}

// HasBase reports whether a directory is a working copy with the commit that the work of
// a context began on.
func HasBase(ctx context.Context, s *projections.State, dir string) bool {
	if dir == "" {
		return false
	}
	_, err := baseTree(ctx, dir, s.Saved.Base)
	return err == nil
}

// CloneBase clones the commit that the work of a context began on.
func (w *Copy) CloneBase(ctx context.Context, s *projections.State, dir string) error {
	o, _, err := w.options(ctx, s)
	if err != nil {
		return asForge(err)
	}
	w.atBase(&o, s)
	if o.Commit == "" {
		return errors.New("the work began on no commit")
	}
	o.Dir = dir
	_, err = git.Clone(ctx, o)
	return asForge(err)
}

// atBase makes o the clone of the commit that the work began on.
func (w *Copy) atBase(o *git.Options, s *projections.State) {
	o.Branch, o.Commit = s.Workspace.Base, s.Workspace.Commit
	if s.Task != nil && s.Task.Fork {
		o.Ref = w.c.ChangeRef(s.Key.Number)
	}
}
