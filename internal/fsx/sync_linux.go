//go:build linux && !nosync

package fsx

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// synced syncs what is needed to read the data back, its size included, but not
// the times of the file: that saves the disk a write.
type synced struct{ *os.File }

func (f synced) Sync() error {
	err := datasync(int(f.Fd()))
	for errors.Is(err, unix.EINTR) {
		err = datasync(int(f.Fd()))
	}
	return os.NewSyscallError("fdatasync", err)
}

var datasync = unix.Fdatasync

func syncDir(d *os.File) error { return d.Sync() }
