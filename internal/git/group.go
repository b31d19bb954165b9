package git

import (
	"os/exec"
	"syscall"
)

// leadGroup makes the process the leader of a group, which is killed as a whole.
func leadGroup(p *exec.Cmd) {
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }
}

// watch makes the process a member of the guard's group.
func (g *guard) watch(p *exec.Cmd) {
	p.SysProcAttr.Pgid = g.shell.Process.Pid
	p.Cancel = func() error { return syscall.Kill(-g.shell.Process.Pid, syscall.SIGKILL) }
}
