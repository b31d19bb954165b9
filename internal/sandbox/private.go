package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"agent/internal/fsx"
)

const (
	prefix  = "agent-sandbox-" // of the names of private directories
	settled = time.Minute      // a directory without a lock that is older has lost its owner
)

// Private is a directory, 0700, that holds the home and the temporary directory
// of a program.
type Private struct {
	Dir  string
	lock *os.File // held while the owner lives
}

// NewPrivate makes a private directory. It also removes those of owners that were killed.
func NewPrivate() (*Private, error) {
	base, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	sweep(base)
	dir, err := os.MkdirTemp(base, prefix)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	lock, err := tryLock(dir)
	p := Policy{Private: dir}
	if err := errors.Join(err, os.Mkdir(p.home(), 0o700), os.Mkdir(p.tmp(), 0o700)); err != nil {
		_ = fsx.RemoveTree(dir) // what matters is the first error
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return &Private{Dir: dir, lock: lock}, nil
}

func (p Policy) home() string { return filepath.Join(p.Private, "home") }
func (p Policy) tmp() string  { return filepath.Join(p.Private, "tmp") }

// Remove removes the directory. What it cannot remove, or not before limit has
// passed, is left to the next NewPrivate.
func (p *Private) Remove(limit time.Duration) {
	done := make(chan struct{})
	go func() { _ = fsx.RemoveTree(p.Dir); close(done) }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
	_ = p.lock.Close()
}

func tryLock(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes the directories whose owners are gone.
func sweep(base string) {
	left, _ := filepath.Glob(filepath.Join(base, prefix+"*"))
	for _, dir := range left {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !owned(info) || time.Since(info.ModTime()) < settled {
			continue
		}
		if lock, err := tryLock(dir); err == nil {
			_ = fsx.RemoveTree(dir) // the next one tries again
			_ = lock.Close()
		}
	}
}

func owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
