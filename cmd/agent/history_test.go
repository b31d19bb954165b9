package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/internal/report"
	"agent/llm"
	"agent/llm/llmtest"
)

// again labels issue #1 once more, runs the agent, and gives the new context.
func (w *world) again(code int) report.Listed {
	w.t.Helper()
	w.forge.AddLabels(testRepo, 1, botLabel)
	w.agent(code, "run")
	return w.newest()
}

// newest is the context that was made last.
func (w *world) newest() (newest report.Listed) {
	w.t.Helper()
	for _, l := range w.list(0) {
		if l.CreatedAt.After(newest.CreatedAt) {
			newest = l
		}
	}
	return newest
}

// of is the context of the task whose key ends so.
func (w *world) of(end string) report.Listed {
	w.t.Helper()
	all := w.list(0)
	i := slices.IndexFunc(all, func(l report.Listed) bool { return strings.HasSuffix(l.TaskKey, end) })
	if i < 0 {
		w.t.Fatalf("no context of %s in %+v", end, all)
	}
	return all[i]
}

// ask is a call of the tool history/read.
func ask(context, kind string) llm.ToolCall {
	return llmtest.Call("history__read", map[string]any{"context": context, "kind": kind})
}

// told gives what tools answered in a context.
func (w *world) told(uuid string) (answers []*event.ToolReplied) {
	w.t.Helper()
	for _, ev := range w.events(uuid) {
		if b, ok := ev.Body.(*event.ToolReplied); ok {
			answers = append(answers, b)
		}
	}
	return answers
}

// TestHistory: the second attempt may look into the first one, and into nothing else.
// The first go has nothing to look into, and no such tool.
func TestHistory(t *testing.T) {
	t.Parallel()
	script := llmtest.Turns(
		llmtest.ToolCalls(llmtest.Call("workspace__write_file", map[string]any{"path": "hello.txt", "content": "ask alice or bob@example.com\n"}),
			llmtest.Call("workspace__read_file", map[string]any{"path": "hello.txt"})),
		llmtest.Done("I wrote hello.txt."))
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply { return script(n, r) })
	w.issue("Greet the moon")
	w.agent(0, "run")
	first, moon := w.of("/issues/1"), w.of("/issues/2")
	if r := w.model.Requests()[0]; slices.Contains(r.Tools, "history__read") || r.Contains("server history") {
		t.Errorf("the first attempt is offered a history: %+v", r.Tools)
	}
	script = llmtest.Turns(llmtest.Reply{}, llmtest.ToolCalls(llmtest.Call("history__list", map[string]any{}),
		ask(first.UUID[:8], "tools"), ask(first.UUID, "summary"), ask(first.UUID, "metadata"),
		ask(moon.UUID, "tools"), ask("", "tools"), ask(first.UUID, "secrets")), llmtest.Done("I looked."))
	second := w.again(0)
	asked := w.firstRequest("Summary of the previous run")
	if !slices.Contains(asked.Tools, "history__list") || !slices.Contains(asked.Tools, "history__read") {
		t.Errorf("the second attempt is offered %+v", asked.Tools)
	}
	if asked.Contains("write_file {") {
		t.Error("the history is in the first request")
	}
	got := w.told(second.UUID)
	for i, want := range []string{first.UUID + ": completed", "workspace/write_file", "A file was written.", "context.created",
		"there is no earlier attempt", "there is no earlier attempt", "kind must be one of"} {
		if text := got[i].Content.View(); !strings.Contains(text, want) || got[i].IsError != (i > 3) || strings.Contains(text, moon.UUID) {
			t.Errorf("answer %d: %+v, wants %q", i, got[i], want)
		}
	}
	for _, answer := range got {
		if text := answer.Content.View(); strings.Contains(text, "alice") || strings.Contains(text, "bob") || strings.Contains(text, w.dir) {
			t.Errorf("it names people or places: %s", text)
		}
	}
	if text := got[1].Content.View(); !strings.Contains(text, "hello.txt") || !strings.Contains(text, "ask user or user") {
		t.Errorf("tool runs: %s", text)
	}
	if tools := got[1]; !slices.Equal(tools.Sources, []string{first.UUID}) || tools.Trust != "members" || tools.Content.Blob == "" {
		t.Errorf("sources: %+v", tools)
	}
	for _, ev := range w.events(second.UUID) {
		if b, ok := ev.Body.(*event.ToolRequested); ok && !b.Again {
			t.Errorf("after a crash it would not be asked again: %+v", b)
		}
	}
	w.wantExact(second.UUID)
}

