//go:build servers

// Package servers holds tests with MCP servers that are not ours. They need
// Node and what `make test-servers` installs at the versions of package-lock.json
// into the directory that SERVERS names; `make test` leaves them out.
package servers

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"agent/mcp"
)

// installed is the path of a file below node_modules.
func installed(t *testing.T, file string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(os.Getenv("SERVERS"), "node_modules", file))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("run make test-servers: %v", err)
	}
	return path
}

// start makes a session with one server.
func start(t *testing.T, config mcp.ServerConfig) *mcp.Session {
	t.Helper()
	return startIn(t, t.TempDir(), config)
}

// startIn makes one with a workspace.
func startIn(t *testing.T, workspace string, config mcp.ServerConfig) *mcp.Session {
	t.Helper()
	pool := mcp.NewPool([]mcp.ServerConfig{config}, mcp.Options{Stderr: func(server, line string) { t.Logf("%s: %s", server, line) }})
	session := pool.Session(workspace)
	t.Cleanup(func() {
		_ = session.Close()
		_ = pool.Close()
	})
	return session
}

// call calls a tool, which must not fail, and returns its text.
func call(t *testing.T, s *mcp.Session, server, tool string, args map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Call(context.Background(), server, tool, raw)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if result.IsError {
		t.Fatalf("%s: the tool failed: %s", tool, result.Text)
	}
	return result.Text
}
