package main

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/report"
	"agent/llm"
	"agent/llm/llmtest"
)

// firstRequest finds the first request for work that holds a text.
func (w *world) firstRequest(said string) llmtest.Request {
	w.t.Helper()
	for _, r := range w.model.Requests() {
		if r.Contains(said) && !isSummary(r) {
			return r
		}
	}
	w.t.Fatalf("no request holds %q", said)
	return llmtest.Request{}
}

// inherited gives what the newest context of a task took over.
func (w *world) inherited(key string) *event.ContextInherited {
	w.t.Helper()
	var newest report.Listed
	for _, l := range w.list(0) {
		if l.TaskKey == key && l.CreatedAt.After(newest.CreatedAt) {
			newest = l
		}
	}
	for _, ev := range w.events(newest.UUID) {
		if in, ok := ev.Body.(*event.ContextInherited); ok {
			return in
		}
	}
	w.t.Fatalf("%s: nothing is said of an earlier go", key)
	return nil
}

// TestSecondGo labels an issue again: the new go begins with the summary of the
// old one. Another issue learns nothing of it, and a deleted index changes nothing.
func TestSecondGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(0, "run")
	first := w.only()
	w.forge.AddComment(testRepo, 1, "alice", "Said-again: in French, please.")
	w.forge.AddLabels(testRepo, 1, botLabel)
	w.issue("Said-elsewhere: greet the moon")
	w.agent(0, "run")

	r := w.firstRequest("Said-again:")
	if len(r.Messages) != 3 || r.Messages[0].Role != llm.System || r.Messages[1].Role != llm.Assistant || r.Messages[2].Role != llm.User {
		t.Fatalf("%+v", r.Messages)
	}
	if m := r.Messages[1].Content; !strings.HasPrefix(m, "Summary of the previous run:") || !strings.Contains(m, "A file was written.") || !strings.Contains(m, first.UUID[:8]) {
		t.Errorf("inherited: %s", m)
	}
	if m := r.Messages[2].Content; !strings.Contains(m, "Said-again:") {
		t.Errorf("request: %s", m)
	}
	w.wantComment(1, "📋 **Continuing from an earlier attempt**")
	w.wantLabels(1, doneLabel)
	other := w.firstRequest("Said-elsewhere:")
	if len(other.Messages) != 2 || other.Contains("A file was written.") {
		t.Errorf("another issue inherits: %+v", other.Messages)
	}
	if in := w.inherited(first.TaskKey); in.From != first.UUID || len(in.Seqs) == 0 {
		t.Errorf("provenance: %+v", in)
	}
	for _, l := range w.list(0) {
		w.wantExact(l.UUID)
	}
}

// TestNotInherited: a failed go leaves nothing, an older one that was stopped does.
func TestNotInherited(t *testing.T) {
	t.Parallel()
	stopped := false
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if !stopped {
			return llmtest.Hang()
		}
		return llmtest.Text("")
	})
	w.llm = "\n  protocol: json"
	p := w.start("run")
	w.awaitCalls(1)
	old := w.only()
	w.agent(0, "stop", old.UUID)
	if code := p.wait(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	w.wantLabels(1, stoppedLabel)
	stopped = true
	w.model.Close()
	w.model = llmtest.New(llmtest.Always(llmtest.Text("I do not know.")))
	t.Cleanup(w.model.Close)
	w.forge.AddLabels(testRepo, 1, botLabel)
	w.agent(1, "run") // fails: five replies that cannot be used
	w.wantLabels(1, failedLabel)
	if in := w.inherited(old.TaskKey); in.From != old.UUID {
		t.Errorf("the failed go took over %+v", in)
	}
	w.forge.AddLabels(testRepo, 1, botLabel)
	w.agent(1, "run")
	if in := w.inherited(old.TaskKey); in.From != old.UUID {
		t.Errorf("what follows a failed go takes over %+v", in)
	}
	w.extra = "context_inheritance: {enabled: false}"
	w.forge.AddLabels(testRepo, 1, botLabel)
	w.agent(1, "run")
	newest := w.list(0)
	for _, l := range newest {
		if l.State == "failed" {
			w.wantExact(l.UUID)
		}
	}
}
