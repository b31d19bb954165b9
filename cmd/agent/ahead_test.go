package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"agent/forge/forgetest"
	"agent/llm/llmtest"
)

// TestServersStartOnce: the server that the machine was checked with is the one that the task is worked on with,
// unless the clone that was made meanwhile is not taken. Its caches know the sums of the repository in the end.
func TestServersStartOnce(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"taken": 1, "not cloned": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, noted := greet(), make(chan struct{})
			end := sync.OnceFunc(func() { close(noted) })
			defer end()
			w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply { <-noted; return script(n, r) })
			w.commit(map[string]string{"go.sum": "example.com/a v1.0.0 h1:AAAA=\n"})
			starts, program := w.path("starts"), w.path("program")
			must(t, errors.Join(os.Mkdir(starts, 0o700), os.Mkdir(w.path("workspaces"), 0o700),
				os.WriteFile(program, fmt.Appendf(nil, "#!/bin/sh\nmktemp -p %s\nexec %s \"$@\"\n", starts, agentPath(t)), 0o700)))
			w.extra = fmt.Sprintf(`mcp_servers: [{mcp_server_name: workspace, command: [%q, mcp, workspace, --root, "{workspace}"], sandbox: auto, sandbox_write: [%q], sandbox_read: [%q]}]`,
				program, starts, filepath.Dir(agentPath(t)))
			if want > 1 {
				w.forge.Fault(forgetest.Fault{Path: ".*/info/refs", Kind: forgetest.Drop, Nth: 1, Times: 1})
			}
			p := w.start("run")
			w.awaitCalls(1)
			w.until("the sums are noted", func() bool {
				found, _ := filepath.Glob(w.path("caches/*/own/0.context"))
				if len(found) == 0 {
					return false
				}
				text, err := os.ReadFile(found[0])
				return err == nil && strings.Contains(string(text), "h1:AAAA=")
			})
			end()
			if code := p.wait(); code != 0 {
				t.Fatalf("exit %d\n%s%s", code, &p.out, &p.err)
			}
			w.wantDone(1, w.only())
			started, err := os.ReadDir(starts)
			if err != nil || len(started) != want {
				t.Errorf("it was started %d times, %v", len(started), err)
			}
			w.wantNothingLeft()
		})
	}
}

// TestCachesAreSlow: copying caches may take minutes. An item that nobody could see at work would be labelled again.
func TestCachesAreSlow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Done("I wrote hello.txt."), write("hello.txt", "hello\n"), llmtest.Done("I wrote hello.txt.")))
	w.agent(0, "run")
	locks, err := filepath.Glob(w.path("caches/.locks/*"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("locks: %v, %v", locks, err)
	}
	lock, err := os.Open(locks[0])
	must(t, err)
	defer lock.Close()
	must(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	n := w.issue("Greet the moon")
	p := w.start("run")
	w.until("the item is labelled", func() bool { return slices.Contains(w.forge.Labels(testRepo, n), processingLabel) })
	must(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_UN))
	if code := p.wait(); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, &p.out, &p.err)
	}
	w.wantLabels(n, doneLabel)
	w.wantNothingLeft()
}

// TestKilledAhead: a process is killed before the context that it has cloned for and started a server for is there. The
// next one removes what it left.
func TestKilledAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	must(t, os.Mkdir(w.path("workspaces"), 0o700))
	silent := make(chan struct{})
	end := sync.OnceFunc(func() { close(silent) })
	defer end()
	w.onModels(func(http.ResponseWriter) bool { <-silent; return false })
	p := w.start("run")
	w.until("the caches are open, and the repository is cloned", func() bool {
		for _, pattern := range []string{"caches/*/own/0/*", "workspaces/*/context", "workspaces/agent-clone-*/clone"} {
			if found, _ := filepath.Glob(w.path(pattern)); len(found) == 0 {
				return false
			}
		}
		return true
	})
	p.signal(syscall.SIGKILL)
	p.wait()
	end()
	w.wantUntouched(1)
	w.agent(0, "run")
	w.wantDone(1, w.only())
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
