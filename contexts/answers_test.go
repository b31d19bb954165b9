package contexts

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agent/internal/fsx"
)

// The texts of a forgotten task stand in kept answers, too, also in those about lists.
// What nobody asks for any more goes with gc.
func TestAnswersGo(t *testing.T) {
	for _, way := range []string{"forget", "collect", "none kept"} {
		dir := t.TempDir()
		must(t, os.Chmod(dir, 0o700))
		fsys, err := fsx.OpenOS(dir)
		must(t, err)
		s := aged(t, fsys)
		used, unused := filepath.Join(dir, AnswersDir, "a"), filepath.Join(dir, AnswersDir, "b")
		if way != "none kept" {
			must(t, os.Mkdir(filepath.Dir(used), 0o700), os.WriteFile(used, nil, 0o600), os.WriteFile(unused, nil, 0o600),
				os.Chtimes(used, at, at.AddDate(0, 0, -13)), os.Chtimes(unused, at, at.AddDate(0, 0, -15)), s.CheckOwn())
		}
		left := 0
		switch way {
		case "collect":
			must(t, s.Collect(context.Background(), yearly, &Collected{}))
			left = 1
		default:
			_, err := s.Forget(numbered(5), "test", time.Now(), func(*Context) error { return nil })
			must(t, err)
		}
		if files, _ := os.ReadDir(filepath.Dir(used)); len(files) != left || left == 1 && files[0].Name() != "a" {
			t.Errorf("%s: %v is left", way, files)
		}
	}
}
