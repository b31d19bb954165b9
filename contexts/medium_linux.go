package contexts

import (
	"os"

	"golang.org/x/sys/unix"
)

// mediums names the file system types that are refused, by their magic numbers
// in statfs(2).
var mediums = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CIFS_SUPER_MAGIC: "CIFS",
	unix.FUSE_SUPER_MAGIC: "FUSE",
	unix.V9FS_MAGIC:       "9P",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.CODA_SUPER_MAGIC: "Coda",
}

// unreliable names the file system of an open file if locks do not work on it.
func unreliable(fd int) (string, error) {
	var s unix.Statfs_t
	if err := unix.Fstatfs(fd, &s); err != nil {
		return "", os.NewSyscallError("statfs", err)
	}
	return mediums[uint32(s.Type)], nil
}
