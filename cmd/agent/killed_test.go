package main

import (
	"strings"
	"testing"

	"agent/internal/report"
)

// TestStatusOfTheKilled tells a context that is worked on from one whose process was killed.
func TestStatusOfTheKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	p := w.start("run")
	w.awaitCalls(2)
	if s := jsonOf[report.Status](w, 0, "status"); len(s.Running) != 1 || len(s.Interrupted) != 0 || s.Counts["running"] != 1 {
		t.Errorf("while it runs: %+v", s)
	}
	p.kill()
	s := jsonOf[report.Status](w, 0, "status")
	if len(s.Running) != 0 || len(s.Interrupted) != 1 || s.Counts["interrupted"] != 1 {
		t.Errorf("after the kill: %+v", s)
	}
	if out, _ := w.agent(0, "status"); !strings.Contains(out, "1 interrupted") || strings.Contains(out, "1 running") {
		t.Errorf("status says\n%s", out)
	}
	w.agent(0, "run")
	w.wantDone(1, w.only())
}
