package contexts

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"

	"agent/internal/fsx"
)

// ObjectsDir is where a context keeps the files that were saved, as objects of git: see
// package snapshot.
const ObjectsDir = "objects"

// packs is where git looks for packs in a directory of objects.
const packs = ObjectsDir + "/pack"

// Objects are the files of a context's directory of objects. They move with it, and
// are removed with it.
type Objects struct {
	s    *Store
	uuid string                 // whose; "" for one that nobody sees yet
	at   func() (string, error) // the context's directory
	made bool                   // the directories are there, durably
}

// Objects are those of a context that is held.
func (c *Context) Objects() *Objects {
	return &Objects{s: c.s, uuid: c.uuid, at: func() (string, error) { return c.path(), nil }}
}

// Objects are those of a context, to be read.
func (s *Store) Objects(uuid string) *Objects {
	return &Objects{s: s, uuid: uuid, at: func() (string, error) {
		at, err := s.locate(uuid)
		return pathOf(at, uuid), err
	}}
}

// Path is the directory of objects for programs that take a path, as git does. The
// context may move: it is asked for again for each use.
func (o *Objects) Path() (string, error) {
	at, err := o.at()
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(o.s.o.Dir, filepath.FromSlash(at), ObjectsDir))
}

// Names lists the files in pack/.
func (o *Objects) Names() (names []string, err error) {
	at, err := o.at()
	if err != nil {
		return nil, err
	}
	entries, err := o.s.fs.ReadDir(path.Join(at, packs))
	if isMissing(err) {
		return nil, nil
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// Open opens one of them.
func (o *Objects) Open(name string) (fsx.File, error) {
	at, err := o.at()
	if err != nil {
		return nil, err
	}
	return o.s.fs.OpenFile(path.Join(at, packs, path.Base(name)), os.O_RDONLY, 0)
}

// Keep makes a file with this content. Its bytes are durable, its name is after Sync.
func (o *Objects) Keep(name string, data []byte) error {
	if err := o.keep(name, data); err != nil || o.uuid == "" {
		return err
	}
	return o.s.share(o.uuid, data, packs, path.Base(name))
}

// keep is Keep without the cluster.
func (o *Objects) keep(name string, data []byte) error {
	at, err := o.at()
	if err != nil {
		return err
	}
	if !o.made {
		if err := fsx.MkdirSync(o.s.fs, path.Join(at, packs)); err != nil {
			return err
		}
		o.made = true
	}
	file := path.Join(at, packs, path.Base(name))
	f, err := o.s.fs.OpenFile(file+fsx.TempSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	n, err := f.Write(data)
	if err == nil && n != len(data) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return o.s.fs.Rename(file+fsx.TempSuffix, file)
}

// SetAside moves files to quarantine, as far as they are there. The first one goes first.
func (o *Objects) SetAside(names ...string) error {
	at, err := o.at()
	if err != nil {
		return err
	}
	for _, name := range names {
		to := quarantineDir + "/" + path.Base(at) + "." + path.Base(name)
		if err := o.s.fs.Rename(path.Join(at, packs, path.Base(name)), to); err != nil && !isMissing(err) {
			return err
		}
	}
	return errors.Join(o.s.fs.SyncDir(path.Join(at, packs)), o.s.fs.SyncDir(quarantineDir))
}

// Remove removes files, the first one first.
func (o *Objects) Remove(names ...string) error {
	at, err := o.at()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := o.s.fs.Remove(path.Join(at, packs, path.Base(name))); err != nil && !isMissing(err) {
			return err
		}
		if err := o.s.unshare(o.uuid, packs, path.Base(name)); err != nil {
			return err
		}
	}
	return nil
}

// Sync makes the names of the files durable.
func (o *Objects) Sync() error {
	at, err := o.at()
	if err != nil {
		return err
	}
	return o.s.fs.SyncDir(path.Join(at, packs))
}

// cacheFile remembers what the files of the working copy held. It may be deleted.
const cacheFile = ObjectsDir + "/cache"

// maxCache is how many bytes of it are read.
const maxCache = 256 << 20

// Cache is what SetCache got last, nil if that cannot be told.
func (o *Objects) Cache() []byte {
	at, err := o.at()
	if err != nil {
		return nil
	}
	data, err := fsx.ReadFile(o.s.fs, path.Join(at, cacheFile), maxCache)
	if err != nil {
		return nil
	}
	return data
}

// SetCache remembers data, as far as that is possible.
func (o *Objects) SetCache(data []byte) {
	at, err := o.at()
	if err != nil {
		return
	}
	if err := fsx.MkdirSync(o.s.fs, path.Join(at, packs)); err != nil {
		return
	}
	f, err := o.s.fs.OpenFile(path.Join(at, cacheFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	_, err = f.Write(data) // half a cache is none
	_ = errors.Join(err, f.Close())
}
