//go:build !linux

package supervise

import "syscall"

// killDescendants kills the process group, us included.
func killDescendants() {
	_ = syscall.Kill(0, syscall.SIGKILL)
}
