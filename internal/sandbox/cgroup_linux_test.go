package sandbox

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestBoundProcesses: root's processes are bound by no rlimit, and a fork bomb of
// root stopped the machine. Only so many forks as the bound are tried, and a few more.
func TestBoundProcesses(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("for others RLIMIT_NPROC does it")
	}
	cmd := exec.Command("sh", "-c", `read go; for i in $(seq 60); do sleep 20 & done; wait`)
	in, _ := cmd.StdinPipe()
	out, err := os.Create(t.TempDir() + "/out") // no pipe: the children hold it
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	release := Bound(cmd.Process.Pid, 20, 1<<30)
	group, _ := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/cgroup")
	if !strings.Contains(string(group), "/agent-") {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Skipf("control groups of processes cannot be made here:\n%s", group)
	}
	_, _ = in.Write([]byte("go\n"))
	err = cmd.Wait() // the shell gives up at the first fork that is refused
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/pids"} {
		procs, _ := os.ReadFile(dir + "/agent-" + strconv.Itoa(cmd.Process.Pid) + "/cgroup.procs")
		pids := strings.Fields(string(procs))
		for _, pid := range pids {
			_ = exec.Command("kill", "-9", pid).Run()
		}
		if len(pids) > 20 {
			t.Errorf("%d processes", len(pids))
		}
	}
	said, _ := os.ReadFile(out.Name())
	if err == nil || !strings.Contains(strings.ToLower(string(said)), "fork") {
		t.Errorf("all forks were let: %v %s", err, said)
	}
	release()
}

// TestBoundMemory: what takes more memory than the group may have is ended by the kernel, and nothing else is.
func TestBoundMemory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("control groups are root's")
	}
	if swaps, _ := os.ReadFile("/proc/swaps"); strings.Count(string(swaps), "\n") > 1 {
		t.Skip("what does not fit may be swapped out here")
	}
	cmd := exec.Command("sh", "-c", `read go; head -c 200M /dev/zero | tail -c 150M >/dev/null`) // tail keeps it all
	in, _ := cmd.StdinPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	release := Bound(cmd.Process.Pid, 20, 64<<20)
	defer release()
	group, _ := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/cgroup")
	own := "agent-" + strconv.Itoa(cmd.Process.Pid)
	bounded := false
	for line := range strings.Lines(string(group)) {
		_, err := os.Stat("/sys/fs/cgroup/" + own + "/memory.max")
		bounded = bounded || strings.Contains(line, ":memory:") && strings.Contains(line, own) || strings.HasPrefix(line, "0::") && strings.Contains(line, own) && err == nil
	}
	if !bounded {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Skipf("control groups of memory cannot be made here:\n%s", group)
	}
	_, _ = in.Write([]byte("go\n"))
	if err := cmd.Wait(); err == nil {
		t.Error("150 MiB fit into 64 MiB")
	}
	release()
	if left, _ := os.ReadFile("/proc/self/cgroup"); strings.Contains(string(left), own) {
		t.Errorf("the test itself is in the group:\n%s", left)
	}
}
