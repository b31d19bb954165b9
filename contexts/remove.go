package contexts

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"

	"agent/eventlog"
	"agent/projections"
)

// Archive packs the log of a context that has ended. One that is packed already
// stays so, and Before is 0.
func (s *Store) Archive(uuid string) (packed eventlog.Packed, err error) {
	c, err := s.here(uuid)
	if err != nil {
		return packed, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if !c.info.Over() {
		return packed, fmt.Errorf("archive %s: %w", uuid, ErrNotEnded)
	}
	if c.log == nil {
		return packed, nil
	}
	err = c.log.Close()
	c.log = nil
	if err == nil {
		packed, err = eventlog.Pack(s.fs, c.path())
	}
	if err != nil {
		return packed, fmt.Errorf("archive %s: %w", uuid, err)
	}
	if err := c.dropFiles(); err != nil {
		return packed, fmt.Errorf("archive %s: %w", uuid, err)
	}
	c.stale = true
	return packed, c.Relocate()
}

// dropFiles removes the projection files, which the log can make again and which take
// several times its room, but the one that says what the context is.
func (c *Context) dropFiles() error {
	for _, name := range projections.FileNames(c.uuid) {
		if name == projections.MetadataFile {
			continue
		}
		if err := c.RemoveFile(name); err != nil {
			return err
		}
	}
	_ = c.s.fs.Remove(c.path() + "/" + planningDir) // it may hold something else
	return nil
}

// Remove takes a context that is [Info.Removable] out of the store for good, and out of the
// cluster, which tells the other machines. It returns how many bytes its files had. After a
// crash it is there whole or not at all.
func (s *Store) Remove(uuid string) (size int64, err error) {
	c, err := s.Acquire(uuid, nil)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if !c.info.Removable() {
		return 0, fmt.Errorf("remove %s: %w", uuid, ErrNotEnded)
	}
	if size, err = s.sizeOf(c.path()); err == nil {
		err = s.purge(uuid, c.info.TaskKey)
	}
	if err == nil {
		err = s.drop(c)
	}
	if err != nil {
		return 0, fmt.Errorf("remove %s: %w", uuid, err)
	}
	return size, nil
}

// drop moves a context to .staging/, where it is nobody's any more, and removes
// it there. The index forgets it after it has gone.
func (s *Store) drop(c *Context) error {
	staged := stagingDir + "/" + c.uuid
	if err := s.fs.RemoveAll(staged); err != nil {
		return err
	}
	err := s.update(func(x *snapshot) error {
		if err := s.move(c.path(), staged); err != nil {
			return err
		}
		if err := s.add(x, Info{UUID: c.uuid, TaskKey: c.info.TaskKey, gone: true}); err != nil || !x.complete {
			return err
		}
		return s.stamp(x)
	})
	if err != nil {
		return err
	}
	return s.clean(c.uuid)
}

// clean removes what is left of a context that is nowhere any more. Its
// lock is held.
func (s *Store) clean(uuid string) error {
	err := s.fs.RemoveAll(stagingDir + "/" + uuid)
	for _, g := range signals {
		if e := s.fs.Remove(g.file(uuid)); !isMissing(e) {
			err = errors.Join(err, e)
		}
	}
	for _, note := range []string{waitingFile(uuid), noticesFile(uuid)} {
		if e := s.fs.Remove(note); !isMissing(e) {
			err = errors.Join(err, e)
		}
	}
	// Whoever opened the lock file before notices that it is gone.
	if e := s.fs.Remove(locksDir + "/" + uuid + ".lock"); !isMissing(e) {
		err = errors.Join(err, e)
	}
	return err
}

// sizeOf adds up the files of a directory.
func (s *Store) sizeOf(dir string) (total int64, err error) {
	entries, err := s.fs.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		var size int64
		if e.IsDir() {
			size, err = s.sizeOf(path.Join(dir, e.Name()))
		} else if info, infoErr := e.Info(); infoErr == nil {
			size = info.Size()
		}
		total += size
	}
	return total, err
}

// sweepLocks removes the lock files of contexts and tasks that are not there.
func (s *Store) sweepLocks(dry bool, c *Collected) error {
	entries, err := s.fs.ReadDir(locksDir)
	if isMissing(err) { // a dry run where no context was ever made
		return nil
	}
	if err != nil {
		return err
	}
	tasks, err := s.keyLocks()
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, isLock := strings.CutSuffix(e.Name(), ".lock")
		if !isLock || !s.orphaned(tasks, name) {
			continue
		}
		if dry {
			c.Locks++
			continue
		}
		removed, err := s.removeLock(tasks, name)
		if err != nil {
			return err
		}
		if removed {
			c.Locks++
		}
	}
	return nil
}

// keyLocks are the names of the locks of all tasks.
func (s *Store) keyLocks() (map[string]bool, error) {
	names := map[string]bool{}
	add := func(x *snapshot) error {
		for r, err := range x.rows() {
			if err != nil {
				return err
			}
			names[keyLock(r.TaskKey)] = true
		}
		return nil
	}
	return names, s.withIndex(add)
}

// orphaned tells whether a lock file guards nothing that exists.
func (s *Store) orphaned(tasks map[string]bool, name string) bool {
	if canonical(name) {
		found, err := s.dirsWith(name)
		_, staged := s.fs.Lstat(stagingDir + "/" + name)
		return err == nil && len(found) == 0 && isMissing(staged)
	}
	raw, err := hex.DecodeString(name)
	return err == nil && len(raw) == 16 && !tasks[name] // else one of the store's own
}

func (s *Store) removeLock(tasks map[string]bool, name string) (bool, error) {
	lock, err := s.lock(name + ".lock")
	if errors.Is(err, ErrBusy) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if !s.orphaned(tasks, name) {
		return false, nil
	}
	return true, s.fs.Remove(locksDir + "/" + name + ".lock")
}
