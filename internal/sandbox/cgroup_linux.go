package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// group is a control group that can be made, with its bounds.
type group struct {
	above  string
	bounds map[string]uint64 // by file
}

// groups are those of a process: of version 2 one for all, of version 1 one for each kind. That of memory lies
// below the own one, whose bound goes on to count.
func groups(tasks int, memory uint64) []group {
	return []group{
		{"/sys/fs/cgroup", map[string]uint64{"pids.max": uint64(tasks), "memory.max": memory}},
		{"/sys/fs/cgroup/pids", map[string]uint64{"pids.max": uint64(tasks)}},
		{filepath.Join("/sys/fs/cgroup/memory", ownGroup("memory")), map[string]uint64{"memory.limit_in_bytes": memory}},
	}
}

// ownGroup is the place of this process in a hierarchy of version 1.
func ownGroup(kind string) string {
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 && f[1] == kind {
			return f[2]
		}
	}
	return ""
}

// Bound puts a process, and what it will start, into control groups of at most so many tasks and bytes of
// memory. It is for root, whose processes RLIMIT_NPROC does not bound; where it cannot be done nothing
// happens. release removes the groups after their processes have ended.
func Bound(pid, tasks int, memory uint64) (release func()) {
	var made []string
	if os.Geteuid() == 0 {
		for _, g := range groups(tasks, memory) {
			if dir := g.take(pid); dir != "" {
				made = append(made, dir)
			}
		}
	}
	return func() {
		for _, dir := range made {
			_ = os.Remove(dir)
		}
	}
}

// take makes the group and moves the process there. It gives "" if the kernel counts nothing here.
func (g group) take(pid int) string {
	left, _ := filepath.Glob(filepath.Join(g.above, "agent-*"))
	for _, dir := range left {
		_ = os.Remove(dir) // of a process that was killed; one with processes stays
	}
	dir := filepath.Join(g.above, fmt.Sprintf("agent-%d", pid))
	if os.Mkdir(dir, 0o700) != nil {
		return ""
	}
	bounded := false
	for file, most := range g.bounds {
		bounded = set(filepath.Join(dir, file), most) == nil || bounded
	}
	if bounded && set(filepath.Join(dir, "cgroup.procs"), uint64(pid)) == nil {
		return dir
	}
	_ = os.Remove(dir)
	return ""
}

// set writes to a file that is there only if the kernel counts this here.
func set(file string, n uint64) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.FormatUint(n, 10))
	return errors.Join(err, f.Close())
}

// MostTasks is the bound for a server in namespaces, with all that it starts.
const MostTasks = mostThreads

// MostMemory is the bound of the kernel for the memory of such a server. It lies above the one of [Policy.Exceeded],
// which can say what happened.
func MostMemory() uint64 { return memoryLimit() / 6 * 7 }
