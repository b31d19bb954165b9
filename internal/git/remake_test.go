package git

import (
	"path/filepath"
	"testing"
)

// TestRemadeKeepsThePack: a clone of one commit, made again, compresses no file anew.
func TestRemadeKeepsThePack(t *testing.T) {
	url := remote(t)
	commit := plain(t, url, "rev-parse", "main")
	r, err := Clone(t.Context(), Options{URL: url, Dir: filepath.Join(t.TempDir(), "again"), Branch: "main", Commit: commit})
	if err != nil {
		t.Fatal(err)
	}
	if head, err := r.Head(t.Context()); err != nil || head != commit {
		t.Errorf("head %q, %v", head, err)
	}
	packs, _ := filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/*.pack"))
	loose, _ := filepath.Glob(filepath.Join(r.Dir, ".git/objects/??/*"))
	if len(packs) != 1 || len(loose) != 0 {
		t.Errorf("%d packs, %d loose objects", len(packs), len(loose))
	}
}
