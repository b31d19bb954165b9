package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// BecomeReaper makes orphans of our descendants our children, so that none
// escapes by leaving its process group or its parent.
func BecomeReaper() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// DieWithParent are attributes of a child that is killed when the thread that
// starts it ends.
func DieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

var errStillThere = errors.New("sandbox: some processes could not be killed")

// KillDescendants kills all descendants of a process that has called
// [BecomeReaper] and has no other child to wait for, and returns when they are
// gone. It reports whether there were any. After limit it gives up with an error.
//
// In a sandbox one system call kills them all at once, so none can fork itself
// out of reach. Elsewhere children are killed until there are none.
func (p Policy) KillDescendants(limit time.Duration) (any bool, err error) {
	for end := time.Now().Add(limit); !childless(); any = true {
		if any && time.Now().After(end) {
			return any, errStillThere
		}
		if p.signalsOnlyOwn() {
			_ = syscall.Kill(-1, syscall.SIGKILL) // all but ourselves and process 1
		} else {
			killChildren()
		}
		if any {
			time.Sleep(time.Millisecond)
		}
	}
	return any, nil
}

// KillChildrenBut kills all descendants of a process that has called [BecomeReaper],
// but for those children that are kept and what is below them. It returns when the
// others are gone, and reports whether there were any. After limit it gives up: a
// process that forks all the time can outrun it.
func KillChildrenBut(kept []int, limit time.Duration) (any bool, err error) {
	for end, gone := time.Now().Add(limit), 0; gone < 2; { // a list may miss a child whose parent dies meanwhile
		gone++
		for _, pid := range children() {
			if slices.Contains(kept, pid) {
				continue
			}
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // somebody else may take it first
			any, gone = true, 0
		}
		if time.Now().After(end) {
			return any, errStillThere
		}
		if gone == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	return any, nil
}

// ReapChildrenBut collects the dead children of a process that has called
// [BecomeReaper], but for those that are kept. A dead process counts against
// [MostTasks] until somebody does.
func ReapChildrenBut(kept ...int) {
	for _, pid := range children() {
		if !slices.Contains(kept, pid) {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // one that lives is left alone
		}
	}
}

// signalsOnlyOwn reports whether a signal to "all processes" reaches the
// descendants of this process alone. It asks the kernel, since a mistake would
// kill everything that the user runs.
func (p Policy) signalsOnlyOwn() bool {
	parent := os.Getppid()
	if p.Leader {
		return parent == 1 // which is never signalled
	}
	return p.Private != "" && parent > 1 && abi() >= abiScope && syscall.Kill(parent, 0) == syscall.EPERM
}

func killChildren() {
	for _, pid := range children() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// childless collects the dead and reports whether no child is left. It never
// waits: somebody else may take the dead first, and the list of children may have
// missed a living one.
func childless() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case err == syscall.ECHILD:
			return true
		case pid <= 0 && err != syscall.EINTR:
			return false
		}
	}
}

// children lists the process ids of our children, over all our threads.
func children() []int {
	var pids []int
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // a thread that has ended
		}
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
