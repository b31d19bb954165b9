package contexts

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/cluster"
	"agent/internal/fsx"
)

// maxFile is the largest projection file in bytes that is read back.
const maxFile = 1 << 30

// planningDir holds planning/<uuid>.jsonl.
const planningDir = "planning"

// file gives the path of a projection file.
func (c *Context) file(name string) (string, error) {
	if sub, base, ok := strings.Cut(name, "/"); ok {
		id, isLog := strings.CutSuffix(base, ".jsonl")
		if sub != planningDir || !isLog || !canonical(id) {
			return "", fmt.Errorf("%q: %w", name, ErrName)
		}
	} else if !plain(name) {
		return "", fmt.Errorf("%q: %w", name, ErrName)
	}
	return path.Join(c.path(), name), nil
}

// plain allows names of lower case letters and underscores that end in .json or
// .jsonl, except those of the log.
func plain(name string) bool {
	base, ext, _ := strings.Cut(name, ".")
	return base != "" && strings.Trim(base, "abcdefghijklmnopqrstuvwxyz_") == "" &&
		(ext == "json" || ext == "jsonl") && name != eventlog.FileName
}

// WriteFile replaces a projection file. Readers see the old or the new content;
// it is durable only after [Context.SyncFiles], since the log can make it again.
func (c *Context) WriteFile(name string, data []byte) error {
	file, err := c.file(name)
	if err != nil {
		return err
	}
	if err := c.write(file+fsx.TempSuffix, os.O_TRUNC, data); err != nil {
		return err
	}
	return c.InstallFile(name)
}

// StageFile begins a new version of a projection file, or adds to it. Readers see the
// old one until [Context.InstallFile].
func (c *Context) StageFile(name string, data []byte, begin bool) error {
	file, err := c.file(name)
	if err != nil {
		return err
	}
	flag := os.O_APPEND
	if begin {
		flag = os.O_TRUNC
	}
	return c.write(file+fsx.TempSuffix, flag, data)
}

// InstallFile puts what was staged in the place of a projection file.
func (c *Context) InstallFile(name string) error {
	file, err := c.file(name)
	if err != nil {
		return err
	}
	if err := c.s.fs.Rename(file+fsx.TempSuffix, file); err != nil {
		return err
	}
	c.dirty[name] = true
	return nil
}

// UnstageFile forgets what was staged.
func (c *Context) UnstageFile(name string) error {
	file, err := c.file(name)
	if err != nil {
		return err
	}
	return c.s.fs.Remove(file + fsx.TempSuffix)
}

// AppendFile adds to the end of a projection file.
func (c *Context) AppendFile(name string, data []byte) error {
	file, err := c.file(name)
	if err != nil {
		return err
	}
	if err := c.write(file, os.O_APPEND, data); err != nil {
		return err
	}
	c.dirty[name] = true
	return nil
}

func (c *Context) write(file string, flag int, data []byte) error {
	if path.Base(path.Dir(file)) == planningDir {
		if err := c.s.fs.MkdirAll(path.Dir(file), 0o700); err != nil {
			return err
		}
	}
	f, err := c.s.fs.OpenFile(file, os.O_WRONLY|os.O_CREATE|flag, 0o600)
	if err != nil {
		return err
	}
	n, err := f.Write(data)
	if err == nil && n != len(data) {
		err = io.ErrShortWrite
	}
	return errors.Join(err, f.Close())
}

// KeepPatch puts work that could not be published beside the log, durably. It
// is no projection: the log names it, and it goes with the context.
func (c *Context) KeepPatch(data []byte) error {
	file := path.Join(c.path(), event.PatchFile)
	tmp := file + fsx.TempSuffix
	if err := c.write(tmp, os.O_TRUNC, data); err != nil {
		return err
	}
	if err := c.syncFile(tmp); err != nil {
		return err
	}
	if err := c.s.fs.Rename(tmp, file); err != nil {
		return err
	}
	if err := c.s.fs.SyncDir(c.path()); err != nil {
		return err
	}
	return c.s.share(c.uuid, data, event.PatchFile)
}

// maxPatch is how many bytes of a patch are read.
const maxPatch = 256 << 20

// Patch is what [Context.KeepPatch] left, byte by byte. fs.ErrNotExist: nothing.
func (s *Store) Patch(uuid string) ([]byte, error) {
	at, err := s.locate(uuid)
	if err != nil {
		return nil, err
	}
	data, err := fsx.ReadFile(s.fs, path.Join(pathOf(at, uuid), event.PatchFile), maxPatch)
	if isMissing(err) && s.o.Bus != nil {
		ctx, cancel := shared()
		defer cancel()
		if found, sharedErr := s.o.Bus.Object(ctx, objectName(uuid, event.PatchFile)); !errors.Is(sharedErr, cluster.ErrMissing) {
			return found, sharedErr
		}
	}
	return data, err
}

// RemoveFile removes a projection file, which takes no room on a disk that is full.
func (c *Context) RemoveFile(name string) error {
	file, err := c.file(name)
	if err != nil {
		return err
	}
	delete(c.dirty, name)
	if err := c.s.fs.Remove(file); err != nil && !isMissing(err) {
		return err
	}
	return nil
}

// Lacking lists the contexts in paused/ and completed/ that lack a projection file.
func (s *Store) Lacking(name string) (uuids []string, err error) {
	for _, dir := range []Dir{Paused, Completed} {
		names, err := s.names(dir, func(error) {})
		if err != nil {
			return nil, err
		}
		for _, id := range names {
			if _, err := s.fs.Lstat(path.Join(pathOf(dir, id), name)); isMissing(err) {
				uuids = append(uuids, id)
			}
		}
	}
	return uuids, nil
}

// Archived tells whether the log of a context is packed.
func (s *Store) Archived(uuid string) (bool, error) {
	_, _, archived, err := s.measure(uuid)
	return archived, err
}

// ReadFile reads a projection file.
func (c *Context) ReadFile(name string) ([]byte, error) {
	file, err := c.file(name)
	if err != nil {
		return nil, err
	}
	return fsx.ReadFile(c.s.fs, file, maxFile)
}

// SyncFiles makes the projection files durable that were written since the last
// call. It is called before the directory moves.
func (c *Context) SyncFiles() error {
	dirs := map[string]bool{}
	for name := range c.dirty {
		file := path.Join(c.path(), name)
		if err := c.syncFile(file); err != nil {
			return fmt.Errorf("sync %s: %w", name, err)
		}
		dirs[path.Dir(file)] = true
		dirs[c.path()] = true
	}
	for dir := range dirs {
		if err := c.s.fs.SyncDir(dir); err != nil {
			return err
		}
	}
	clear(c.dirty)
	return nil
}

func (c *Context) syncFile(file string) error {
	f, err := c.s.fs.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
