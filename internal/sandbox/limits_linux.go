package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	largestFile   = 4 << 30 // bytes of one file
	mostProcesses = 1024    // at once
	mostThreads   = 4096    // at once, all processes together
	leastFree     = 1 << 30 // bytes of disk; commands end before there is less
)

// yieldMemory makes this process, and what it starts, the first ones that the
// kernel ends when memory runs out.
func yieldMemory() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) }

// boundPIDs bounds the processes of the namespace that this process leads. The
// kernel knows such a bound from 6.14 on; before, the same file is the machine's.
func boundPIDs() {
	var name unix.Utsname
	major, minor := 0, 0
	if unix.Uname(&name) == nil {
		_, _ = fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor)
	}
	if os.Getpid() == 1 && (major > 6 || major == 6 && minor >= 14) {
		_ = os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.Itoa(mostThreads)), 0)
	}
}

// LimitSelf bounds what this process and those that it starts may use, as far as
// the kernel counts it by process.
func (p Policy) LimitSelf() {
	lower(unix.RLIMIT_CORE, 0)
	lower(unix.RLIMIT_FSIZE, largestFile)
	if p.Leader { // elsewhere all processes of the user count
		lower(unix.RLIMIT_NPROC, mostThreads)
	}
}

func lower(which int, to uint64) {
	var now unix.Rlimit
	if unix.Getrlimit(which, &now) == nil && now.Max > to {
		_ = unix.Setrlimit(which, &unix.Rlimit{Cur: to, Max: to}) // may always be lowered
	}
}

// Exceeded says what the processes that run beside this one, and what they have
// written below dirs, take too much of; "" while all is well. It knows only in a
// sandbox with namespaces.
func (p Policy) Exceeded(dirs ...string) string {
	if !p.Leader || !p.Proc {
		return ""
	}
	entries, _ := os.ReadDir("/proc") // once: looking at each takes long when there are many
	if processes := count(entries); processes > mostProcesses {
		return fmt.Sprintf("more than %d processes", mostProcesses)
	}
	memory := usage(entries)
	if memory > memoryLimit() {
		return fmt.Sprintf("more than %d MiB of memory", memoryLimit()>>20)
	}
	for _, dir := range dirs {
		var disk unix.Statfs_t
		if unix.Statfs(dir, &disk) == nil && disk.Blocks > 0 && disk.Bavail*uint64(disk.Bsize) < min(leastFree, disk.Blocks*uint64(disk.Bsize)/50) {
			return "the last free space of the disk"
		}
	}
	return ""
}

// count is how many of the entries of /proc are processes.
func count(entries []os.DirEntry) (processes int) {
	for _, e := range entries {
		if name := e.Name(); name[0] >= '0' && name[0] <= '9' {
			processes++
		}
	}
	return processes
}

// usage adds up the memory of the processes of the namespace, less its first and this one.
func usage(entries []os.DirEntry) (memory uint64) {
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == 1 || pid == os.Getpid() {
			continue
		}
		text, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "statm"))
		if f := strings.Fields(string(text)); len(f) > 2 {
			resident, _ := strconv.ParseUint(f[1], 10, 64)
			shared, _ := strconv.ParseUint(f[2], 10, 64)
			memory += (resident - min(resident, shared)) * uint64(os.Getpagesize())
		}
	}
	return memory
}

// memoryLimit is three quarters of the machine's memory, or of the container's.
func memoryLimit() uint64 {
	var info unix.Sysinfo_t
	_ = unix.Sysinfo(&info)
	total := info.Totalram * uint64(info.Unit)
	for _, name := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, _ := os.ReadFile(name)
		if most, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && most < total {
			total = most
		}
	}
	return total / 4 * 3
}
