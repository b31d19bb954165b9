package git

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"agent/internal/exhaustive"
)

// longHistory is a remote with 30 commits on main, and the tag v1 on the fifth.
func longHistory(t *testing.T) (bare string) {
	t.Helper()
	bare = remote(t)
	work := filepath.Join(t.TempDir(), "work")
	plain(t, filepath.Dir(work), "clone", "-q", bare, work)
	for i := 2; i <= 30; i++ {
		put(t, work, "README", fmt.Sprintf("line %d\n", i))
		plain(t, work, "commit", "-qam", fmt.Sprint("commit ", i))
		if i == 5 {
			plain(t, work, "tag", "-a", "-m", "first", "v1")
		}
	}
	plain(t, work, "push", "-q", "--tags", "origin", "main")
	return bare
}

func commits(t *testing.T, r *Repo) string { return plain(t, r.Dir, "rev-list", "--count", "HEAD") }

// TestDepth: a clone gets as much history as is asked for.
func TestDepth(t *testing.T) {
	t.Parallel()
	bare := longHistory(t)
	for name, c := range exhaustive.SampleMap(map[string]struct {
		depth   int
		tags    bool
		want    string
		shallow bool
		tag     string
	}{
		"one":       {0, false, "1", true, ""},
		"some":      {7, false, "7", true, ""},
		"all":       {-1, false, "30", false, ""},
		"with tags": {-1, true, "30", false, "v1"},
	}, 2) {
		r, err := Clone(t.Context(), Options{URL: bare, Dir: filepath.Join(t.TempDir(), "c"), Depth: c.depth, Tags: c.tags})
		if err != nil {
			t.Fatal(name, err)
		}
		if got := commits(t, r); got != c.want || r.Shallow() != c.shallow || plain(t, r.Dir, "tag") != c.tag {
			t.Errorf("%s: %s commits, shallow %v, tags %q", name, got, r.Shallow(), plain(t, r.Dir, "tag"))
		}
	}
}

// TestDeepen fetches history by and by, from the commit that the work began on, although
// the branch went on, was rewritten, or is gone.
func TestDeepen(t *testing.T) {
	exhaustive.Slow(t)
	t.Parallel()
	bare := longHistory(t)
	r := clone(t, bare)
	head, err := r.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	put(t, r.Dir, "own", "mine")
	plain(t, r.Dir, "add", "own")
	plain(t, r.Dir, "commit", "-qm", "own")
	plain(t, bare, "update-ref", "refs/heads/main", "refs/heads/other")
	plain(t, bare, "config", "uploadpack.allowAnySHA1InWant", "true") // as GitHub and GitLab do
	plain(t, bare, "update-ref", "refs/keep/it", head)
	for _, c := range []struct {
		by      int
		want    string
		shallow bool
		tag     string
	}{{3, "5", true, ""}, {10, "15", true, ""}, {500, "31", false, "v1"}} {
		if err := r.Deepen(t.Context(), head, c.by, 0); err != nil {
			t.Fatal(err)
		}
		if got := commits(t, r); got != c.want || r.Shallow() != c.shallow || plain(t, r.Dir, "tag") != c.tag {
			t.Errorf("after %d more: %s commits, shallow %v, tags %q", c.by, got, r.Shallow(), plain(t, r.Dir, "tag"))
		}
	}
	if got := plain(t, r.Dir, "blame", "-s", "README"); strings.HasPrefix(got, "^") {
		t.Errorf("blame still ends at a cut: %s", got)
	}
	plain(t, r.Dir, "fsck", "--strict")
	if err := r.Deepen(t.Context(), head, 500, 0); err != nil {
		t.Errorf("of a whole history: %v", err)
	}
	if err := r.Deepen(t.Context(), "--upload-pack=x", 5, 0); err == nil {
		t.Error("what is no commit is passed to git")
	}
	gone := clone(t, longHistory(t))
	plain(t, gone.auth.url, "update-ref", "-d", "HEAD")
	gone.auth.url = filepath.Join(t.TempDir(), "gone.git")
	var failed *Error
	if err := gone.Deepen(t.Context(), head, 5, 0); !errors.As(err, &failed) || !gone.Shallow() || commits(t, gone) != "1" {
		t.Errorf("of a remote that is gone: %v, %s commits", err, commits(t, gone))
	}
}
