package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"agent/internal/cli"
)

// Each tool server and each background command has a supervisor. It must not wait for what
// only other commands need, nor must who asks for the version: the order in which Go initializes
// packages is a matter of their paths, and a new import can undo it.
func TestSupervisorsStartFast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"mcp", "supervise"}, 127, "supervise: no command"},
		{[]string{"version"}, 0, "agent " + cli.Version() + " ("},
	} {
		cmd := exec.Command(os.Args[0], c.args...)
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, _ := cmd.CombinedOutput() // the first one fails: there is no command
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.says) {
			t.Fatalf("%q: exit code %d, %s", c.args, code, out)
		}
		if !strings.Contains(string(out), "init runtime ") {
			t.Fatalf("no trace: %s", out)
		}
		for _, heavy := range []string{"github.com/santhosh-tekuri/jsonschema", "github.com/yuin/goldmark/extension", "gitlab.com/gitlab-org/api"} {
			if strings.Contains(string(out), "init "+heavy) {
				t.Errorf("%q initializes %s", c.args, heavy)
			}
		}
	}
}
