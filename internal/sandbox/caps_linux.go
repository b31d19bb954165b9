package sandbox

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// kept are the capabilities that root keeps inside: those over files, which
// Landlock limits, and over its own processes.
var kept = []uintptr{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID}

// dropCapabilities takes from the calling thread what a program that it starts
// as root would get. Other users' programs get none but ambient ones.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return nil
	}
	for c := uintptr(0); ; c++ {
		if has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0); err != nil {
			return nil // past the last one that the kernel knows
		} else if has == 0 || slices.Contains(kept, c) {
			continue
		}
		switch err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err {
		case nil:
		case unix.EPERM:
			return nil // a container whose root may not even give up capabilities has few
		default:
			return err
		}
	}
}

// Undumpable keeps other processes of the same user from reading the memory and
// the environment of this one, and the kernel from writing core files of it.
func Undumpable() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// Dumpable takes Undumpable back: only then can a process give its children
// user namespaces.
func Dumpable() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }
