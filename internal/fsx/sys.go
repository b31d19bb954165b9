package fsx

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// flock takes the lock or returns [ErrLocked].
func flock(f *os.File) error { return flockAs(f, unix.LOCK_EX) }

// heldLock is a lock until it is closed.
type heldLock struct{ *os.File }

// Close unlocks before it closes. A child that is being started has the descriptor, too,
// until its exec: closing alone would leave the file locked for that long.
func (l heldLock) Close() error {
	return errors.Join(flockAs(l.File, unix.LOCK_UN), l.File.Close())
}

// probe takes a lock that only keeps takers off, until f is closed.
func probe(f *os.File) error { return flockAs(f, unix.LOCK_SH) }

func flockAs(f *os.File, how int) error {
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	for errors.Is(err, unix.EINTR) {
		err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

func statfs(d *os.File) (bytes, inodes uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(d.Fd()), &s); err != nil {
		return 0, 0, os.NewSyscallError("statfs", err)
	}
	inodes = s.Ffree
	if s.Files == 0 {
		inodes = math.MaxUint64
	}
	return s.Bavail * uint64(s.Bsize), inodes, nil
}
