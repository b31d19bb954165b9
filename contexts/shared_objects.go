package contexts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/cluster"
	"agent/internal/fsx"
)

// What lines name is in the cluster before the line is. Names there are those below the
// directory of a context.

func objectName(uuid string, parts ...string) string {
	return path.Join(append([]string{uuid}, parts...)...)
}

// share puts a file of a context into the cluster, if there is one.
func (s *Store) share(uuid string, data []byte, name ...string) error {
	if s.o.Member == nil {
		return nil
	}
	ctx, cancel := shared()
	defer cancel()
	return s.o.Bus.PutObject(ctx, objectName(uuid, name...), data)
}

// unshare removes a file of a context from the cluster.
func (s *Store) unshare(uuid string, name ...string) error {
	if s.o.Member == nil {
		return nil
	}
	ctx, cancel := shared()
	defer cancel()
	return s.o.Bus.RemoveObjects(ctx, objectName(uuid, name...))
}

// putBlob makes a large text durable, here and in the cluster.
func (c *Context) putBlob(data []byte) (hash string, err error) {
	if hash, err = eventlog.NewBlobs(c.s.fs, c.path()).Put(data); err != nil {
		return "", err
	}
	return hash, c.s.share(c.uuid, data, eventlog.BlobDir, hash)
}

// blob reads a large text from a directory. One that is not here, or is damaged, comes from
// the cluster and is kept.
func (s *Store) blob(uuid, dir, hash string) ([]byte, error) {
	here := eventlog.NewBlobs(s.fs, dir)
	data, err := here.Get(hash)
	if s.o.Bus == nil || !errors.Is(err, eventlog.ErrBlobMissing) && !errors.Is(err, eventlog.ErrBlobDamaged) {
		return data, err
	}
	ctx, cancel := shared()
	defer cancel()
	found, sharedErr := s.objectOf(ctx, objectName(uuid, eventlog.BlobDir, hash))
	if errors.Is(sharedErr, cluster.ErrMissing) {
		return nil, err
	}
	if sharedErr != nil {
		return nil, sharedErr
	}
	if sum := sha256.Sum256(found); hex.EncodeToString(sum[:]) != hash {
		return nil, err
	}
	if !s.o.ReadOnly {
		_, _ = here.Put(found) // best effort: it is asked for again
	}
	return found, nil
}

// objectOf gives an object that a line names. That it is missing is doubted once in a process: some were
// forgotten.
func (s *Store) objectOf(ctx context.Context, name string) (data []byte, err error) {
	_, doubted := s.missed.Load(name)
	failed := doubt(ctx, func() (missing bool, _ error) {
		data, err = s.o.Bus.Object(ctx, name)
		return errors.Is(err, cluster.ErrMissing) && s.o.Member != nil && !doubted, nil
	})
	if errors.Is(err, cluster.ErrMissing) && failed == nil {
		s.missed.Store(name, true)
	}
	return data, cmp.Or(failed, err)
}

// fetchObjects brings the saved files of a context here that are not.
func (s *Store) fetchObjects(ctx context.Context, uuid string, o *Objects) error {
	prefix := objectName(uuid, packs) + "/"
	names, err := s.o.Bus.ObjectNames(ctx, prefix)
	if err != nil || len(names) == 0 {
		return err
	}
	have := map[string]bool{}
	here, err := o.Names()
	if err != nil {
		return err
	}
	for _, name := range here {
		have[name] = true
	}
	for _, name := range names {
		if have[path.Base(name)] {
			continue
		}
		data, err := s.o.Bus.Object(ctx, name)
		if errors.Is(err, cluster.ErrMissing) {
			continue // it was merged into another one
		}
		if err == nil {
			err = o.keep(path.Base(name), data)
		}
		if err != nil {
			return fmt.Errorf("saved files: %w", err)
		}
	}
	return o.Sync()
}

// FetchMore brings saved files here that a server of the cluster did not know yet when the context was
// taken. It is false if there are none.
func (c *Context) FetchMore() (more bool, err error) {
	if c.replica == nil {
		return false, nil
	}
	ctx, cancel := shared()
	defer cancel()
	before, err := c.Objects().Names()
	if err != nil {
		return false, err
	}
	err = doubt(ctx, func() (missing bool, err error) {
		if err := c.s.fetchObjects(ctx, c.uuid, c.Objects()); err != nil {
			return false, err
		}
		now, err := c.Objects().Names()
		more = len(now) > len(before)
		return !more, err
	})
	return more && err == nil, err
}

// FetchObjects brings the saved files of a context here that only the cluster has: a machine
// that follows the history gets them when somebody looks at them.
func (s *Store) FetchObjects(uuid string) error {
	if s.o.Bus == nil {
		return nil
	}
	lock, err := s.fs.TryLock(locksDir + "/" + uuid + ".lock")
	if errors.Is(err, fsx.ErrLocked) {
		return nil // who works on it has them
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	ctx, cancel := shared()
	defer cancel()
	return s.fetchObjects(ctx, uuid, s.Objects(uuid))
}

// upload puts all files of a context into the cluster that its lines may name.
func (s *Store) upload(uuid, dir string) error {
	for _, sub := range []string{eventlog.BlobDir, packs} {
		entries, err := s.fs.ReadDir(path.Join(dir, sub))
		if isMissing(err) {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			if path.Ext(e.Name()) == fsx.TempSuffix {
				continue
			}
			if err := s.uploadFile(uuid, dir, path.Join(sub, e.Name())); err != nil {
				return err
			}
		}
	}
	err := s.uploadFile(uuid, dir, event.PatchFile)
	if isMissing(err) {
		return nil
	}
	return err
}

func (s *Store) uploadFile(uuid, dir, name string) error {
	data, err := fsx.ReadFile(s.fs, path.Join(dir, name), maxPack)
	if err != nil {
		return err
	}
	return s.share(uuid, data, name)
}
