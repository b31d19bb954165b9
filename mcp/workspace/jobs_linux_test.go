package workspace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"agent/mcp"
)

// ask calls a tool in a house.
func (h *house) ask(tool string, args map[string]any) (string, bool) {
	h.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		h.Fatal(err)
	}
	result, err := h.session.Call(h.Context(), "workspace", tool, raw)
	if err != nil {
		h.Fatal(tool, err)
	}
	return result.Text, result.IsError
}

// until asks for the output of a command until it has a word.
func (h *house) until(id int, word string) string {
	h.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		got, _ := h.ask("command_output", map[string]any{"id": id})
		if strings.Contains(got, word) {
			return got
		}
		if time.Now().After(deadline) {
			h.Fatalf("no %q in %s", word, got)
		}
	}
}

// gone waits until no process has a word.
func gone(t *testing.T, word string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); running(t, word) != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s runs", word)
		}
	}
}

// TestBackground: a command goes on while others run and end, is read, and is stopped
// with all that it has started; so is one at the end of the session.
func TestBackground(t *testing.T) {
	for mode, change := range sandboxModes() {
		h := build(t, change)
		word := fmt.Sprintf("job-%d-%s", os.Getpid(), mode)
		got, failed := h.ask("run_command", map[string]any{"command": "echo begun; sh -c 'while :; do sleep 0.01; done' " + word + " & wait; echo over", "background": true})
		if failed || !strings.HasPrefix(got, "[command 1 runs since 0 s: echo begun;") {
			t.Fatal(mode, got)
		}
		h.until(1, "1\tbegun")
		for range 3 {
			if got, failed := h.ask("run_command", map[string]any{"command": "sleep 60 & echo " + word + " done"}); failed || !strings.Contains(got, "processes that the command left running were killed]\n"+word+" done") {
				t.Error(mode, got)
			}
		}
		if got, failed := h.ask("git_status", nil); !failed || len(running(t, word)) == 0 {
			t.Errorf("%s: it does not outlive other commands: %s", mode, got)
		}
		if got, failed := h.ask("stop_command", map[string]any{"id": 1}); failed || !strings.Contains(got, "with exit code killed") || !strings.Contains(got, "it was stopped") {
			t.Error(mode, got)
		}
		gone(t, word)
		h.ask("run_command", map[string]any{"command": "echo short; exit 3", "background": true})
		h.until(5, "with exit code 3")
		h.ask("run_command", map[string]any{"command": "setsid sh -c 'while :; do sleep 0.01; done' " + word + "2 & while :; do sleep 1; done", "background": true})
		if err := h.session.Close(); err != nil {
			t.Fatal(err)
		}
		gone(t, word)
	}
}

// TestBackgroundIsFrozen: the host reads a working copy while no job changes it.
func TestBackgroundIsFrozen(t *testing.T) {
	h := build(t, func(c *mcp.ServerConfig) { c.Sandbox = "required" })
	word := fmt.Sprintf("frost-%d", os.Getpid())
	h.ask("run_command", map[string]any{"command": "while :; do echo x >> " + word + "; done", "background": true})
	thaw, err := h.pool.Freeze(t.Context(), h.work)
	if err != nil {
		t.Fatal(err)
	}
	if pids := append(moving(t, word), moving(t, word)...); pids != nil {
		t.Errorf("%v run", pids)
	}
	thaw()
	h.until(1, "runs since")
}

// TestJobsOfAttackers: a job is in the same box as any command, can neither keep
// processes by killing its supervisor nor start more of them than may be.
func TestJobsOfAttackers(t *testing.T) {
	h := build(t, func(c *mcp.ServerConfig) { c.Sandbox = "required" })
	word := fmt.Sprintf("rogue-%d", os.Getpid())
	secret := h.dir + "/home/.netrc"
	h.ask("run_command", map[string]any{"command": "cat " + secret + "; echo tried", "background": true})
	if got := h.until(1, "ended after"); strings.Contains(got, "\thome/.netrc") || !strings.Contains(got, "No such file") && !strings.Contains(got, "denied") {
		t.Error(got)
	}
	h.ask("run_command", map[string]any{"command": "(setsid sh -c 'trap \"\" TERM; while :; do sleep 0.01; done' " + word + " &); sleep 0.1; kill -KILL $PPID", "background": true})
	h.until(2, "ended after")
	gone(t, word)
	for range 12 {
		h.ask("run_command", map[string]any{"command": "sleep 600", "background": true})
	}
	if got, failed := h.ask("run_command", map[string]any{"command": "sleep 600", "background": true}); !failed || !strings.Contains(got, "8 commands run in the background already") {
		t.Error(got)
	}
	h.works("echo still here")
}

// TestLongCommandOutlivesTheTimeout: the client's timeout is that of silence, and the
// tool reports while its command runs.
func TestLongCommandOutlivesTheTimeout(t *testing.T) {
	h := build(t, func(c *mcp.ServerConfig) {
		c.Timeout, c.Env = time.Second, map[string]string{"TEST_PROGRESS_EVERY": "100ms"}
	})
	if got, failed := h.ask("run_command", map[string]any{"command": "echo begun; sleep 2; echo done"}); failed || !strings.HasSuffix(got, "begun\ndone\n") {
		t.Error(got)
	}
}

// TestOutputOfACancelledCall: whoever waits no longer gets what there is until then.
func TestOutputOfACancelledCall(t *testing.T) {
	b := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for {
			if _, err := os.Stat(b.dir + "/ready"); err == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	got, err := b.session.Call(ctx, "workspace", "run_command", json.RawMessage(`{"command": "echo begun; printf half; touch ready; sleep 3599"}`))
	if err != nil || !got.IsError || !strings.HasPrefix(got.Text, "exit code: killed\n[") || !strings.HasSuffix(got.Text, "begun\nhalf") {
		t.Errorf("%+v %v", got, err)
	}
	gone(t, "3599")
	b.wantRun(args{"command": "echo next"}, "exit code: 0\n[]\nnext\n")
}
