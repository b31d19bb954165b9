package try

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"agent/forge"
)

// Of tries that have ended so many copies are kept, for so long.
const (
	keepEnded    = 20
	keepEndedFor = 7 * 24 * time.Hour
)

func endedFile(dir string) string { return filepath.Join(dir, "ended") }

// keep leaves of the copy only what git has, and removes those of older tries.
func (t *Try) keep() error {
	entries, err := os.ReadDir(t.repository())
	for _, e := range entries {
		if e.Name() != ".git" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(t.repository(), e.Name())))
		}
	}
	err = errors.Join(err, os.WriteFile(endedFile(t.dir), nil, 0o600))
	return errors.Join(err, sweep(filepath.Dir(t.dir), time.Now()))
}

// sweep removes the copies of ended tries that are too many or too old. One that has not
// ended stays.
func sweep(stateDir string, now time.Time) error {
	dirs, err := filepath.Glob(filepath.Join(stateDir, forge.TryPrefix+"*"))
	if err != nil {
		return err
	}
	ended := map[string]time.Time{}
	for _, dir := range dirs {
		if info, err := os.Lstat(endedFile(dir)); err == nil {
			ended[dir] = info.ModTime()
		}
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return ended[dir].IsZero() })
	slices.SortFunc(dirs, func(a, b string) int { return ended[b].Compare(ended[a]) })
	for i, dir := range dirs {
		if i >= keepEnded || now.Sub(ended[dir]) > keepEndedFor {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}
