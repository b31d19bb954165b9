package git

import (
	"os"
	"path/filepath"
	"time"
)

// leftoverAge is how old a directory for temporary files is that no command uses any more.
const leftoverAge = 24 * time.Hour

// leftovers are the names of the program's temporary directories, those of commands of git
// and others. Those of the sandbox are looked after there: they have locks.
var leftovers = []string{"agent-git-*", "agent-preflight-*", "agent-ctags-*", "agent-doctor-*", "agent-restore-*"}

// RemoveLeftovers removes the temporary directories of processes that were killed. What
// cannot be removed, as that of another user, stays.
func RemoveLeftovers(now time.Time) {
	for _, name := range leftovers {
		left, _ := filepath.Glob(filepath.Join(os.TempDir(), name))
		for _, dir := range left {
			if info, err := os.Lstat(dir); err == nil && info.IsDir() && now.Sub(info.ModTime()) > leftoverAge {
				_ = os.RemoveAll(dir)
			}
		}
	}
}
