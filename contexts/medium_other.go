//go:build !linux

package contexts

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// unreliable names the file system of an open file if locks do not work on it.
func unreliable(fd int) (string, error) {
	var s unix.Statfs_t
	if err := unix.Fstatfs(fd, &s); err != nil {
		return "", os.NewSyscallError("statfs", err)
	}
	name := unix.ByteSliceToString(s.Fstypename[:])
	for _, bad := range []string{"nfs", "smbfs", "afpfs", "webdav", "fuse"} {
		if strings.Contains(name, bad) {
			return name, nil
		}
	}
	return "", nil
}
