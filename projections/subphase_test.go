package projections

import (
	"testing"

	"agent/eventlog/event"
)

// TestSubphase: task_state.json names the phase as formats.md has it, and beside it where
// pre-planning is, or ended. Both used to be the name of the latest phase.
func TestSubphase(t *testing.T) {
	s := NewState()
	var seq uint64
	for _, c := range []struct{ entered, phase, sub string }{
		{Understanding, PrePlanning, Understanding}, {Information, PrePlanning, Information}, {Assumption, PrePlanning, Assumption},
		{PlanPhase, PlanPhase, Assumption}, {Execution, Execution, Assumption}, {Reflection, Reflection, Assumption},
		{Understanding, PrePlanning, Understanding}, // a goal that is revised
	} {
		if seq == 0 {
			s.Apply(event.Event{Seq: 1, Body: &event.ConfigPinned{Planning: event.Planning{Enabled: true}}})
			seq = 1
		}
		seq++
		s.Apply(event.Event{Seq: seq, Body: &event.PhaseEntered{Phase: c.entered}})
		if got := planningOf(s); got.Phase != c.phase || got.PreState.Phase != c.sub {
			t.Errorf("in %s: current_phase %s, current_subphase %s; want %s, %s", c.entered, got.Phase, got.PreState.Phase, c.phase, c.sub)
		}
	}
}
