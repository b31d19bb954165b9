package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Each tool server and each background command has a supervisor. It must not wait for what
// only other commands need: the order in which Go initializes packages is a matter of their
// paths, and a new import can undo it.
func TestSupervisorsStartFast(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "mcp", "supervise")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, _ := cmd.CombinedOutput() // it fails: there is no command
	if code := cmd.ProcessState.ExitCode(); code != 127 || !strings.Contains(string(out), "supervise: no command") {
		t.Fatalf("exit code %d, %s", code, out)
	}
	if !strings.Contains(string(out), "init agent/internal/sandbox ") {
		t.Fatalf("no trace: %s", out)
	}
	for _, heavy := range []string{"github.com/santhosh-tekuri/jsonschema", "github.com/yuin/goldmark/extension", "gitlab.com/gitlab-org/api"} {
		if strings.Contains(string(out), "init "+heavy) {
			t.Errorf("a supervisor initializes %s", heavy)
		}
	}
}
