package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agent/llm/llmtest"
)

// TestImage does the main job in the image of deploy/Dockerfile, confined as deploy/compose.yaml says: an issue, a
// kill -9 of the container in the middle of a command, another container on the same files. deploy/test-image builds
// the image and names it in AGENT_IMAGE, and the tool in IMAGE_TOOL.
func TestImage(t *testing.T) {
	image, tool := os.Getenv("AGENT_IMAGE"), os.Getenv("IMAGE_TOOL")
	if image == "" {
		t.Skip("deploy/test-image runs it")
	}
	w := newWorld(t, llmtest.Turns(write("hello.txt", "hello\n"), command("sh", "-c", "echo $$ in /proc: $(ls /proc | grep -c '^[0-9]'); sleep 60"), llmtest.Done("I wrote hello.txt.")))
	seccomp, err := filepath.Abs("../../deploy/seccomp.json")
	must(t, err)
	user := fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	args := []string{"run", "--rm", "--network", "host", "--read-only", "--cap-drop", "ALL", "--tmpfs", "/tmp:exec,mode=1777",
		"--security-opt", "no-new-privileges", "--security-opt", "seccomp=" + seccomp, "--user", user,
		"--volume", w.dir + ":" + w.dir, "--env", "HOME=" + w.dir}
	if strings.Contains(filepath.Base(tool), "podman") {
		args = append(args, "--security-opt", "unmask=ALL", "--userns", "keep-id")
	} else {
		args = append(args, "--security-opt", "systempaths=unconfined", "--security-opt", "apparmor=unconfined")
	}
	config := w.configure()
	container := func(name string) *exec.Cmd {
		all := append(append([]string{}, args...), "--name", name, image, "loop", "--interval", "1", "--config", config)
		cmd := exec.Command(tool, all...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		must(t, cmd.Start())
		t.Cleanup(func() { _ = exec.Command(tool, "rm", "--force", name).Run() })
		return cmd
	}
	first := container("agent-test-1")
	w.until("the command runs", func() bool { return strings.Contains(strings.Join(logsBelow(w), ""), `"tool":"run_command"`) })
	if out, err := exec.Command(tool, "exec", "agent-test-1", "agent", "status", "--check", "--config", config).CombinedOutput(); err != nil {
		t.Errorf("the health check: %v %s", err, out)
	}
	must(t, exec.Command(tool, "kill", "--signal", "KILL", "agent-test-1").Run())
	_ = first.Wait() // it was killed
	second := container("agent-test-2")
	w.until("the task is done", func() bool { return len(logsBelow(w)) == 1 && w.only().State == "completed" })
	must(t, exec.Command(tool, "stop", "agent-test-2").Run())
	if err := second.Wait(); err != nil {
		t.Errorf("the loop does not end with 0 when its container is stopped: %v", err)
	}
	w.wantDone(1, w.only())
	w.noSecrets()
}

// logsBelow gives the logs of all contexts.
func logsBelow(w *world) (all []string) {
	files, _ := filepath.Glob(w.path("contexts", "*", "*", "events.jsonl"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		all = append(all, string(text))
	}
	return all
}
