package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/llm"
	"agent/llm/llmtest"
	"agent/projections"
)

// TestTerminate ends the agent with SIGTERM in the middle of a call. The task
// stays as it is, and the next run finishes it.
func TestTerminate(t *testing.T) {
	t.Parallel()
	sleeping := llmtest.Turns(command("sleep", "3600"), write("hello.txt", "hello\n"), llmtest.Text("I wrote hello.txt."))
	for _, c := range exhaustive.Sample([]struct {
		name   string
		script llmtest.Script
		ready  func(w *world)
	}{
		{"model call", hanging(1, greet()), func(w *world) { w.awaitCalls(2) }},
		{"tool call", sleeping, func(w *world) { w.until("the command runs", func() bool { return len(w.processes("sleep")) == 1 }) }},
	}, 2) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.script)
			p := w.start("run")
			c.ready(w)
			p.signal(syscall.SIGTERM)
			if code := p.wait(); code != 0 {
				t.Errorf("exit %d\n%s", code, &p.err)
			}
			l := w.only()
			w.wantLabels(1, processingLabel)
			if _, err := os.Stat(w.path("contexts", "running", l.UUID)); l.State != "interrupted" || err != nil {
				t.Errorf("%s: %v", l.State, err)
			}
			w.until("every process of the agent has ended", func() bool { return len(w.processes("")) == 0 })
			w.wantExact(l.UUID)
			w.agent(0, "run")
			w.wantDone(1, w.only())
			for _, r := range find[*event.ProcessRecovered](w.events(l.UUID)) {
				t.Errorf("an orderly end was taken for a crash: %+v", r)
			}
		})
	}
}

// TestOutputUntilTheEnd: a command that runs when the agent is told to end has written
// something. That is in the log, with how the command ended, and the model reads it in the
// next run. systemd and other managers of services send the signal to every process.
func TestOutputUntilTheEnd(t *testing.T) {
	t.Parallel()
	line := llmtest.ToolCall("workspace__run_command", map[string]any{"command": "echo first words; printf 'half a line'; sleep 3600"})
	for _, everybody := range exhaustive.Sample([]bool{true, false}, 2) {
		t.Run(fmt.Sprintf("everybody=%v", everybody), func(t *testing.T) {
			t.Parallel()
			var asked []llm.Message
			w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
				asked = r.Messages
				return llmtest.Turns(line, llmtest.Done("I ran it."))(n, r)
			})
			p := w.start("run")
			w.until("the command runs", func() bool { return len(w.processes("sleep")) == 1 })
			pids := []processOf{{pid: p.cmd.Process.Pid}}
			if everybody {
				pids = w.running()
			}
			for _, other := range pids {
				_ = syscall.Kill(other.pid, syscall.SIGTERM)
			}
			if code := p.wait(); code != 0 {
				t.Errorf("exit %d\n%s", code, &p.err)
			}
			uuid := w.only().UUID
			replies := find[*event.ToolReplied](w.events(uuid))
			if len(replies) != 1 || !strings.Contains(replies[0].Content.Inline, "first words\nhalf a line") || projections.Succeeded(replies[0]) {
				t.Fatalf("the outcome of the command: %+v\n%+v", replies, find[*event.ToolInterrupted](w.events(uuid)))
			}
			w.agent(0, "run")
			w.wantDone(1, w.only())
			// Where everybody gets the signal the command may end by it first.
			if last := asked[len(asked)-1]; !strings.HasPrefix(last.Content, "error: exit code: killed") && !strings.HasPrefix(last.Content, "exit code: 143") || !strings.Contains(last.Content, "first words") {
				t.Errorf("the model was asked with %+v", last)
			}
			w.wantExact(uuid)
		})
	}
}

// TestTerminateTwice sends SIGTERM to an agent that is already ending, and
// waits for a tool server that takes its time. That ends it at once.
func TestTerminateTwice(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	w := newWorld(t, hanging(1, llmtest.Turns(llmtest.ToolCall("huge__huge", nil))))
	w.withHugeServer()
	p := w.start("run")
	w.awaitCalls(2)
	uuid := w.only().UUID
	p.signal(syscall.SIGTERM)
	w.until("the agent is ending", func() bool { return len(find[*event.ProcessEnded](w.events(uuid))) == 1 })
	p.signal(syscall.SIGTERM)
	p.wait()
	if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended by %v, want SIGTERM\n%s", p.cmd.ProcessState, &p.err)
	}
	w.until("every process of the agent has ended", func() bool { return len(w.processes("")) == 0 })
}
