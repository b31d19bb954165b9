package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// beneath asks the kernel to open a name below a directory without following
// any link (openat2), which takes the place of looking at each parent. What it
// cannot do, or refuses, is done step by step, and that gives the error.
type beneath struct {
	dir     *os.File
	missing atomic.Bool // the kernel does not know the call, or a filter keeps it off
}

func newBeneath(root *os.Root) (*beneath, error) {
	dir, err := root.Open(".")
	return &beneath{dir: dir}, err
}

func (b *beneath) close() error { return b.dir.Close() }

// open gives a descriptor, and false if the caller has to find out by itself.
// A file that is not there is fs.ErrNotExist.
func (b *beneath) open(op, name string, flag int) (fd int, err error, ok bool) {
	if b.missing.Load() || !fs.ValidPath(name) {
		return -1, nil, false
	}
	how := unix.OpenHow{Flags: uint64(flag) | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	fd, err = unix.Openat2(int(b.dir.Fd()), name, &how)
	switch {
	case err == nil:
		return fd, nil, true
	case errors.Is(err, unix.ENOENT):
		return -1, &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}, true
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
		b.missing.Store(true)
	}
	return -1, nil, false
}

// openFile opens a regular file that exists. To make one, or to empty one, is
// left to the caller.
func (b *beneath) openFile(name string, flag int) (*os.File, error, bool) {
	if flag&(os.O_EXCL|os.O_TRUNC) != 0 {
		return nil, nil, false
	}
	fd, err, ok := b.open("open", name, flag&^os.O_CREATE|unix.O_NONBLOCK|unix.O_LARGEFILE)
	if !ok || err != nil {
		return nil, err, ok && flag&os.O_CREATE == 0
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		syscall.Close(fd)
		return nil, nil, false
	}
	return os.NewFile(uintptr(fd), name), nil, true
}

// lstat describes a name without following it.
func (b *beneath) lstat(name string) (fs.FileInfo, error, bool) {
	fd, err, ok := b.open("lstat", name, unix.O_PATH)
	if !ok || err != nil {
		return nil, err, ok
	}
	defer syscall.Close(fd)
	info := &fileInfo{name: path.Base(name)}
	err = syscall.Fstat(fd, &info.st)
	return info, err, err == nil
}

// fileInfo is what the kernel says of a file.
type fileInfo struct {
	name string
	st   syscall.Stat_t
}

func (i *fileInfo) Name() string       { return i.name }
func (i *fileInfo) Size() int64        { return i.st.Size }
func (i *fileInfo) ModTime() time.Time { return time.Unix(i.st.Mtim.Unix()) }
func (i *fileInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i *fileInfo) Sys() any           { return &i.st }

// Mode has the type and the permission, and nothing of setuid and the like.
func (i *fileInfo) Mode() fs.FileMode {
	mode := fs.FileMode(i.st.Mode).Perm()
	switch i.st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		return mode
	case syscall.S_IFDIR:
		return mode | fs.ModeDir
	case syscall.S_IFLNK:
		return mode | fs.ModeSymlink
	}
	return mode | fs.ModeIrregular
}
