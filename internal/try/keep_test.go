package try

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Of ended tries the latest stay, for a week; one that has not ended stays for ever.
func TestSweep(t *testing.T) {
	t.Parallel()
	state, now := t.TempDir(), time.Now()
	add := func(name string, ended time.Duration) {
		dir := filepath.Join(state, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if ended < 0 {
			return
		}
		if err := os.WriteFile(endedFile(dir), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(endedFile(dir), now, now.Add(-ended)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range keepEnded + 2 {
		add(fmt.Sprintf("try-%08d", i), time.Duration(i)*time.Minute)
	}
	add("try-paused00", -1)
	add("try-old00000", keepEndedFor+time.Hour)
	if err := sweep(state, now); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"try-00000000": true, "try-00000019": true, "try-00000020": false, "try-00000021": false, "try-paused00": true, "try-old00000": false} {
		if _, err := os.Lstat(filepath.Join(state, name)); (err == nil) != want {
			t.Errorf("%s: there %t, want %t", name, err == nil, want)
		}
	}
	if err := os.WriteFile(endedFile(filepath.Join(state, "try-paused00")), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sweep(state, now.Add(keepEndedFor+2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(state); len(left) > 0 {
		t.Errorf("%d are left after a week", len(left))
	}
}
