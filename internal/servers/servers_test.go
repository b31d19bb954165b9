//go:build servers

package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agent/internal/freeport"
	"agent/mcp"
)

// node is a server in the sandbox that it gets in a real configuration.
func node(t *testing.T, name, file string, args ...string) mcp.ServerConfig {
	t.Helper()
	return mcp.ServerConfig{Name: name, Command: append([]string{"node", installed(t, file)}, args...), Sandbox: "auto", Timeout: time.Minute}
}

// offers checks the tools of the only server of a session.
func offers(t *testing.T, s *mcp.Session, want ...string) []mcp.Tool {
	t.Helper()
	server := s.List(context.Background())[0]
	if server.Err != "" {
		t.Fatal(server.Err)
	}
	for _, name := range want {
		i := slices.IndexFunc(server.Tools, func(tool mcp.Tool) bool { return tool.Name == name })
		if i < 0 {
			t.Fatalf("no tool %s", name)
		}
		if !json.Valid(server.Tools[i].Schema) || server.Tools[i].Description == "" {
			t.Errorf("%s: %+v", name, server.Tools[i])
		}
	}
	return server.Tools
}

func contains(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("no %q in %.500q", w, got)
		}
	}
}

func TestFilesystem(t *testing.T) {
	outer := t.TempDir()
	work := filepath.Join(outer, "work")
	if err := errors.Join(os.Mkdir(work, 0o700), os.WriteFile(filepath.Join(outer, "secret"), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s := startIn(t, work, node(t, "files", "@modelcontextprotocol/server-filesystem/dist/index.js", "{workspace}"))
	tools := offers(t, s, "read_text_file", "write_file", "edit_file", "list_directory", "read_media_file")
	for _, tool := range tools {
		if tool.Name == "read_text_file" && !tool.ReadOnly || tool.Name == "write_file" && (tool.ReadOnly || !tool.Destructive) {
			t.Errorf("hints: %+v", tool)
		}
	}
	path := filepath.Join(work, "a.txt")
	call(t, s, "files", "write_file", map[string]any{"path": path, "content": "one\ntwo\n"})
	call(t, s, "files", "edit_file", map[string]any{"path": path, "edits": []any{map[string]any{"oldText": "two", "newText": "three"}}})
	if got, _ := os.ReadFile(path); string(got) != "one\nthree\n" {
		t.Errorf("on disk: %q", got)
	}
	contains(t, call(t, s, "files", "read_text_file", map[string]any{"path": path}), "one\nthree")
	contains(t, call(t, s, "files", "list_directory", map[string]any{"path": work}), "a.txt")
	t.Run("outside", func(t *testing.T) {
		args, _ := json.Marshal(map[string]any{"path": filepath.Join(outer, "secret")})
		if got, err := s.Call(t.Context(), "files", "read_text_file", args); err == nil && !got.IsError {
			t.Errorf("got %q", got.Text)
		}
	})
	t.Run("huge", func(t *testing.T) {
		for name, size := range map[string]int{"cut": 6 << 20, "dropped": 40 << 20} {
			path := filepath.Join(work, name)
			if err := os.WriteFile(path, []byte(strings.Repeat("0123456789abcde\n", size/16)), 0o600); err != nil {
				t.Fatal(err)
			}
			args, _ := json.Marshal(map[string]any{"path": path})
			got, err := s.Call(t.Context(), "files", "read_text_file", args)
			if err != nil || len(got.Text) > 9<<20 || len(got.Text) == 0 {
				t.Fatalf("%s: %d bytes, %v", name, len(got.Text), err)
			}
			if name == "dropped" {
				contains(t, got.Text, "was dropped")
			}
		}
		call(t, s, "files", "list_directory", map[string]any{"path": work}) // it goes on
	})
	t.Run("image", func(t *testing.T) {
		png := filepath.Join(work, "x.png")
		if err := os.WriteFile(png, []byte(strings.Repeat("p", 3<<10)), 0o600); err != nil {
			t.Fatal(err)
		}
		contains(t, call(t, s, "files", "read_media_file", map[string]any{"path": png}), "[image image/png 3 KiB]")
	})
}

func everything(t *testing.T, args ...string) mcp.ServerConfig {
	t.Helper()
	return node(t, "everything", "@modelcontextprotocol/server-everything/dist/index.js", args...)
}

func TestEverythingOverStdio(t *testing.T) { testEverything(t, start(t, everything(t, "stdio"))) }

func TestEverythingOverHTTP(t *testing.T) {
	port, stop := serveEverything(t, "0")
	url := "http://127.0.0.1:" + port + "/mcp"
	s := start(t, mcp.ServerConfig{Name: "everything", URL: url, Timeout: time.Minute})
	testEverything(t, s)
	stop()
	_, err := s.Call(t.Context(), "everything", "echo", json.RawMessage(`{"message":"x"}`))
	if failed, ok := errors.AsType[*mcp.Error](err); !ok || failed.Kind == mcp.UnknownTool {
		t.Errorf("a dead server: %v", err)
	}
	_, stop = serveEverything(t, port) // it has forgotten the session, which is opened anew
	defer stop()
	contains(t, call(t, s, "everything", "echo", map[string]any{"message": "again"}), "again")
}

// serveEverything starts the server on a port ("0" finds one) and waits until it listens.
func serveEverything(t *testing.T, port string) (at string, stop func()) {
	t.Helper()
	if port == "0" {
		ports, err := freeport.Find(1)
		if err != nil {
			t.Fatal(err)
		}
		port = strconv.Itoa(ports[0])
	}
	cmd := exec.Command("node", installed(t, "@modelcontextprotocol/server-everything/dist/index.js"), "streamableHttp")
	cmd.Env = append(os.Environ(), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(stop)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if r, err := http.Get("http://127.0.0.1:" + port + "/mcp"); err == nil {
			_ = r.Body.Close()
			return port, stop
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not listen")
		}
	}
}

// testEverything goes through the parts of the protocol that the server shows.
func testEverything(t *testing.T, s *mcp.Session) {
	const name = "everything"
	tools := offers(t, s, "echo", "get-sum", "get-tiny-image", "get-structured-content", "trigger-long-running-operation", "get-resource-links", "get-annotated-message")
	contains(t, call(t, s, name, "echo", map[string]any{"message": "héllo 世界"}), "héllo 世界")
	contains(t, call(t, s, name, "get-sum", map[string]any{"a": 2, "b": 40}), "42")
	contains(t, call(t, s, name, "get-tiny-image", nil), "[image image/png ")
	contains(t, call(t, s, name, "get-structured-content", map[string]any{"location": "Chicago"}), `"temperature"`, `"conditions"`)
	contains(t, call(t, s, name, "get-resource-links", map[string]any{"count": 2}), "demo://")
	contains(t, call(t, s, name, "get-annotated-message", map[string]any{"messageType": "error", "includeImage": true}), "Error", "[image image/png ")
	contains(t, call(t, s, name, "trigger-long-running-operation", map[string]any{"duration": 0.2, "steps": 4}), "completed") // with progress
	for _, tool := range tools {
		if strings.Contains(tool.Name, "sampling") || strings.Contains(tool.Name, "elicitation") || strings.Contains(tool.Name, "roots") {
			t.Errorf("%s is offered, but we offer nothing of the kind", tool.Name)
		}
	}
	again := s.List(t.Context())[0] // it has announced changes of its list at its start
	if len(again.Tools) != len(tools) {
		t.Errorf("%d tools, then %d", len(tools), len(again.Tools))
	}
	t.Run("bad arguments", func(t *testing.T) {
		got, err := s.Call(t.Context(), name, "get-sum", json.RawMessage(`{"a":"x"}`))
		failed, ok := errors.AsType[*mcp.Error](err)
		if err == nil && !got.IsError || err != nil && (!ok || failed.Kind != mcp.Refused) {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := s.Call(ctx, name, "trigger-long-running-operation", json.RawMessage(`{"duration":60,"steps":600}`))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		contains(t, call(t, s, name, "echo", map[string]any{"message": "alive"}), "alive")
	})
	t.Run("many at once", func(t *testing.T) {
		for i := range 20 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				contains(t, call(t, s, name, "echo", map[string]any{"message": fmt.Sprintf("<%d>", i)}), fmt.Sprintf("<%d>", i))
			})
		}
	})
}

