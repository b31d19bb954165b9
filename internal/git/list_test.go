package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFiles wants the index as a sorted list, whatever names are in it, and
// nothing that git does not know.
func TestFiles(t *testing.T) {
	ctx := context.Background()
	r := clone(t, remote(t))
	put(t, r.Dir, "untracked", "x")
	put(t, r.Dir, "a\nb", "x")
	put(t, r.Dir, "-z", "x")
	plain(t, r.Dir, "add", "--", "a\nb", "-z")
	got, err := r.Files(ctx)
	if want := []string{"-z", ".gitignore", "README", "a\nb", "dir/日本 語.txt"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	plain(t, r.Dir, "rm", "-qrf", ".")
	if got, err := r.Files(ctx); err != nil || len(got) > 0 {
		t.Errorf("of an empty index: %q, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(r.Dir, ".git", "index"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Files(ctx); err == nil {
		t.Errorf("of a damaged index: %q", got)
	}
}

// TestFilesOfAMerge wants a path once that has an entry for each side.
func TestFilesOfAMerge(t *testing.T) {
	r := clone(t, remote(t))
	for _, side := range []string{"one", "two"} {
		plain(t, r.Dir, "switch", "-qc", side, "main")
		put(t, r.Dir, "README", side+"\n")
		plain(t, r.Dir, "commit", "-qam", side)
	}
	plain(t, r.Dir, "read-tree", "-m", "main", "two", "one")
	got, err := r.Files(context.Background())
	if want := []string{".gitignore", "README", "dir/日本 語.txt"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
