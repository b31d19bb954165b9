package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestWritable(t *testing.T) {
	dir := t.TempDir()
	if err := writable(dir); err != nil {
		t.Errorf("a directory: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := writable(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".agent"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writable(dir); err == nil {
		t.Error("a file in the way of the adapter's own was not seen")
	}
	shut := filepath.Join(dir, "shut")
	if err := os.Mkdir(shut, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 { // root may write there
		if err := writable(shut); !errors.Is(err, syscall.EACCES) {
			t.Errorf("a directory that is shut: %v", err)
		}
	}
}
