package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/internal/report"
	"agent/llm/llmtest"
	"agent/projections"
)

// TestIssueToDone takes one issue from its label to the end, with every
// protocol, in place and in a clone, and looks at all that is left behind.
func TestIssueToDone(t *testing.T) {
	t.Parallel()
	refusing := forms(llmtest.Always(llmtest.ToolsRefused()), greetJSON())
	for _, c := range exhaustive.Sample([]struct {
		name, protocol string
		script         llmtest.Script
		inPlace        bool
		refused        int
	}{
		{"json in a clone", "json", greetJSON(), false, 0},
		{"json in place", "json", greetJSON(), true, 0},
		{"tools in a clone", "tools", greet(), false, 0},
		{"tools in place", "tools", greet(), true, 0},
		{"auto with tools", "auto", greet(), true, 0},
		{"auto without tools", "auto", refusing, false, 1},
	}, 3) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.script)
			w.llm = "\n  protocol: " + c.protocol
			if c.inPlace {
				w.inPlace()
			}
			out, errOut := w.agent(0, "run")
			l := w.only()
			w.wantDone(1, l)
			w.wantListed(l, c.refused)
			w.wantFile(c.inPlace)
			w.wantPlace(c.inPlace, out)
			w.wantFallback(l.UUID, c.name == "auto without tools")
			w.wantReadable(l.UUID)
			w.wantRebuilt(l.UUID)
			w.wantClosed()
			w.noSecrets()
			if strings.Contains(out+errOut, testToken) || strings.Contains(out+errOut, testKey) || strings.Contains(out+errOut, canary) {
				t.Errorf("the output holds a secret:\n%s%s", out, errOut)
			}
			if strings.Contains(out+errOut, "\x1b") {
				t.Errorf("colours without a terminal:\n%q%q", out, errOut)
			}
			if again, _ := w.agent(0, "run"); !strings.Contains(again, "nothing to do") {
				t.Errorf("a second run found something to do:\n%s", again)
			}
		})
	}
}

// wantPlace wants a change in place to be said to be one that nobody committed.
func (w *world) wantPlace(inPlace bool, out string) {
	w.t.Helper()
	line := strings.Contains(out, "the change is in "+w.path("work")+", not committed\n")
	comment := strings.Contains(w.wantComment(1, "✅ **Done**"), "working directory `work` on the agent's machine")
	if line != inPlace || comment != inPlace {
		w.t.Errorf("in place: %v; run says so: %v, the comment: %v\n%s", inPlace, line, comment, out)
	}
}

// wantListed wants two model calls with a reply, beside those that were refused.
func (w *world) wantListed(l report.Listed, refused int) {
	w.t.Helper()
	const calls = 2
	if l.TaskKey != w.forge.Host()+"/"+testRepo+"/issues/1" || l.Title != "Greet the world" {
		w.t.Errorf("list: task_key %q, title %q", l.TaskKey, l.Title)
	}
	if w.asked() != calls+refused || l.LLMCalls != calls || l.ToolCalls != 1 || l.Tokens <= 0 {
		w.t.Errorf("list: %d model calls, %d tool calls, %d tokens; want %d, 1 and more than 0", l.LLMCalls, l.ToolCalls, l.Tokens, calls)
	}
	if l.CreatedAt.IsZero() || l.UpdatedAt.Before(l.CreatedAt) || time.Since(l.CreatedAt) > time.Hour {
		w.t.Errorf("list: created_at %v, updated_at %v", l.CreatedAt, l.UpdatedAt)
	}
	out, _ := w.agent(0, "list", "--json")
	var raw map[string]any
	must(w.t, json.Unmarshal([]byte(out), &raw))
	for _, key := range []string{"uuid", "task_key", "state", "title", "created_at", "updated_at", "llm_calls", "tool_calls", "tokens"} {
		if _, ok := raw[key]; !ok {
			w.t.Errorf("list --json has no %s: %s", key, out)
		}
	}
}

