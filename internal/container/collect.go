package container

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agent/internal/fsx"
)

// Usage is how many images are unpacked, and what they take on disk.
func (i *Images) Usage() (images int, size int64, err error) {
	err = i.each(func(dir string, _ time.Time) error {
		images++
		size += fsx.TreeSize(dir)
		return nil
	})
	return images, size, err
}

// Collect removes images that old says nobody uses any more, and what a killed process left half
// unpacked. removed gets each image; with dryRun nothing else happens.
func (i *Images) Collect(now time.Time, old func(used time.Time) bool, dryRun bool, removed func(id string, size int64)) error {
	if !dryRun {
		left, _ := filepath.Glob(filepath.Join(i.Dir, newPrefix+"*"))
		for _, dir := range left {
			if info, err := os.Lstat(dir); err == nil && now.Sub(info.ModTime()) > abandoned {
				_ = fsx.RemoveTree(dir) // the next time it is tried again
			}
		}
	}
	return i.each(func(dir string, used time.Time) error {
		if !old(used) {
			return nil
		}
		size := fsx.TreeSize(dir)
		if !dryRun {
			gone := filepath.Join(i.Dir, newPrefix+filepath.Base(dir))
			if err := os.Rename(dir, gone); err != nil { // half of an image must not pass for one
				return err
			}
			if err := fsx.RemoveTree(gone); err != nil {
				return err
			}
		}
		removed("sha256:"+filepath.Base(dir), size)
		return nil
	})
}

// each calls f with each complete image and when it was used last.
func (i *Images) each(f func(dir string, used time.Time) error) error {
	entries, err := os.ReadDir(i.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := f(filepath.Join(i.Dir, e.Name()), info.ModTime()); err != nil {
			return err
		}
	}
	return nil
}
