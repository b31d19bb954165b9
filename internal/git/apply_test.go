package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestSinceAndApply: what stands on a branch comes into a new clone, also where the
// branch that it began on has moved, and not at all where it does not fit.
func TestSinceAndApply(t *testing.T) {
	ctx, url := context.Background(), remote(t)
	earlier, spec := work(t, url, "main", "new/file", "x\x00\n")
	put(t, earlier.Dir, "README", "hello\nmore\n")
	commit, _, err := commitAll(ctx, earlier, "agent/7", "more", writer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := earlier.Push(ctx, PushSpec{Branch: "agent/7", Commit: commit, Base: spec.Base, Author: writer}); err != nil {
		t.Fatal(err)
	}
	other(t, url, "main", "theirs", "y\n")
	r := clone(t, url)
	patch, err := r.Since(ctx, "agent/7", spec.Base)
	if err != nil {
		t.Fatal(err)
	}
	mails, err := earlier.Patch(ctx, spec.Base, commit)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string][]byte{"branch": patch, "two commits as mails": mails} {
		for range 2 { // as after a process that was killed
			if err := r.Apply(ctx, p); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got := plain(t, r.Dir, "status", "--porcelain"); got != "M  README\nA  new/file" {
			t.Errorf("%s: the working copy is\n%s", name, got)
		}
		if data, _ := os.ReadFile(filepath.Join(r.Dir, "README")); string(data) != "hello\nmore\n" {
			t.Errorf("%s: README is %q", name, data)
		}
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "theirs")); err != nil {
		t.Error(err)
	}

	other(t, url, "main", "README", "something else\n")
	late := clone(t, url)
	wantConflict := late.Apply(ctx, patch)
	wantError(t, first(wantConflict), Conflict)
	if got := plain(t, late.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("after a patch that does not fit the working copy is\n%s", got)
	}
	_, err = late.Since(ctx, "agent/none", spec.Base)
	wantError(t, err, Gone)
}

// first is the first of joined errors.
func first(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}
