package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agent/mcp"
)

// TestSharedServersAreFrozen: a server that all workspaces share was left running
// while the host read a copy. It stays stopped until the last reader is done.
func TestSharedServersAreFrozen(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "grows")
	pool := mcp.NewPool([]mcp.ServerConfig{fake("shared", "normal")}, mcp.Options{})
	t.Cleanup(func() { _ = pool.Close() })
	raw, _ := json.Marshal(map[string]any{"argv": []string{"sh", "-c", `(setsid sh -c 'while :; do echo >>"$1"; done' sh "$1" >/dev/null 2>&1 &)`, "sh", file}})
	if _, err := pool.Session(dir).Call(t.Context(), "shared", "run", raw); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(file)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	grows := func() bool {
		t.Helper()
		for before, end := size(), time.Now().Add(10*time.Second); time.Now().Before(end); {
			if size() > before {
				return true
			}
		}
		return false
	}
	if !grows() {
		t.Fatal("nothing writes, so this shows nothing")
	}
	first, err := pool.Freeze(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := pool.Freeze(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	first()
	before := size()
	for range 1000 {
		if size() != before {
			t.Fatal("it writes while a copy is read")
		}
	}
	second()
	if !grows() {
		t.Error("it stays stopped")
	}
}

// TestSandboxedServersAreLeftAlone: a shared server that cannot reach the copy goes on.
func TestSandboxedServersAreLeftAlone(t *testing.T) {
	config := boxed("shared", "normal")
	if _, lack, _ := config.CheckSandbox(); lack != nil {
		t.Skip(lack)
	}
	config.Sandbox = "required"
	session, _ := start(t, config)
	raw, _ := json.Marshal(map[string]any{"argv": []string{"touch", filepath.Join(t.TempDir(), "x")}})
	result, err := session.Call(t.Context(), "shared", "run", raw)
	if err != nil || result.Text == "<nil>" {
		t.Errorf("it writes into a directory that is not its own: %v %v", result, err)
	}
}
