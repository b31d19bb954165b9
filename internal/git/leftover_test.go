package git

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A process that is killed leaves its directories. Those of commands that run, and what
// others call alike, stay.
func TestRemoveLeftovers(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	now := time.Now()
	for name, gone := range map[string]bool{"agent-git-old": true, "agent-preflight-old": true, "agent-ctags-old": true, "agent-doctor-old": true, "agent-restore-old": true, "agent-git-new": false, "other-old": false, "agent-git-file-old": false, "agent-git-link-old": false} {
		path := filepath.Join(dir, name)
		var err error
		switch name {
		case "agent-git-file-old":
			err = os.WriteFile(path, nil, 0o600)
		case "agent-git-link-old":
			err = os.Symlink(dir, path)
		default:
			err = os.MkdirAll(filepath.Join(path, "sub"), 0o700)
		}
		if err == nil && name != "agent-git-new" && name != "agent-git-link-old" {
			err = os.Chtimes(path, now, now.Add(-25*time.Hour))
		}
		if err != nil {
			t.Fatal(err)
		}
		RemoveLeftovers(now)
		if _, err := os.Lstat(path); os.IsNotExist(err) != gone {
			t.Errorf("%s: %v", name, err)
		}
	}
}
