package workspace_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"agent/internal/exhaustive"
	"agent/internal/sandbox"
	"agent/mcp"
)

// TestLimits: what takes too much ends as an error of the tool, and the server goes on.
func TestLimits(t *testing.T) {
	if !sandbox.Available().Namespaces {
		t.Skip("processes are counted by namespace only")
	}
	h := build(t, func(c *mcp.ServerConfig) { c.Sandbox = "required" })
	greedy := map[string][2]string{
		"file":       {`exec truncate -s 10G big`, "larger than the limit of 4 GiB"},
		"shell file": {`truncate -s 10G big`, "larger than the limit of 4 GiB"},
		"killed":     {`kill -KILL $$`, "memory runs out"},
		"many":       {`for i in $(seq 1500); do sleep 60 & done; wait`, ""},
		"bomb":       {`b() { b | b & b | b; }; b`, ""},
	}
	if _, err := exec.LookPath("python3"); err == nil && exhaustive.On() { // it takes most of the memory
		greedy["memory"] = [2]string{`exec python3 -c 'x = [bytearray(64 << 20) for _ in range(1 << 20)]'`, ""}
	}
	if !exhaustive.On() {
		delete(greedy, "bomb")
		delete(greedy, "many") // 1024 processes are slow on a busy machine
	}
	for name, c := range greedy {
		raw, _ := json.Marshal(map[string]any{"argv": []string{"sh", "-c", c[0]}, "timeout_seconds": 60})
		result, err := h.session.Call(t.Context(), "workspace", "run_command", raw)
		if err != nil {
			t.Fatal(name, err)
		}
		if !result.IsError || !strings.Contains(result.Text, c[1]) {
			t.Errorf("%s: %+v", name, result)
		}
		t.Logf("%s: %.200s", name, result.Text)
		h.works("echo still here")
	}
}
