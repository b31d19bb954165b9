package main

import (
	"os"
	"strings"
	"testing"
)

// TestLeftOver names an item that something left behind in the middle of its work.
func TestLeftOver(t *testing.T) {
	t.Parallel()
	w, uuid := begun(t)
	must(t, os.RemoveAll(w.path("contexts")))
	must(t, os.RemoveAll(w.path("workspaces")))
	out, _ := w.agent(0, "run")
	if !strings.Contains(out, "left over: ") || !strings.Contains(out, processingLabel) || strings.Contains(out, uuid) {
		t.Errorf("run says:\n%s", out)
	}
	key := w.forge.Host() + "/" + testRepo + "/issues/1"
	if why, _ := w.agent(0, "why", key); !strings.Contains(why, "no context here is working on it") {
		t.Errorf("why says:\n%s", why)
	}
	w.wantLabels(1, processingLabel)
}

// TestTriggerLabels takes items with any of the configured labels, and takes all of those off.
func TestTriggerLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.hub += "\n  trigger_labels: [\"task:misc\", \"task:dogfooding\"]"
	n := w.forge.AddIssue(testRepo, "Greet again", "Please write hello.txt.", "alice", "task:misc", "task:dogfooding", "kept")
	w.agent(0, "run")
	w.wantLabels(1, doneLabel)
	w.wantLabels(n, "kept", doneLabel)
	if all := w.list(0); len(all) != 2 {
		t.Errorf("%d contexts for two issues", len(all))
	}
}