// TestTrustIsPassedOn: a summary of words of anybody says so to the next attempt, and
// is kept from one that hears not anybody.
func TestTrustIsPassedOn(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, greet())
	w.forge.AddRepository(testRepo, forgetest.Repository{Git: w.path("origin.git")})
	w.forge.SetPermission(testRepo, "bob", "write")
	w.issue("Greet the world")
	w.forge.AddComment(testRepo, 1, "mallory", "Said-by-a-stranger.")
	w.extra = "new_comment_handling: {accept: any}"
	w.agent(0, "run")
	key := w.only().TaskKey
	second := w.again(0)
	if in := w.inherited(key); in.Trust != "anybody" || !w.firstRequest("Summary of the previous run").Contains("strangers too") {
		t.Errorf("the second attempt has %+v", in)
	}
	w.extra = ""
	w.forge.AddLabelsAs(testRepo, 1, "bob", botLabel)
	w.agent(0, "run")
	third := w.newest()
	if in := w.inherited(key); third.UUID == second.UUID || in.From != "" || !strings.Contains(in.Reason, "not heard here now") {
		t.Errorf("the third go has %+v", in)
	}
	w.forge.AddLabelsAs(testRepo, 1, "bob", botLabel)
	w.agent(0, "run")
	if in := w.inherited(key); in.From != third.UUID || in.Trust != "author" {
		t.Errorf("the fourth go has %+v", in)
	}
	w.firstRequest("people who may write") // which is what it is told
}

// TestHistoryOfDamage: a log that was damaged meanwhile gives a text, and stops nothing.
func TestHistoryOfDamage(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	script := greet()
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply { return script(n, r) })
	w.agent(0, "run")
	first := w.only()
	turns := llmtest.Turns(llmtest.Reply{}, llmtest.ToolCalls(ask(first.UUID, "tools"), llmtest.Call("history__list", map[string]any{})), llmtest.Done("I looked."))
	script = func(n int, r llmtest.Request) llmtest.Reply {
		log, err := os.ReadFile(w.logPath("completed", first.UUID))
		must(t, err)
		log[len(log)/2] = 0
		must(t, os.WriteFile(w.logPath("completed", first.UUID), log, 0o600))
		return turns(n, r)
	}
	w.forge.AddLabels(testRepo, 1, botLabel)
	w.agent(0, "run")
	w.wantLabels(1, doneLabel)
	for _, l := range w.list(65) {
		if l.UUID == first.UUID {
			continue
		}
		for _, answer := range w.told(l.UUID) {
			if !strings.Contains(answer.Content.View(), "its log cannot be read") {
				t.Errorf("%+v", answer)
			}
		}
		w.wantExact(l.UUID)
	}
}

// TestHistoryOfPlan: the go after one in planning mode begins with what became
// of the plan, and may read how it came to that.
func TestHistoryOfPlan(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	script := llmtest.Script(planner)
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply { return script(n, r) })
	w.extra = planningOn
	w.agent(0, "run")
	first := w.only()
	w.extra = ""
	script = llmtest.Turns(llmtest.Reply{}, llmtest.ToolCalls(ask(first.UUID, "plans"), ask(first.UUID, "actions"),
		ask(first.UUID, "reflections"), ask(first.UUID, "verifications"), ask(first.UUID, "replans")), llmtest.Done("I looked."))
	second := w.again(0)
	in := w.inherited(first.TaskKey).Summary.View()
	for _, want := range []string{"A file was written.", "- Goal: hello.txt greets", "- Successful action write: write it",
		"- Failed action look: look it", "- Round 1: not passed", "Found and resolved: not signed", "- Round 2: passed"} {
		if !strings.Contains(in, want) {
			t.Errorf("what is inherited lacks %q:\n%s", want, in)
		}
	}
	answers := w.told(second.UUID)
	for i, want := range []string{"look elsewhere", `"action":"look","status":"failed"`, "the file is not there", "not signed", "it will never be there"} {
		if text := answers[i].Content.View(); !strings.Contains(text, want) || answers[i].IsError {
			t.Errorf("answer %d lacks %q:\n%s", i, want, text)
		}
	}
	w.wantExact(second.UUID)
}
