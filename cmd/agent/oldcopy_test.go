package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"agent/internal/exhaustive"
)

// TestOldCopy puts an old copy in the place of a log: of a paused context it is
// seen, by whoever looks and by whoever would work on it.
func TestOldCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	uuid := w.pausedByCommand()
	lines := w.lines("paused", uuid)
	w.writeLines("paused", uuid, lines[:len(lines)-4])
	if out, _ := w.agent(65, "verify"); !strings.Contains(out, "was there") {
		t.Errorf("verify says:\n%s", out)
	}
	w.agent(65, "resume", uuid)
	w.agent(65, "run")
	if _, err := os.Stat(w.path("contexts", "paused", uuid)); err != nil {
		t.Error(err)
	}
}

// TestOldCopyOfRunning: so it is of a running context, back to where a process ended properly.
func TestOldCopyOfRunning(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	p := w.start("run")
	w.awaitCalls(2)
	p.signal(syscall.SIGTERM)
	p.wait()
	uuid := w.only().UUID
	lines := w.lines("running", uuid)
	if !strings.Contains(string(lines[len(lines)-1]), "process.ended") {
		t.Fatalf("the log ends with %s", lines[len(lines)-1])
	}
	w.writeLines("running", uuid, lines[:len(lines)-1])
	if out, _ := w.agent(65, "verify"); !strings.Contains(out, "was there") {
		t.Errorf("verify says:\n%s", out)
	}
	w.agent(65, "run")
	w.writeLines("running", uuid, lines)
	w.agent(0, "run")
	w.wantDone(1, w.only())
}
