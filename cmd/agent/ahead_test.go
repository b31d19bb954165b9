package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServersStartOnce: the server that the machine was checked with is the one that the task is worked on with,
// and it has the files, the caches, and what its sandbox lets it change.
func TestServersStartOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	starts, program := w.path("starts"), w.path("program")
	must(t, os.Mkdir(starts, 0o700))
	must(t, os.WriteFile(program, fmt.Appendf(nil, "#!/bin/sh\nmktemp -p %s\nexec %s \"$@\"\n", starts, agentPath(t)), 0o700))
	w.extra = fmt.Sprintf(`mcp_servers: [{mcp_server_name: workspace, command: [%q, mcp, workspace, --root, "{workspace}"], sandbox_write: [%q], sandbox_read: [%q]}]`,
		program, starts, filepath.Dir(agentPath(t)))
	w.agent(0, "run")
	w.wantDone(1, w.only())
	started, err := os.ReadDir(starts)
	if err != nil || len(started) != 1 {
		t.Errorf("it was started %d times, %v", len(started), err)
	}
	w.wantNothingLeft()
}

// wantNothingLeft wants no working copy, and no caches of a context.
func (w *world) wantNothingLeft() {
	w.t.Helper()
	for _, pattern := range []string{"workspaces/*", "caches/*/own/*"} {
		if left, err := filepath.Glob(w.path(pattern)); err != nil || len(left) > 0 {
			w.t.Errorf("left: %s, %v", strings.Join(left, ", "), err)
		}
	}
}
