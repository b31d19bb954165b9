package workspace_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"agent/mcp"
)

// TestFreezeAfterTheFirstCall: a server that nobody has called does nothing, and is left alone. After a call it is stopped.
func TestFreezeAfterTheFirstCall(t *testing.T) {
	dir := t.TempDir()
	pool := mcp.NewPool([]mcp.ServerConfig{{Name: "workspace", Command: []string{"agent", "mcp", "workspace", "--root", "{workspace}"}}}, mcp.Options{})
	t.Cleanup(func() { _ = pool.Close() })
	session := pool.Session(dir)
	if started := session.Start(t.Context()); started[0].Err != "" {
		t.Fatal(started[0].Err)
	}
	answers := func(within time.Duration) bool {
		t.Helper()
		thaw, err := pool.Freeze(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer thaw()
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		_, err = session.Call(ctx, "workspace", "list_files", json.RawMessage("{}"))
		return err == nil
	}
	if !answers(time.Minute) {
		t.Error("it is stopped before anybody called it")
	}
	if answers(300 * time.Millisecond) {
		t.Error("it answers while a copy is read")
	}
}
