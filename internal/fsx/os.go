package fsx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// OS is the file system below one real directory. It may be used by several
// goroutines. Symbolic links are refused everywhere, as are files that are
// neither regular nor directories, and an open never waits (not even for the
// other end of a FIFO).
type OS struct {
	root  *os.Root
	quick *beneath
}

// OpenOS returns the tree below dir, which it creates with mode 0700 if it is missing.
func OpenOS(dir string) (*OS, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open directory: %w", err)
	}
	quick, err := newBeneath(root)
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("open directory: %w", err)
	}
	return &OS{root, quick}, nil
}

// Close releases the root. Files and locks taken from it stay open.
func (o *OS) Close() error { return errors.Join(o.quick.close(), o.root.Close()) }

// check refuses names that are not clean, and symbolic links among the parents.
func (o *OS) check(op, name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		info, err := o.root.Lstat(name[:i])
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return &fs.PathError{Op: op, Path: name[:i], Err: syscall.ENOTDIR}
		}
	}
	return nil
}

// OpenFile opens a regular file. A new one is not durable before Sync and SyncDir of its parent.
func (o *OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := o.openFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return synced{f}, nil
}

func (o *OS) openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if f, err, ok := o.quick.openFile(name, flag); ok {
		return f, err
	}
	if err := o.check("open", name); err != nil {
		return nil, err
	}
	// Looking before opening keeps a device from being opened at all and a
	// link from being followed with O_TRUNC; looking after it closes the gap.
	// (With O_EXCL nothing that exists is opened.)
	if info, err := o.root.Lstat(name); err == nil && flag&os.O_EXCL == 0 && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	f, err := o.root.OpenFile(name, flag|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, err
	}
	if err := o.isAt(f, name); err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

// errMoved says that a name leads to another file than a moment ago.
var errMoved = errors.New("file was replaced while it was opened")

// isAt checks that the open file is regular and still the one that name leads to.
func (o *OS) isAt(f *os.File, name string) error {
	open, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := o.root.Lstat(name)
	switch {
	case err != nil:
		return err
	case !named.Mode().IsRegular():
		return ErrNotRegular
	case !os.SameFile(open, named):
		return errMoved
	}
	return nil
}

// Chmod sets the permissions of a file, whatever the umask is.
func (o *OS) Chmod(name string, perm fs.FileMode) error {
	if err := o.check("chmod", name); err != nil {
		return err
	}
	return o.root.Chmod(name, perm)
}

// Mkdir creates one directory.
func (o *OS) Mkdir(name string, perm fs.FileMode) error {
	if err := o.check("mkdir", name); err != nil {
		return err
	}
	return o.root.Mkdir(name, perm)
}

// MkdirAll creates a directory and the parents it lacks.
func (o *OS) MkdirAll(name string, perm fs.FileMode) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrInvalid}
	}
	for dir := range parents(name) {
		err := o.root.Mkdir(dir, perm)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err := o.root.Lstat(dir)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
	}
	return nil
}

// Remove removes a file, a link or an empty directory.
func (o *OS) Remove(name string) error {
	if err := o.check("remove", name); err != nil {
		return err
	}
	return o.root.Remove(name)
}

// RemoveAll removes a tree; a missing one is no error.
func (o *OS) RemoveAll(name string) error {
	if err := o.check("remove", name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return o.root.RemoveAll(name)
}

// Rename moves old to new and replaces a file that is there.
func (o *OS) Rename(old, new string) error {
	if err := o.checkBoth(old, new); err != nil {
		return err
	}
	return o.root.Rename(old, new)
}

func (o *OS) checkBoth(old, new string) error {
	if err := o.check("rename", old); err != nil {
		return err
	}
	return o.check("rename", new)
}

// RenameNoReplace moves old to new unless something is there already.
func (o *OS) RenameNoReplace(old, new string) error {
	if err := o.checkBoth(old, new); err != nil {
		return err
	}
	from, err := o.root.Open(path.Dir(old))
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := o.root.Open(path.Dir(new))
	if err != nil {
		return err
	}
	defer to.Close()
	if err := renameNoReplace(from, path.Base(old), to, path.Base(new)); err != nil {
		return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
	}
	return nil
}

// Lstat describes name without following it.
func (o *OS) Lstat(name string) (fs.FileInfo, error) {
	if info, err, ok := o.quick.lstat(name); ok {
		return info, err
	}
	if err := o.check("lstat", name); err != nil {
		return nil, err
	}
	return o.root.Lstat(name)
}

// ReadDir lists a directory, sorted by name.
func (o *OS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := o.isDir("readdir", name); err != nil {
		return nil, err
	}
	return fs.ReadDir(o.root.FS(), name)
}

// SyncDir makes the names in a directory durable.
func (o *OS) SyncDir(name string) error {
	if err := o.isDir("sync", name); err != nil {
		return err
	}
	d, err := o.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(syncDir(d), d.Close())
}

func (o *OS) isDir(op, name string) error {
	info, err := o.Lstat(name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
	}
	return err
}

// TryLock takes an exclusive lock on a file, see [FS.TryLock]. The descriptor
// is not inherited by children.
func (o *OS) TryLock(name string) (io.Closer, error) {
	for {
		f, err := o.tryLock(name)
		if err == nil {
			return heldLock{f}, nil
		}
		// A collector removed the file between two steps: the next one is new.
		// A missing directory looks alike, but stays.
		removed := errors.Is(err, errMoved) || errors.Is(err, fs.ErrNotExist)
		if !removed || o.isDir("lock", path.Dir(name)) != nil {
			return nil, err
		}
	}
}

func (o *OS) tryLock(name string) (*os.File, error) {
	f, err := o.openFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err = flock(f); err == nil {
		err = o.isAt(f, name)
	}
	if err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	return f, nil
}

// Locked tells whether somebody holds a lock, see [FS.Locked].
func (o *OS) Locked(name string) (bool, error) {
	f, err := o.openFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = probe(f)
	if errors.Is(err, ErrLocked) {
		return true, nil
	}
	return false, err
}

// Free says how many bytes and inodes are left for this user. A file system
// that does not count inodes has the largest number of them.
func (o *OS) Free() (bytes, inodes uint64, err error) {
	d, err := o.root.Open(".")
	if err != nil {
		return 0, 0, err
	}
	defer d.Close()
	return statfs(d)
}
