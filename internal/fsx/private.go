package fsx

import (
	"io/fs"
	"syscall"
)

// Private reports whether a file keeps its content from other users: nobody but its owner may read
// it. A group may read what root has given to it, as systemd does with credentials (0440).
func Private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if ok && stat.Uid == 0 {
		return info.Mode().Perm()&0o037 == 0
	}
	return info.Mode().Perm()&0o077 == 0
}
