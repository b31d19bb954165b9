package main

import (
	"os"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/exhaustive"
)

// endedBefore makes an earlier go at issue 1 of a repository that left a summary and ended some days ago.
func (w *world) endedBefore(repo string, days int, end event.Body) {
	w.t.Helper()
	w.ended(repo+"/issues/1", days, &event.TaskFetched{Author: "alice", Private: true},
		&event.SummaryAdded{Purpose: event.FinalSummary, Text: event.T("Said-then: the door was painted.")}, end)
}

// TestInheritedStates is the table of seeds/002 §2.4, and the expiry: what the
// next go takes over from one that ended so, that long ago. One that failed has a
// summary and is not inherited (S2), the days are configured (S2), and the key is
// the whole task, not its number (B15). The states that have not ended have no
// next go: TestStillTheSameGo.
func TestInheritedStates(t *testing.T) {
	t.Parallel()
	for name, c := range exhaustive.SampleMap(map[string]struct {
		repo   string
		days   int
		end    event.Body
		reason string // why nothing is inherited
	}{
		"completed":            {testRepo, 3, &event.ContextCompleted{Reason: "done"}, ""},
		"stopped":              {testRepo, 3, &event.ContextStopped{Reason: "requested"}, ""},
		"failed":               {testRepo, 3, &event.ContextFailed{Reason: "model"}, "it failed"},
		"completed, 89 days":   {testRepo, 89, &event.ContextCompleted{Reason: "done"}, ""},
		"completed, 91 days":   {testRepo, 91, &event.ContextCompleted{Reason: "done"}, "it is too old"},
		"stopped, long expiry": {testRepo, 91, &event.ContextStopped{Reason: "requested"}, ""},
		"other repository":     {"acme/another", 3, &event.ContextCompleted{Reason: "done"}, "there was no earlier attempt"},
	}, 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, greet())
			if strings.Contains(name, "long expiry") {
				w.extra = "context_inheritance: {context_expiry_days: 92}"
			}
			w.endedBefore(c.repo, c.days, c.end)
			w.agent(0, "run")
			in := w.inherited(w.forge.Host() + "/" + testRepo + "/issues/1")
			said := w.model.Requests()[0].Contains("Said-then:")
			if c.reason == "" && (in.From != oldUUID || !said) {
				t.Errorf("%+v, in the first request: %v", in, said)
			}
			if c.reason != "" && (in.From != "" || said || !strings.Contains(in.Reason, c.reason)) {
				t.Errorf("%+v, in the first request: %v", in, said)
			}
			w.wantLabels(1, doneLabel)
		})
	}
}

// TestStillTheSameGo: a context that is paused or whose process was killed is
// taken up again when its issue is labelled again; nothing is inherited, and there is no second one.
func TestStillTheSameGo(t *testing.T) {
	t.Parallel()
	for name, end := range exhaustive.SampleMap(map[string]func(w *world, p *process){
		"interrupted": func(_ *world, p *process) { p.kill() },
		"paused": func(w *world, p *process) {
			must(w.t, os.WriteFile(w.path("contexts", "pause_signal"), nil, 0o600))
			p.wait()
			must(w.t, os.Remove(w.path("contexts", "pause_signal")))
		},
	}, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hanging(1, greet()))
			p := w.start("run")
			w.awaitCalls(2)
			end(w, p)
			was := w.only()
			if was.State != name {
				t.Fatalf("it is %s", was.State)
			}
			w.forge.AddLabels(testRepo, 1, botLabel)
			w.agent(0, "run")
			now := w.only()
			if now.UUID != was.UUID || w.inherited(now.TaskKey).From != "" {
				t.Errorf("%+v, was %+v", now, was)
			}
			for _, r := range w.model.Requests() {
				if r.Contains("Summary of the previous run") {
					t.Errorf("it inherits from itself: %+v", r.Messages)
				}
			}
			if now.State != "completed" {
				t.Errorf("it is %s", now.State)
			}
		})
	}
}
