package contexts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

// Imported is what [Store.Import] did.
type Imported struct {
	Contexts int              `json:"contexts"`          // that the cluster got
	Known    int              `json:"known"`             // that it had before
	Skipped  []SkippedContext `json:"skipped,omitempty"` // that it did not take
}

// SkippedContext is one that was left out, and why.
type SkippedContext struct {
	UUID   string `json:"uuid"`
	Reason string `json:"reason"`
}

// errForeign is why a context stays with the machine that posted its comments.
var errForeign = errors.New("the cluster has another key for its comments, so it would not know those of this context: finish or stop it where it is")

// Import gives the cluster the contexts that a machine made alone, those that are paused
// and those that have ended. from is the store of that machine, or this one. One that
// cannot be taken stays as it is and does not stop the others. To import again is no harm:
// what broke off is completed.
func (s *Store) Import(ctx context.Context, from *Store, progress func(done, of int)) (done Imported, err error) {
	foreign, err := s.foreignKey(from)
	if err != nil {
		return done, fmt.Errorf("import: %w", err)
	}
	all, err := from.listed()
	if err != nil {
		return done, fmt.Errorf("import: %w", err)
	}
	for n, uuid := range slices.Sorted(maps.Keys(all)) {
		progress(n, len(all))
		if err := ctx.Err(); err != nil {
			return done, err
		}
		known, err := s.importOne(from, uuid, foreign)
		switch {
		case err != nil && ExitCode(err) == ExitTemporary && !errors.Is(err, ErrBusy):
			return done, fmt.Errorf("import %s: %w", uuid, err) // the cluster or the disk, not this context
		case err != nil:
			done.Skipped = append(done.Skipped, SkippedContext{uuid, err.Error()})
		case known:
			done.Known++
		default:
			done.Contexts++
		}
	}
	return done, nil
}

// foreignKey tells whether the cluster signs its comments with another key than a store.
// The first machine's key becomes that of the cluster.
func (s *Store) foreignKey(from *Store) (bool, error) {
	own, err := from.readKey()
	if isMissing(err) {
		return false, nil // it has never commented
	}
	if err != nil {
		return false, err
	}
	key, err := s.sharedMarkerKey(own)
	return !bytes.Equal(key, own), err
}

// importOne imports a context. known tells that the cluster had it.
func (s *Store) importOne(from *Store, uuid string, foreign bool) (known bool, err error) {
	lock, err := s.lockContext(uuid)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if from != s {
		theirs, err := from.lock(uuid + ".lock")
		if err != nil {
			return false, err
		}
		defer theirs.Close()
	}
	ctx, cancel := shared()
	defer cancel()
	last, err := s.o.Bus.Last(ctx, uuid)
	if err != nil {
		return false, err
	}
	if last.Pos == 0 {
		if err := from.mayLeave(uuid, foreign); err != nil {
			return false, err
		}
		if err := s.take(from, uuid); err != nil {
			return false, err
		}
	}
	if _, _, err := s.bring(uuid, 0); err != nil {
		return false, err
	}
	return last.Pos != 0, s.holdsAll(from, uuid)
}

// mayLeave tells whether a context can go on in a cluster.
func (s *Store) mayLeave(uuid string, foreign bool) error {
	at, err := s.locate(uuid)
	switch {
	case err != nil:
		return err
	case at == Running:
		return errors.New("it is not paused and has not ended: pause it where it is")
	case at == Paused && foreign:
		return errForeign
	}
	return nil
}

// take copies a context of another store here.
func (s *Store) take(from *Store, uuid string) error {
	found, err := s.dirsWith(uuid)
	if err != nil || len(found) > 0 {
		return err // it is here: an import broke off, or it is this machine's own
	}
	at, err := from.locate(uuid)
	if err != nil {
		return err
	}
	staged := pathOf(stagingDir, uuid)
	if err := s.fs.RemoveAll(staged); err != nil { // what a dead process left there is nobody's
		return err
	}
	if err := fsx.MkdirSync(s.fs, staged); err != nil {
		return err
	}
	for _, name := range []string{eventlog.FileName, eventlog.ArchiveName, event.PatchFile, eventlog.BlobDir, packs} {
		if err := s.copyFrom(from, path.Join(pathOf(at, uuid), name), path.Join(staged, name)); err != nil {
			return err
		}
	}
	return s.adopt(uuid, staged)
}

// copyFrom copies a file or a directory of files of another store, if it is there.
func (s *Store) copyFrom(from *Store, old, name string) error {
	info, err := from.fs.Lstat(old)
	if isMissing(err) {
		return nil
	}
	if err != nil || !info.IsDir() {
		return errors.Join(err, s.copyFile(from, old, name))
	}
	entries, err := from.fs.ReadDir(old)
	if err != nil {
		return err
	}
	if err := fsx.MkdirSync(s.fs, name); err != nil {
		return err
	}
	for _, e := range entries {
		if path.Ext(e.Name()) == fsx.TempSuffix {
			continue
		}
		if err := s.copyFile(from, path.Join(old, e.Name()), path.Join(name, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) copyFile(from *Store, old, name string) error {
	in, err := from.fs.OpenFile(old, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := s.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return s.fs.SyncDir(path.Dir(name))
}

// holdsAll checks that the copy here has the last event of the one that was imported.
func (s *Store) holdsAll(from *Store, uuid string) error {
	if from == s {
		return nil
	}
	_, want, err := from.lastOf(uuid)
	if err != nil {
		return err
	}
	for rec, err := range s.Records(uuid) {
		if err != nil {
			return err
		}
		if rec.Seq == want.Seq && bytes.Equal(rec.Line, want.Line) {
			return nil
		}
	}
	return &DamageError{Name: uuid, Reason: "in the cluster it went on with other events; nothing was changed"}
}
