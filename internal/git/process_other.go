//go:build !linux

package git

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the process a group of its own, which is killed as a whole.
func ownGroup(p *exec.Cmd) {
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }
}

func runTied(p *exec.Cmd) error { return p.Run() }
