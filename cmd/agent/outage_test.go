package main

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent/llm/llmtest"
)

// TestOutage: a model server that asks for time is waited for. The operator learns
// it from the exit code and from status; the task has one comment.
func TestOutage(t *testing.T) {
	t.Parallel()
	var up atomic.Bool
	script := greet()
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if up.Load() {
			return script(n, r)
		}
		return llmtest.RateLimit(10 * time.Minute)
	})
	w.agent(75, "run")
	w.agent(0, "run") // it is not time yet
	w.wantLabels(1, pausedLabel)
	w.wantComment(1, "⏸️ **Paused**")
	if got := w.asked(); got != 1 {
		t.Errorf("the model was asked %d times, want 1", got)
	}
	out, _ := w.agent(1, "status", "--check")
	if !strings.Contains(out, "tasks that wait for the model server: 1") {
		t.Errorf("status --check says:\n%s", out)
	}
	w.agent(0, "resume", w.only().UUID)
	w.agent(75, "run") // a person tries, too early
	if all := w.bodies(1); len(all) != 1 || !strings.Contains(all[0], "⏸️ **Paused**") {
		t.Errorf("comments: %q, want the same one", all)
	}
	up.Store(true)
	w.agent(0, "resume", w.only().UUID)
	w.agent(0, "run")
	w.wantLabels(1, doneLabel)
	if all := w.bodies(1); len(all) != 2 || !strings.Contains(all[0], "▶️ **Resumed.**") || !strings.Contains(all[1], "✅ **Done**") {
		t.Errorf("comments: %q, want one on the outage and one on the end", all)
	}
	w.wantExact(w.only().UUID)
}

// TestServerCannotReadCall: a call that the server could not read is corrected, as
// are two calls with the same id made.
func TestServerCannotReadCall(t *testing.T) {
	t.Parallel()
	two := write("a.txt", "a\n")
	two.Calls = append(two.Calls, write("b.txt", "b\n").Calls...)
	for i := range two.Calls {
		two.Calls[i].ID = "call_1"
	}
	refusal := llmtest.JSON(400, `{"error":{"message":"Failed to call a function. See 'failed_generation'.","code":"tool_use_failed"}}`)
	replies := []llmtest.Reply{refusal, two, llmtest.Text("Both files are there.")}
	w := newWorld(t, func(n int, _ llmtest.Request) llmtest.Reply { return replies[min(n, len(replies)-1)] })
	w.inPlace()
	w.agent(0, "run")
	l := w.only()
	if l.State != "completed" || l.LLMCalls != 2 || l.ToolCalls != 2 {
		t.Errorf("%s after %d model calls and %d tool calls", l.State, l.LLMCalls, l.ToolCalls)
	}
	if !w.model.Requests()[1].Contains("could not read the tool call") {
		t.Error("the model was not told")
	}
	w.wantExact(l.UUID)
}
