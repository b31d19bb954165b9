// Package scratch makes directories for what a command needs for a moment. A process that is
// killed leaves them behind: its locks on them are gone then, by which another one knows.
package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The kinds of directories, which are part of their names.
const (
	Git       = "git"
	Preflight = "preflight"
	Ctags     = "ctags"
	Doctor    = "doctor"
	Restore   = "restore"
	Clone     = "clone" // beside the clones of contexts
)

var kinds = []string{Git, Preflight, Ctags, Doctor, Restore, Clone}

func prefix(kind string) string { return "agent-" + kind + "-" }

// Dir makes a directory among the temporary ones of the machine. remove removes it.
func Dir(kind string) (dir string, remove func(), err error) { return DirIn(os.TempDir(), kind) }

// DirIn makes one in another directory.
func DirIn(parent, kind string) (dir string, remove func(), err error) {
	defer making(parent)()
	dir, err = os.MkdirTemp(parent, prefix(kind))
	if err != nil {
		return "", nil, err
	}
	held, err := os.Open(dir)
	if err == nil {
		_ = syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) // where there are no locks, age decides
	}
	return dir, func() {
		_ = os.RemoveAll(dir)
		_ = held.Close()
	}, nil
}

// making keeps others from looking for what was left until end is called: a directory that has just been
// made has no lock yet. Who keeps us waiting for longer than a moment is none of us.
func making(parent string) (end func()) {
	at, err := os.Open(parent)
	if err != nil {
		return func() {}
	}
	for range 100 {
		if err := syscall.Flock(int(at.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return func() { _ = at.Close() }
}

// old is how old a directory is that no command uses any more, where there are no locks.
const old = 24 * time.Hour

// RemoveLeft removes the directories of processes that were killed. What cannot be removed,
// as that of another user, stays.
func RemoveLeft(now time.Time) { RemoveLeftIn(os.TempDir(), now) }

// RemoveLeftIn removes those in another directory.
func RemoveLeftIn(parent string, now time.Time) {
	for _, dir := range LeftIn(parent, now) {
		_ = os.RemoveAll(dir)
	}
}

// LeftIn are the directories in another one whose processes were killed. There are none while one is just being made.
func LeftIn(parent string, now time.Time) (dirs []string) {
	at, err := os.Open(parent)
	if err != nil {
		return nil
	}
	defer at.Close()
	if err := syscall.Flock(int(at.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return nil
	}
	entries, _ := at.ReadDir(-1)
	for _, e := range entries {
		ours := slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(e.Name(), prefix(kind)) })
		dir := filepath.Join(parent, e.Name())
		if info, err := os.Lstat(dir); ours && err == nil && info.IsDir() && !used(dir, now.Sub(info.ModTime())) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// used tells whether a process works in a directory that was changed some time ago.
func used(dir string, ago time.Duration) bool {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if err != nil {
		return true // another user's, or gone
	}
	defer f.Close()
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return false
	case errors.Is(err, syscall.EWOULDBLOCK):
		return true
	default:
		return ago < old
	}
}
