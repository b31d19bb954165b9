package main

import (
	"path/filepath"
	"strings"
	"testing"

	"agent/forge/forgetest"
	"agent/llm/llmtest"
)

// TestCachesOfRuns: what a context leaves in its caches reaches the next one of the repository. In a public project a
// stranger's task, which somebody who may write let begin, leaves nothing.
func TestCachesOfRuns(t *testing.T) {
	t.Parallel()
	script := func(word string) llmtest.Script {
		return llmtest.Turns(llmtest.ToolCall("workspace__run_command", map[string]any{
			"command": `cat "$XDG_CACHE_HOME/x" "$GOCACHE/x" 2>/dev/null; printf "left by ` + word + `;" | tee "$GOCACHE/x" >"$XDG_CACHE_HOME/x"`}), llmtest.Done("Done."))
	}
	var play later
	w := emptyWorld(t, play.play)
	w.forge.AddRepository(testRepo, forgetest.Repository{Git: w.path("origin.git")})
	w.forge.SetPermission(testRepo, "bob", "write")
	for _, tt := range []struct {
		author, found string
		script        llmtest.Script
	}{
		{author: "bob", script: script("bob")},
		{author: "mallory", script: script("mallory"), found: "left by bob;left by bob;"},
		{author: "bob", script: script("bob again"), found: "left by bob;left by bob;"},
	} {
		play.script = tt.script
		before := len(w.model.Requests())
		n := w.forge.AddIssue(testRepo, "Fill the caches", "Please.", tt.author)
		w.forge.AddLabelsAs(testRepo, n, "bob", botLabel)
		w.agent(0, "run")
		requests := w.model.Requests()[before:]
		if len(requests) < 2 {
			t.Fatalf("%d requests", len(requests))
		}
		answer := requests[1].Last().Content
		if got := strings.TrimSpace(answer[strings.LastIndex(answer, "]")+1:]); got != tt.found {
			t.Errorf("a task of %s finds %q, want %q in\n%s", tt.author, got, tt.found, answer)
		}
	}
	if left, _ := filepath.Glob(w.path("caches", "*", "own", "*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	w.extra = "max_cache_mb: 0"
	if out, _ := w.agent(0, "gc", "--dry-run"); !strings.Contains(out, "github.com") && !strings.Contains(out, testRepo) || !strings.Contains(out, "caches") {
		t.Errorf("gc says nothing of caches that are off:\n%s", out)
	}
	w.agent(0, "gc")
	if left, _ := filepath.Glob(w.path("caches", "[^.]*")); len(left) != 0 {
		t.Errorf("gc left %q", left)
	}
}
