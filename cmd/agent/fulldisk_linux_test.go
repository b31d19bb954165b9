package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"agent/contexts"
)

// TestFullDisk gives the program an output that takes nothing.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(0, "run")
	uuid := w.only().UUID
	for _, args := range [][]string{
		{"list"}, {"list", "--json"}, {"status"}, {"stats"}, {"inspect", uuid}, {"inspect", "--json", uuid}, {"why", uuid}, {"replay", uuid}, {"verify"},
		{"gc", "--dry-run"}, {"export", uuid, "--format", "markdown"}, {"search", "greet"}, {"config", "schema"}, {"version"}, {"--help"},
		{"completion", "bash"}, {"run"},
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		must(t, err)
		var errOut bytes.Buffer
		cmd := exec.Command(agentPath(t), append(args, "--config", w.configure())...)
		cmd.Stdout, cmd.Stderr = full, &errOut
		err = cmd.Run()
		must(t, full.Close())
		if cmd.ProcessState.ExitCode() != contexts.ExitIO || strings.Count(errOut.String(), "agent: not all of the output could be written: ") != 1 {
			t.Errorf("agent %v > /dev/full: %v\n%s", args, err, &errOut)
		}
	}
}
