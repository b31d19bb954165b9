package fsx

import (
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveTree removes a directory and all below it, also where directories in it are read-only.
func RemoveTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // if it fails so does the removal
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// TreeSize is how many bytes the files below a directory have, for people: what cannot be read
// does not count.
func TreeSize(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}
