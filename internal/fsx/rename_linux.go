package fsx

import (
	"os"

	"golang.org/x/sys/unix"
)

func renameNoReplace(from *os.File, old string, to *os.File, new string) error {
	return unix.Renameat2(int(from.Fd()), old, int(to.Fd()), new, unix.RENAME_NOREPLACE)
}
