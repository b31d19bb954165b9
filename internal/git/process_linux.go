package git

import (
	"os/exec"
	"runtime"
	"syscall"
)

// ownGroup makes the process a group of its own, which is killed as a whole,
// and which does not outlive us: a git that writes on would meet the next run.
func ownGroup(p *exec.Cmd) {
	leadGroup(p)
	p.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// runTied keeps the thread that started the process: the kernel counts the
// thread's end as the parent's.
func runTied(p *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return p.Run()
}