func TestMemory(t *testing.T) {
	work := t.TempDir()
	config := node(t, "memory", "@modelcontextprotocol/server-memory/dist/index.js")
	config.Env = map[string]string{"MEMORY_FILE_PATH": "{workspace}/memory.jsonl"}
	s := startIn(t, work, config)
	offers(t, s, "create_entities", "read_graph")
	call(t, s, "memory", "create_entities", map[string]any{"entities": []any{
		map[string]any{"name": "Ann", "entityType": "person", "observations": []string{"likes tests"}},
	}})
	contains(t, call(t, s, "memory", "read_graph", nil), "Ann", "likes tests")
	if _, err := os.Stat(filepath.Join(work, "memory.jsonl")); err != nil {
		t.Error(err)
	}
}

func TestGit(t *testing.T) {
	work := t.TempDir()
	config := node(t, "git", "@cyanheads/git-mcp-server/dist/index.js", "{workspace}")
	config.Env = map[string]string{"MCP_LOG_LEVEL": "error"}
	s := startIn(t, work, config)
	offers(t, s, "git_init", "git_add", "git_commit", "git_status", "git_log", "git_diff")
	git := func(tool string, args map[string]any) string {
		t.Helper()
		if args == nil {
			args = map[string]any{}
		}
		args["path"] = work
		return call(t, s, "git", tool, args)
	}
	git("git_init", nil)
	for _, kv := range [][2]string{{"user.name", "n"}, {"user.email", "e@example.com"}} {
		if out, err := exec.Command("git", "-C", work, "config", kv[0], kv[1]).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(work, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, git("git_status", nil), "a.txt")
	git("git_add", map[string]any{"all": true})
	git("git_commit", map[string]any{"message": "First words"})
	contains(t, git("git_log", nil), "First words")
	out, err := exec.Command("git", "-C", work, "log", "--format=%s").Output()
	if err != nil || string(out) != "First words\n" {
		t.Errorf("the repository: %q %v", out, err)
	}
}
