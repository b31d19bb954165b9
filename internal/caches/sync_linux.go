package caches

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncTree brings a whole tree to the disk, with everything else on its file system: a layer has thousands of files.
func syncTree(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}
