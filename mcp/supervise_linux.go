package mcp

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killRounds bounds the hunt, of about a second, for processes that fork faster
// than they are killed; the process group's signal, which is atomic, ends the rest.
const killRounds = 500

// becomeReaper makes orphans of our descendants our children, so that none
// escapes by leaving the process group.
func becomeReaper() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// killDescendants kills children and, as each death hands its children to us,
// their descendants, until there are none. If that does not end, the whole
// process group is killed, we included.
func killDescendants() {
	for range killRounds {
		for _, pid := range children() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if childless() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	_ = syscall.Kill(0, syscall.SIGKILL)
}

// childless collects the dead and reports whether no child is left. It never
// waits: reapUntil may take the dead first, and the list of children may have
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