// wantFile looks for the file where it must be: in the repository, or on the branch of a draft.
func (w *world) wantFile(inPlace bool) {
	w.t.Helper()
	requests := 0
	for _, r := range w.forge.Requests() {
		if r.Method == "POST" && strings.HasSuffix(r.Path, "/pulls") {
			requests++
			if !strings.Contains(r.Body, `"draft":true`) {
				w.t.Errorf("the pull request is not a draft: %s", r.Body)
			}
		}
	}
	if inPlace {
		data, err := os.ReadFile(w.path("work", "hello.txt"))
		if err != nil || string(data) != "hello\n" || requests != 0 {
			w.t.Errorf("in place: hello.txt %q (%v), %d pull requests", data, err, requests)
		}
		return
	}
	branch := strings.TrimSpace(w.git("for-each-ref", "--format=%(refname:short)", "refs/heads/agent"))
	if got := w.git("show", branch+":hello.txt"); got != "hello\n" || requests != 1 {
		w.t.Errorf("branch %q: hello.txt %q, %d pull requests", branch, got, requests)
	}
	if left := w.leftCopies(); len(left) > 0 {
		w.t.Errorf("the published working copy was left: %v", left)
	}
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("git", append([]string{"--git-dir", w.path("origin.git")}, args...)...).Output()
	if err != nil {
		w.t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

func (w *world) wantFallback(uuid string, want bool) {
	w.t.Helper()
	refused := 0
	for _, f := range find[*event.LLMFailed](w.events(uuid)) {
		if f.Kind == "tools_refused" {
			refused++
		}
	}
	if (refused == 1) != want || refused > 1 {
		w.t.Errorf("the log holds %d refusals of tools, want %v", refused, want)
	}
}

// wantReadable wants an event a line from inspect, and every blob from verify.
func (w *world) wantReadable(uuid string) {
	w.t.Helper()
	out, _ := w.agent(0, "inspect", uuid[:8], "--json")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	events := w.events(uuid)
	if len(lines) != len(events) {
		w.t.Errorf("inspect --json printed %d lines for %d events", len(lines), len(events))
	}
	for i, line := range lines {
		var e struct {
			Seq  uint64 `json:"seq"`
			Type string `json:"type"`
		}
		if json.Unmarshal([]byte(line), &e) != nil || e.Seq != uint64(i+1) || e.Type != events[i].Body.Type() {
			w.t.Errorf("inspect --json, line %d: %s", i+1, line)
		}
	}
	if out, _ := w.agent(0, "inspect", uuid[:8]); !strings.Contains(out, fmt.Sprintf("\n%5d ", len(events))) {
		w.t.Errorf("inspect does not show the last of %d events:\n%s", len(events), tail(out))
	}
	if out, _ := w.agent(0, "verify"); !strings.Contains(out, "ok: ") {
		w.t.Errorf("verify: %s", out)
	}
}

// wantRebuilt deletes the projection files and wants them back byte for byte.
func (w *world) wantRebuilt(uuid string) {
	w.t.Helper()
	before := map[string][]byte{}
	for _, name := range projections.FileNames(uuid) {
		path := w.path("contexts", "completed", uuid, name)
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		must(w.t, err)
		before[name] = data
		must(w.t, os.Remove(path))
	}
	if len(before) < 6 {
		w.t.Errorf("there are only %d projection files: %v", len(before), before)
	}
	w.agent(0, "rebuild", uuid)
	for name, want := range before {
		got, err := os.ReadFile(w.path("contexts", "completed", uuid, name))
		if err != nil || string(got) != string(want) {
			w.t.Errorf("%s after rebuild (%v):\n%s\nbefore:\n%s", name, err, got, want)
		}
	}
	w.wantExact(uuid)
	if matches, _ := filepath.Glob(w.path("contexts", "*", uuid)); len(matches) != 1 {
		w.t.Errorf("the context lies in %v", matches)
	}
}

// leftCopies are the directories of working copies but for those that the log says are kept: a tool that was killed
// before its outcome was durable has changed files, which are in the way of what the log says.
func (w *world) leftCopies() (left []string) {
	dirs, _ := os.ReadDir(w.path("workspaces"))
	logs, _ := filepath.Glob(w.path("contexts", "*", "*", "events.jsonl"))
	for _, dir := range dirs {
		named := slices.ContainsFunc(logs, func(log string) bool {
			data, err := os.ReadFile(log)
			return err == nil && strings.Contains(string(data), `"kept":"`+w.path("workspaces", dir.Name())+"/")
		})
		if !named {
			left = append(left, dir.Name())
		}
	}
	return left
}
