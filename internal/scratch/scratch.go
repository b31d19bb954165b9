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

// DirIn makes one in another directory. It has its name when it is locked, so that nobody
// removes it in between.
func DirIn(parent, kind string) (dir string, remove func(), err error) {
	unnamed, err := os.MkdirTemp(parent, prefix(unlocked))
	if err != nil {
		return "", nil, err
	}
	held, err := os.Open(unnamed)
	if err != nil {
		return "", nil, errors.Join(err, os.Remove(unnamed))
	}
	_ = syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) // where there are no locks, age decides
	dir = filepath.Join(parent, prefix(kind)+strings.TrimPrefix(filepath.Base(unnamed), prefix(unlocked)))
	if err := os.Rename(unnamed, dir); err != nil {
		return "", nil, errors.Join(err, held.Close(), os.Remove(unnamed))
	}
	return dir, func() {
		_ = os.RemoveAll(dir)
		_ = held.Close()
	}, nil
}

// unlocked is what all are called until they are locked.
const unlocked = "new"

const (
	// young is how old a directory is at most that may not be locked yet.
	young = time.Minute
	// old is how old a directory is that no command uses any more, where there are no locks.
	old = 24 * time.Hour
)

// RemoveLeft removes the directories of processes that were killed. What cannot be removed,
// as that of another user, stays.
func RemoveLeft(now time.Time) { RemoveLeftIn(os.TempDir(), now) }

// RemoveLeftIn removes those in another directory.
func RemoveLeftIn(parent string, now time.Time) {
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		dir, fresh := filepath.Join(parent, e.Name()), strings.HasPrefix(e.Name(), prefix(unlocked))
		ours := fresh || slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(e.Name(), prefix(kind)) })
		info, err := os.Lstat(dir)
		if !ours || err != nil || !info.IsDir() {
			continue
		}
		if ago := now.Sub(info.ModTime()); !(fresh && ago < young) && !used(dir, ago) {
			_ = os.RemoveAll(dir)
		}
	}
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
