package git

import (
	"os"
	"path/filepath"
	"time"
)

// leftoverAge is how old a directory for temporary files is that no command uses any more.
const leftoverAge = 24 * time.Hour

// RemoveLeftovers removes the directories for temporary files of commands whose process
// was killed. What cannot be removed, as that of another user, stays.
func RemoveLeftovers(now time.Time) {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "agent-git-*"))
	for _, dir := range left {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && now.Sub(info.ModTime()) > leftoverAge {
			_ = os.RemoveAll(dir)
		}
	}
}
