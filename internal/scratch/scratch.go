// Package scratch makes directories for what a command needs for a moment. A process that is
// killed leaves them behind: its locks on them are gone then, by which another one knows.
package scratch

import (
	"errors"
	"os"
	"path/filepath"
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
)

var kinds = []string{Git, Preflight, Ctags, Doctor, Restore}

func prefix(kind string) string { return "agent-" + kind + "-" }

// Dir makes a directory among the temporary ones of the machine. remove removes it.
func Dir(kind string) (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp("", prefix(kind))
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

const (
	// young is how old a directory is at most that may not be locked yet.
	young = time.Minute
	// old is how old a directory is that no command uses any more, where there are no locks.
	old = 24 * time.Hour
)

// RemoveLeft removes the directories of processes that were killed. What cannot be removed,
// as that of another user, stays.
func RemoveLeft(now time.Time) {
	for _, kind := range kinds {
		left, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix(kind)+"*"))
		for _, dir := range left {
			if info, err := os.Lstat(dir); err == nil && info.IsDir() && !used(dir, now.Sub(info.ModTime())) {
				_ = os.RemoveAll(dir)
			}
		}
	}
}

// used tells whether a process works in a directory that was changed some time ago.
func used(dir string, ago time.Duration) bool {
	if ago < young {
		return true
	}
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
