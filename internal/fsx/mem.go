package fsx

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Mem is a file system in memory that knows what a crash would leave of it. It
// may be used by several goroutines.
//
// It keeps two states: the one that is seen, and the durable one, which Sync
// and SyncDir bring up to date. [Mem.Kill] goes on with the first, as after
// kill -9; [Mem.Crash] with the second and chance bits of the first, as after a
// power cut. It is harsher than the real systems: syncing a file does not make
// its name durable. A rename is one step, though, also between directories, and
// later changes of a name do not survive without the earlier ones.
type Mem struct {
	mu      sync.Mutex
	root    *node
	pending []change // of names, oldest first, not durable yet
	clock   Clock
	free    [2]uint64 // bytes, inodes
	faults
}

// node is a file or a directory.
type node struct {
	mode     fs.FileMode
	modified time.Time
	locked   bool

	names   map[string]*node // of a directory
	durable map[string]*node

	data  []byte // of a file
	disk  []byte // what is durable of it
	dirty map[int]bool
}

// change is one atomic change of names: a name leads to a node or, nil, to nothing.
type change []struct {
	key key
	to  *node
}

type key struct {
	dir  *node
	name string
}

// NewMem returns an empty file system with 1 TiB of room.
func NewMem() *Mem {
	m := &Mem{clock: time.Now, free: [2]uint64{1 << 40, 1 << 30}}
	m.root = newDir(0o700, time.Time{})
	return m
}

func newDir(perm fs.FileMode, now time.Time) *node {
	return &node{mode: fs.ModeDir | perm.Perm(), modified: now, names: map[string]*node{}, durable: map[string]*node{}}
}

// SetClock sets where modification times come from.
func (m *Mem) SetClock(c Clock) { m.mu.Lock(); m.clock = c; m.mu.Unlock() }

// SetFree sets what Free returns.
func (m *Mem) SetFree(bytes, inodes uint64) {
	m.mu.Lock()
	m.free = [2]uint64{bytes, inodes}
	m.mu.Unlock()
}

// Free returns what SetFree was told.
func (m *Mem) Free() (bytes, inodes uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.free[0], m.free[1], m.alive()
}

// find walks to a node. The parent is returned even if the last name leads to nothing.
func (m *Mem) find(op, name string) (parent, n *node, err error) {
	if !fs.ValidPath(name) {
		return nil, nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if err := m.alive(); err != nil {
		return nil, nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	n = m.root
	if name == "." {
		return nil, n, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if n == nil {
			return nil, nil, &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}
		}
		if !n.mode.IsDir() {
			return nil, nil, &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
		}
		parent, n = n, n.names[part]
	}
	return parent, n, nil
}

// must is find for names that have to be there.
func (m *Mem) must(op, name string) (parent, n *node, err error) {
	parent, n, err = m.find(op, name)
	if err == nil && n == nil {
		err = &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}
	}
	return parent, n, err
}

// dir is must for directories.
func (m *Mem) dir(op, name string) (*node, error) {
	_, n, err := m.must(op, name)
	if err == nil && !n.mode.IsDir() {
		err = &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
	}
	return n, err
}

// apply makes a change of names visible and remembers that it is not durable.
func (m *Mem) apply(c change) {
	for _, s := range c {
		if s.to == nil {
			delete(s.key.dir.names, s.key.name)
		} else {
			s.key.dir.names[s.key.name] = s.to
		}
		s.key.dir.modified = m.clock()
	}
	m.pending = append(m.pending, c)
}

func (m *Mem) link(parent *node, name string, n *node) {
	m.apply(change{{key{parent, path.Base(name)}, n}})
}

// OpenFile opens a file. Creating or truncating one is a counted operation.
func (m *Mem) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &memFile{m: m, n: n, name: name, flag: flag}, nil
}

func (m *Mem) open(name string, flag int, perm fs.FileMode) (*node, error) {
	fail := func(err error) (*node, error) { return nil, &fs.PathError{Op: "open", Path: name, Err: err} }
	parent, n, err := m.find("open", name)
	switch {
	case err != nil:
		return nil, err
	case n == nil && flag&os.O_CREATE == 0:
		return fail(syscall.ENOENT)
	case n != nil && flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return fail(syscall.EEXIST)
	case n != nil && n.mode.IsDir():
		return fail(ErrNotRegular)
	case n != nil && (flag&os.O_TRUNC == 0 || len(n.data) == 0):
		return n, nil
	}
	do, err := m.step()
	if do != nothing {
		if n == nil {
			n = &node{mode: perm.Perm(), modified: m.clock(), dirty: map[int]bool{}}
			m.link(parent, name, n)
		} else {
			n.truncate(0)
		}
	}
	if err != nil {
		return fail(err)
	}
	return n, nil
}

// Mkdir creates one directory.
func (m *Mem) Mkdir(name string, perm fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	parent, n, err := m.find("mkdir", name)
	if err != nil {
		return err
	}
	if n != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.EEXIST}
	}
	return m.change("mkdir", name, func() { m.link(parent, name, newDir(perm, m.clock())) })
}

// change does one counted operation.
func (m *Mem) change(op, name string, f func()) error {
	do, err := m.step()
	if do != nothing {
		f()
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// MkdirAll creates a directory and the parents it lacks, one operation each.
func (m *Mem) MkdirAll(name string, perm fs.FileMode) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrInvalid}
	}
	for dir := range parents(name) {
		info, err := m.Lstat(dir)
		if err == nil && !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
		if err == nil {
			continue
		}
		if err := m.Mkdir(dir, perm); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes a file or an empty directory.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	parent, n, err := m.must("remove", name)
	if err != nil {
		return err
	}
	if parent == nil || len(n.names) > 0 {
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
	}
	return m.change("remove", name, func() { m.link(parent, name, nil) })
}

// RemoveAll removes a tree in one operation; a missing one is no error.
func (m *Mem) RemoveAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	parent, n, err := m.find("remove", name)
	switch {
	case isMissing(err), err == nil && n == nil:
		return nil
	case err != nil:
		return err
	case parent == nil:
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrInvalid}
	}
	return m.change("remove", name, func() { m.link(parent, name, nil) })
}

// Lstat describes a file or a directory.
func (m *Mem) Lstat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, n, err := m.must("lstat", name)
	if err != nil {
		return nil, err
	}
	return n.info(name), nil
}

// ReadDir lists a directory, sorted by name.
func (m *Mem) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, err := m.dir("readdir", name)
	if err != nil {
		return nil, err
	}
	list := make([]fs.DirEntry, 0, len(d.names))
	for name, n := range d.names {
		list = append(list, fs.FileInfoToDirEntry(n.info(name)))
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// TryLock takes the lock of a file, see [FS.TryLock].
func (m *Mem) TryLock(name string) (io.Closer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.open(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if n.locked {
		return nil, &fs.PathError{Op: "lock", Path: name, Err: ErrLocked}
	}
	n.locked = true
	return &memLock{m: m, n: n}, nil
}

// Locked tells whether the lock of a file is held, see [FS.Locked].
func (m *Mem) Locked(name string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.open(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && n.locked, err
}

type memLock struct {
	m    *Mem
	n    *node
	once sync.Once
}

func (l *memLock) Close() error {
	err := fs.ErrClosed
	l.once.Do(func() {
		l.m.mu.Lock()
		l.n.locked = false
		l.m.mu.Unlock()
		err = nil
	})
	return err
}
