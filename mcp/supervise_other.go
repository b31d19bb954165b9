//go:build !linux

package mcp

import "syscall"

func becomeReaper() {}

func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// killDescendants kills the process group, us included.
func killDescendants() {
	_ = syscall.Kill(0, syscall.SIGKILL)
}
