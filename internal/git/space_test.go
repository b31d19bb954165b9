package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTooLarge: a repository that passes the bound leaves nothing behind; one
// that does not is cloned.
func TestTooLarge(t *testing.T) {
	ctx, bare := context.Background(), remote(t)
	r := clone(t, bare)
	for _, name := range []string{"a", "b", "c", "d"} {
		put(t, r.Dir, name, strings.Repeat(name, 900<<10)) // a few KB in the pack
	}
	if _, _, err := commitAll(ctx, r, "main", "m", writer); err != nil {
		t.Fatal(err)
	}
	if err := push(ctx, r, "main"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "w")
	_, err := Clone(ctx, Options{URL: bare, Dir: dir, Branch: "main", MaxBytes: 2 << 20})
	wantError(t, err, TooLarge)
	if left, _ := filepath.Glob(dir + "*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := Clone(ctx, Options{URL: bare, Dir: dir, Branch: "main", MaxBytes: 8 << 20}); err != nil {
		t.Error(err)
	}
}

// TestWithin ends what is going on when a directory grows too large.
func TestWithin(t *testing.T) {
	dir := t.TempDir()
	bounded, stop := within(context.Background(), dir, 10)
	defer stop()
	if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, 11), 0o600); err != nil {
		t.Fatal(err)
	}
	<-bounded.Done()
	if err := judge(bounded, dir, 10, bounded.Err()); !errors.As(err, new(*Error)) {
		t.Errorf("%v", err)
	}
	if err := judge(context.Background(), dir, 11, nil); err != nil {
		t.Errorf("%v", err)
	}
}
