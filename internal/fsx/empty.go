package fsx

import (
	"io"
	"io/fs"
	"time"
)

// Empty is a file system that has a root directory and nothing else. Reading a
// file is fs.ErrNotExist, every change is fs.ErrPermission.
type Empty struct{}

func (Empty) OpenFile(name string, _ int, _ fs.FileMode) (File, error) {
	return nil, missing("open", name)
}
func (Empty) Mkdir(name string, _ fs.FileMode) error    { return denied("mkdir", name) }
func (Empty) MkdirAll(name string, _ fs.FileMode) error { return denied("mkdir", name) }
func (Empty) Remove(name string) error                  { return missing("remove", name) }
func (Empty) RemoveAll(string) error                    { return nil }
func (Empty) Rename(old, _ string) error                { return missing("rename", old) }
func (Empty) RenameNoReplace(old, _ string) error       { return missing("rename", old) }
func (Empty) TryLock(name string) (io.Closer, error)    { return nil, denied("lock", name) }
func (Empty) Locked(string) (bool, error)               { return false, nil }
func (Empty) Free() (bytes, inodes uint64, err error)   { return 0, 0, nil }

func (Empty) SyncDir(name string) error {
	_, err := Empty{}.Lstat(name)
	return err
}

func (Empty) Lstat(name string) (fs.FileInfo, error) {
	if name != "." {
		return nil, missing("lstat", name)
	}
	return emptyRoot{}, nil
}

func (Empty) ReadDir(name string) ([]fs.DirEntry, error) {
	_, err := Empty{}.Lstat(name)
	return nil, err
}

func missing(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }
func denied(op, name string) error  { return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission} }

// emptyRoot describes the root.
type emptyRoot struct{}

func (emptyRoot) Name() string       { return "." }
func (emptyRoot) Size() int64        { return 0 }
func (emptyRoot) Mode() fs.FileMode  { return fs.ModeDir | 0o500 }
func (emptyRoot) ModTime() time.Time { return time.Time{} }
func (emptyRoot) IsDir() bool        { return true }
func (emptyRoot) Sys() any           { return nil }
