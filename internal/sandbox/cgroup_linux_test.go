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
	release := BoundProcesses(cmd.Process.Pid, 20)
	group, _ := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/cgroup")
	if !strings.Contains(string(group), "/agent-") {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Skipf("control groups of processes cannot be made here:\n%s", group)
	}
	_, _ = in.Write([]byte("go\n"))
	err = cmd.Wait() // the shell gives up at the first fork that is refused
	for _, dir := range pidGroups {
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
