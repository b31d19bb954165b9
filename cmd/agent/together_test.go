package main

import (
	"strings"
	"testing"
	"time"

	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// TestTogether lets three runs loose on five issues. Each issue is done once.
func TestTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t, longer())
	titles := []string{"Two", "Three", "Four", "Five"}[:exhaustive.Of(2, 4)]
	for _, title := range titles {
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
	w.agent(0, "run") // an item for which no worker was free is left for a later look
	all := w.list(0)
	if len(all) != len(titles)+1 {
		t.Fatalf("%d contexts for %d issues: %+v", len(all), len(titles)+1, all)
	}
	for _, l := range all {
		if l.State != "completed" {
			t.Errorf("%s is %s", l.TaskKey, l.State)
		}
		w.wantExact(l.UUID)
	}
	for number := 1; number <= len(all); number++ {
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

// TestStaleList lets a run see a label that another run has removed meanwhile,
// when it began the task. A pause of the other run is not ended by that.
func TestStaleList(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	w.forge.Fault(forgetest.Fault{Method: "GET", Path: ".*/issues", Kind: forgetest.StoreSlow, Delay: 3 * time.Second})
	stale := w.start("run")
	w.until("the list is on its way", func() bool { return len(w.forge.Requests()) > 0 })
	uuid := w.pausedByCommand()
	if code := stale.wait(); code != 0 {
		t.Errorf("exit %d\n%s", code, &stale.err)
	}
	if l := w.only(); l.State != "paused" || l.UUID != uuid || w.asked() != 2 {
		t.Errorf("%s after %d requests, want paused after 2\n%s", l.State, w.asked(), &stale.out)
	}
}

// TestNamedTasks runs single tasks by what people paste, labelled or not.
func TestNamedTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.inPlace()
	w.forge.RemoveLabels(testRepo, 1, botLabel)
	w.issue("Another")
	url := "http://" + w.forge.Host() + "/" + testRepo + "/issues/"
	for _, ref := range []string{"nonsense", "", url + "99", url + "x", "https://github.com/o/r/issues/1", "3f2a3f2a"} {
		if _, errOut := w.agent(2, "run", ref); strings.Contains(errOut, "goroutine") || strings.Contains(errOut, "no such context") == strings.Contains(ref, "/") {
			t.Errorf("run %q: %s", ref, errOut)
		}
	}
	w.agent(0, "run", url+"1#issuecomment-5")
	l := w.only()
	w.wantDone(1, l)
	w.wantLabels(2, botLabel)
	if out, _ := w.agent(0, "run", l.UUID[:8]); !strings.Contains(out, "has ended") {
		t.Errorf("run of a finished context says:\n%s", out)
	}
	w.forge.CloseIssue(testRepo, 2)
	if out, _ := w.agent(0, "run", url+"2"); !strings.Contains(out, "it is closed") {
		t.Errorf("run of a closed issue says:\n%s", out)
	}
}
