// Package fsx is the file system that everything durable goes through.
//
// There are three implementations: [Empty], which has no files; [OpenOS], which works below one directory of
// the real file system (through os.Root, so no name can escape it); and [Mem],
// which keeps files in memory, forgets what was not synced when it crashes, and
// fails at the n-th operation when told to. Nothing in this module that must
// survive a crash calls package os directly.
//
// Names are slash-separated, relative, and clean. Directories are created with
// mode 0700 and files with mode 0600 by their callers.
package fsx

import (
	"errors"
	"io"
	"io/fs"
	"time"
)

// ErrLocked is returned by [FS.TryLock] when somebody else holds the lock.
var ErrLocked = errors.New("locked by another process")

// FS is a directory tree below one root.
//
// Durability: the bytes of a file survive a power cut after File.Sync returned
// nil; a name (create, rename, remove) survives after SyncDir of its parent
// returned nil. An error of Sync or SyncDir is final, see package eventlog.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	// Remove removes a file or an empty directory.
	Remove(name string) error
	RemoveAll(name string) error
	// Rename replaces new atomically if it is a file.
	Rename(old, new string) error
	// RenameNoReplace fails with fs.ErrExist if new exists, even as an empty directory.
	RenameNoReplace(old, new string) error
	Lstat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	SyncDir(name string) error
	// TryLock takes an exclusive lock on a file, which it creates if need be.
	// The kernel drops the lock when the process dies. It never waits: a lock
	// held elsewhere is ErrLocked. The file may be removed by a collector while
	// it is unlocked; TryLock notices and locks the new one.
	TryLock(name string) (io.Closer, error)
	// Locked tells whether somebody holds the lock of a file. It creates nothing
	// and takes the lock from nobody, but who tries it in this moment may be
	// told that it is held.
	Locked(name string) (bool, error)
	// Free says how much room is left.
	Free() (bytes, inodes uint64, err error)
}

// File is an open file. Writes go to the end when it was opened with O_APPEND.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

// Clock tells the time. Only outer layers have one; nothing pure does.
type Clock func() time.Time
