package report

import (
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/projections"
)

func told(visit func(event.Event, *projections.State), bodies ...event.Body) *projections.State {
	s := projections.NewState()
	for i, b := range bodies {
		ev := event.Event{Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Body: b}
		s.Apply(ev)
		visit(ev, s)
	}
	return s
}

// A summary is a phase of its own, as it is in inspect --costs: the calls of the work are not counted with it.
func TestStatsByPhase(t *testing.T) {
	t.Parallel()
	c := &counter{by: "phase", sums: map[string]*StatsRow{}, early: &StatsRow{}}
	reply := &event.LLMReplied{Usage: event.Usage{Prompt: 10, Completion: 1}}
	told(c.count, &event.ContextCreated{UUID: "u", TaskKey: "h/o/r/issues/1"}, &event.LLMRequested{Purpose: "work"}, reply, &event.LLMRequested{Purpose: "summary"}, reply,
		&event.SummaryAdded{}, &event.LLMRequested{Purpose: "work"}, &event.LLMFailed{Kind: "transient"}, &event.ContextCompleted{})
	if work, sum := c.sums["work"], c.sums["summary"]; len(c.sums) != 2 || work.Begun != 2 || work.Runs != 1 || work.Completed != 1 || work.Prompt != 10 ||
		sum == nil || sum.Begun != 1 || sum.Prompt != 10 || sum.Runs != 0 || sum.Active != 2 {
		t.Errorf("work %+v\nsummary %+v", work, sum)
	}
}

// why names who asked for a pause and who ended it.
func TestWhoPausedAndWhoResumed(t *testing.T) {
	t.Parallel()
	c := &Attempt{}
	s := told(func(ev event.Event, s *projections.State) { c.pause(ev, s, i18n.En) }, &event.ContextCreated{}, &event.PauseRequested{By: "command", Actor: "root"},
		&event.ContextPaused{Reason: event.PauseOnRequest, Until: event.Until{Kind: "person"}})
	if got, want := Because(s, i18n.En), "root (command) asked for a pause. Run `agent resume` to continue"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	told(func(ev event.Event, s *projections.State) { c.pause(ev, s, i18n.En) }, &event.ResumeRequested{By: "comment", Actor: "ann"}, &event.ContextResumed{})
	if len(c.Pauses) != 1 {
		t.Fatalf("%+v", c.Pauses)
	}
	if p := c.Pauses[0]; p.Because != "root (command) asked for a pause" || p.Asked != "command" || p.Asker != "root" || p.By != "comment" || p.Actor != "ann" {
		t.Errorf("%+v", p)
	}
}
