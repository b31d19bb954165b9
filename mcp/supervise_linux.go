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

// killRounds bounds the hunt for processes that fork faster than they are
// killed; the process group's signal, which is atomic, ends the rest.
const killRounds = 1000

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
		pids := children()
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		options := 0
		if len(pids) == 0 {
			options = syscall.WNOHANG // the list may miss children of the moment
			time.Sleep(time.Millisecond)
		}
		if _, err := syscall.Wait4(-1, nil, options, nil); err == syscall.ECHILD {
			return
		}
	}
	_ = syscall.Kill(0, syscall.SIGKILL)
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
