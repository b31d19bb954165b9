package handlers

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"agent/eventlog/event"
)

// planTypes are the events that a plan is made of.
var planTypes = []string{"phase.entered", "message.added", "llm.requested", "llm.replied", "tool.requested", "tool.replied", "understanding.made",
	"information.planned", "information.collected", "assumption.made", "plan.made", "plan.revised", "action.started", "action.finished",
	"reflection.made", "verification.made", "replan.decided", "context.awaiting", "context.resumed"}

// planWords are what those events are filled with, beside samples.
var planWords = []string{"understanding", "information", "assumption", "planning", "execution", "reflection", "revision", "replanning", "verification", "phase", "action",
	"clarification", "success", "collected", "gap", "retry", "clarification_request", passed, noRevision, understood, collecting}

// TestRandomPlanHistories lets the events of a plan follow each other as no
// program would write them: deciding does not panic, and decides the same again.
func TestRandomPlanHistories(t *testing.T) {
	plain := samples
	samples = append(slices.Clone(plain), planWords...)
	defer func() { samples = plain }()
	decisions := map[string]int{}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 5))
		w := newPlanWorld(t, script{"understanding": {text(understood)}, "information": {text(nothing)}, "planning": {text(planned("work", "task"))}})
		w.state.Config.Planning = (&play{roll: r.IntN}).config()
		w.until("llm.requested")
		for range 40 {
			body := event.New(planTypes[r.IntN(len(planTypes))])
			fill(r, reflect.ValueOf(body).Elem(), 0)
			w.add(body, 0)
			if w.state.Open == nil {
				first := Next(w.state)
				if second := Next(w.state); !reflect.DeepEqual(first, second) {
					t.Fatalf("seed %d: decided %#v, then %#v", seed, first, second)
				}
				decisions[fmt.Sprintf("%T", first)]++
			}
		}
	}
	t.Log(decisions)
}

// until plays up to the first intent of a type.
func (w *world) until(kind string) {
	for range w.steps {
		switch e := Next(w.state).(type) {
		case Record:
			w.add(e.Body, 0)
		case Read:
			w.add(w.read(e), 0)
		case Act:
			if e.Intent.Type() == kind {
				return
			}
			w.add(w.outcome(e.Intent), w.add(e.Intent, 0).Seq)
		}
	}
	w.t.Fatalf("no %s:\n%s", kind, w.out.String())
}
