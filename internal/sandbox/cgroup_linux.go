package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// pidGroups are where control groups that count processes can be made: version 2, version 1.
var pidGroups = []string{"/sys/fs/cgroup", "/sys/fs/cgroup/pids"}

// BoundProcesses puts a process, and what it will start, into a control group of
// at most so many tasks. It is for root, whose processes RLIMIT_NPROC does not
// bound; where it cannot be done nothing happens. release removes the group after
// its processes have ended.
func BoundProcesses(pid, most int) (release func()) {
	if os.Geteuid() != 0 {
		return func() {}
	}
	for _, root := range pidGroups {
		left, _ := filepath.Glob(filepath.Join(root, "agent-*"))
		for _, dir := range left {
			_ = os.Remove(dir) // of a process that was killed; one with processes stays
		}
		dir := filepath.Join(root, fmt.Sprintf("agent-%d", pid))
		if os.Mkdir(dir, 0o700) != nil {
			continue
		}
		if set(filepath.Join(dir, "pids.max"), most) == nil && set(filepath.Join(dir, "cgroup.procs"), pid) == nil {
			return func() { _ = os.Remove(dir) }
		}
		_ = os.Remove(dir)
	}
	return func() {}
}

// set writes to a file that is there only if the kernel counts processes here.
func set(file string, n int) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.Itoa(n))
	return errors.Join(err, f.Close())
}

// MostTasks is the bound for a server in namespaces, with all that it starts.
const MostTasks = mostThreads
