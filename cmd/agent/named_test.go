package main

import (
	"os"
	"strings"
	"testing"
)

// TestFilterIsNamed: an item that the configuration keeps from being listed is no
// mystery: why names the filter.
func TestFilterIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.hub = "\n  assignee: \"somebody\""
	w.agent(0, "run")
	key := w.forge.Host() + "/" + testRepo + "/issues/1"
	if out, _ := w.agent(1, "why", key); !strings.Contains(out, "assigned to @somebody") {
		t.Errorf("why says\n%s", out)
	}
}

// TestNoYearOne: what is not known of a context that cannot be read is left out, not
// shown as a time in the year 1.
func TestNoYearOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	uuid := w.pausedByCommand()
	must(t, os.Truncate(w.path("contexts", "paused", uuid, "events.jsonl"), 0))
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"status"}, {"status", "--json"}, {"why", uuid}, {"why", uuid, "--json"}} {
		_, text := w.said(args...)
		if strings.Contains(text, "0001-") {
			t.Errorf("agent %v:\n%s", args, text)
		}
	}
}
