package mcp

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// lifeline is the descriptor on which a supervisor notices the death of the
// process that started it: the other end is held by that process only.
const lifeline = 3

// exitNotStarted is what a supervisor exits with when it cannot start its command.
const exitNotStarted = 127

// Supervise runs argv as a child, with its own standard streams, until the
// child exits or descriptor 3 reaches its end, and then kills every process
// that the child has left: all descendants on Linux, the process group
// elsewhere. It returns the child's exit status, 128 plus the signal's number
// if a signal ended it, or 127 if it did not start.
//
// It is what `agent mcp supervise -- argv...` does. A parent-death signal
// alone would reach only the child itself, and a process that is killed with
// SIGKILL cannot clean up, so somebody else has to outlive it.
func Supervise(argv []string) (exitCode int) {
	runtime.LockOSThread() // the parent-death signal follows the thread, and this one ends with the process
	becomeReaper()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) // the child decides what they mean
	syscall.CloseOnExec(lifeline)
	child, err := startSupervised(argv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		return exitNotStarted
	}
	closeStreams()
	exited := make(chan int, 1)
	go func() { exited <- reapUntil(child) }()
	orphaned := make(chan struct{})
	go func() { awaitEnd(os.NewFile(lifeline, "lifeline")); close(orphaned) }()
	select {
	case exitCode = <-exited:
		killDescendants()
	case <-orphaned:
		killDescendants()
		exitCode = 128 + int(syscall.SIGKILL)
	}
	return exitCode
}

func startSupervised(argv []string) (pid int, err error) {
	if len(argv) == 0 {
		return 0, fmt.Errorf("supervise: no command")
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return 0, fmt.Errorf("supervise: %w", err)
	}
	p, err := os.StartProcess(path, argv, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   dieWithParent(),
	})
	if err != nil {
		return 0, fmt.Errorf("supervise: %w", err)
	}
	return p.Pid, nil
}

// closeStreams leaves the pipes to the child alone: their other end must see
// them break when the child closes them or dies.
func closeStreams() {
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		_ = f.Close()
	}
}

// reapUntil collects dead children, adopted ones too, until pid is among them.
func reapUntil(pid int) int {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return exitNotStarted
		case got == pid && status.Signaled():
			return 128 + int(status.Signal())
		case got == pid:
			return status.ExitStatus()
		}
	}
}

func awaitEnd(f *os.File) {
	_, _ = io.Copy(io.Discard, f)
}
