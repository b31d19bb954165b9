package main

import (
	"strings"
	"testing"

	"agent/llm/llmtest"
)

// TestTogether lets three runs loose on five issues. Each issue is done once.
func TestTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t, longer())
	for _, title := range []string{"Two", "Three", "Four", "Five"} {
		w.issue(title)
	}
	runs := []*process{w.start("run"), w.start("run"), w.start("run")}
	for _, p := range runs {
		if code := p.wait(); code != 0 {
			t.Errorf("exit %d\n%s%s", code, &p.out, &p.err)
		}
		if out := p.out.String(); !strings.Contains(out, "completed: ") && !strings.Contains(out, "busy: ") &&
			!strings.Contains(out, "skipped: ") && !strings.Contains(out, "nothing to do") {
			t.Errorf("a run says neither what it did nor why it did nothing:\n%s", out)
		}
	}
	all := w.list(0)
	if len(all) != 5 {
		t.Fatalf("%d contexts, want 5: %+v", len(all), all)
	}
	for _, l := range all {
		if l.State != "completed" {
			t.Errorf("%s is %s", l.TaskKey, l.State)
		}
		w.wantExact(l.UUID)
	}
	for number := 1; number <= 5; number++ {
		w.wantLabels(number, doneLabel)
		w.wantOnce(number)
	}
}

// TestBusy starts two runs on one issue. One works, the other says so and ends.
func TestBusy(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	script := greet()
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		<-open
		return script(n, r)
	})
	one, two := w.start("run"), w.start("run")
	ended := make(chan *process, 2)
	for _, p := range []*process{one, two} {
		go func() { p.wait(); ended <- p }()
	}
	loser := <-ended
	close(open)
	winner := <-ended
	if loser.code != 0 || !strings.Contains(loser.out.String(), "busy: ") {
		t.Errorf("the loser exits %d and says:\n%s%s", loser.code, &loser.out, &loser.err)
	}
	if winner.code != 0 {
		t.Errorf("the winner exits %d\n%s", winner.code, &winner.err)
	}
	w.wantDone(1, w.only())
}
