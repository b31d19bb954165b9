package contexts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

// Exported is what [Store.Export] did.
type Exported struct {
	Contexts int              `json:"contexts"`          // that the directory holds as the cluster does
	Skipped  []SkippedContext `json:"skipped,omitempty"` // that could not be written, or that the cluster does not have
}

// Export writes what the cluster has into a store that a machine can work with alone: the
// logs, the texts and files that they name, and the key of the comment markers. Nothing of
// it comes from the copies of this machine. A store that was exported before is brought up
// to date.
func (s *Store) Export(ctx context.Context, fsys fsx.FS, dir string, progress func(done, of int)) (done Exported, err error) {
	to, err := Open(fsys, Options{Warn: s.o.Warn, Rand: s.o.Rand, Dir: dir, Bus: s.o.Bus})
	if err == nil {
		err = errors.Join(s.exportKey(to), s.CatchUp(ctx))
	}
	if err != nil {
		return done, fmt.Errorf("export: %w", err)
	}
	all, err := s.listed()
	if err != nil {
		return done, fmt.Errorf("export: %w", err)
	}
	for n, uuid := range slices.Sorted(maps.Keys(all)) {
		progress(n, len(all))
		err := to.exportOne(ctx, uuid)
		switch {
		case ctx.Err() != nil:
			return done, ctx.Err()
		case err != nil && ExitCode(err) == ExitTemporary:
			return done, fmt.Errorf("export %s: %w", uuid, err) // the cluster or the disk, not this context
		case err != nil:
			done.Skipped = append(done.Skipped, SkippedContext{uuid, err.Error()})
		default:
			done.Contexts++
		}
	}
	return done, nil
}

// exportKey gives a store the marker key of the cluster.
func (s *Store) exportKey(to *Store) error {
	key, err := s.Key()
	if err != nil {
		return err
	}
	switch own, err := to.readKey(); {
	case isMissing(err):
		return to.put(keyFile, key, to.fs.RenameNoReplace)
	case err == nil && !bytes.Equal(own, key):
		return fmt.Errorf("%s belongs to another cluster or machine: choose an empty directory", to.o.Dir)
	default:
		return err
	}
}

// exportOne writes a context as the history has it, with all that its lines name.
func (s *Store) exportOne(ctx context.Context, uuid string) error {
	lock, err := s.lock(uuid + ".lock")
	if err != nil {
		return err
	}
	defer lock.Close()
	last, err := s.o.Bus.Last(ctx, uuid)
	if err == nil {
		err = s.refresh(ctx, uuid, last.Pos)
	}
	if err != nil {
		return err
	}
	at, err := s.locate(uuid)
	if errors.Is(err, ErrUnknown) {
		return errors.New("only this machine has it: agent cluster import gives it to the cluster")
	}
	if err != nil {
		return err
	}
	if err := s.fetchObjects(ctx, uuid, s.Objects(uuid)); err != nil {
		return err
	}
	return s.fetchTexts(ctx, uuid, pathOf(at, uuid))
}

// fetchTexts brings the large texts of a context here, and its patch.
func (s *Store) fetchTexts(ctx context.Context, uuid, dir string) error {
	names, err := s.o.Bus.ObjectNames(ctx, uuid+"/")
	if err != nil {
		return err
	}
	for _, name := range names {
		own := strings.TrimPrefix(name, uuid+"/")
		if path.Dir(own) == eventlog.BlobDir {
			if _, err := s.blob(uuid, dir, path.Base(own)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			continue
		}
		if own != event.PatchFile {
			continue
		}
		data, err := s.o.Bus.Object(ctx, name)
		if err == nil {
			err = fsx.WriteFile(s.fs, path.Join(dir, own), data)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
