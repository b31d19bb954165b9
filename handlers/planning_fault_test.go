package handlers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/llm"
	"agent/projections"
)

// simple are the replies of an attempt whose phases go well.
func simple(work ...event.Body) script {
	return script{"understanding": {text(understood)}, "information": {text(nothing)}, "planning": {text(planned("a1", "run1"))},
		"work": work, "reflection": {text(noRevision)}, "replanning": {text(decision("none", "execution", ""))}, "verification": {text(passed)}}
}

// finished tells how the actions ended, in order.
func (w *world) finished() (ends []string) {
	for _, b := range w.all {
		if a, ok := b.(*event.ActionFinished); ok {
			ends = append(ends, a.Action+" "+a.Status)
		}
	}
	return ends
}

// TestFailedVerification wants a plan whose verification never passes to be done
// in part, whatever the model says beside it, and however it fails (B9).
func TestFailedVerification(t *testing.T) {
	no := strings.Replace(passed, "true", "false", 1)
	for name, replies := range map[string][]event.Body{
		"fails twice":         {text(no)},
		"finds more":          {text(verifyMore)},
		"contradicts itself":  {text(strings.Replace(verifyMore, `"verification_passed":false`, `"verification_passed":true`, 1))},
		"says nothing usable": {text("All is complete.")},
	} {
		t.Run(name, func(t *testing.T) {
			replies := append([]event.Body{}, replies...)
			s := simple(reads("a1"), runs("run1"), reads("more"))
			s["verification"] = replies
			w := newPlanWorld(t, s)
			w.run()
			if w.state.Status != projections.Completed || !w.state.Last.Partial || w.state.Planning.Verified {
				t.Errorf("%s, %+v", w.state.Status, w.state.Last)
			}
			if said := w.said("completed"); !strings.HasPrefix(said, "⚠️ **Partly done:**") {
				t.Errorf("the final comment is\n%s", said)
			}
		})
	}
}

// TestUnusableAfterManyTurns wants a reply that cannot be used to be corrected
// at any turn: the first one after many good ones is no end (B18).
func TestUnusableAfterManyTurns(t *testing.T) {
	for _, plan := range []bool{false, true} {
		t.Run(fmt.Sprintf("by a plan %v", plan), func(t *testing.T) {
			w := newPlanWorld(t, simple())
			w.state.Config.Protocol, w.state.Config.Planning.Enabled = "json", plan
			plain, n := w.reply, 0
			w.reply = func(in *event.LLMRequested, r *llm.Request) event.Body {
				if in.Purpose != "work" {
					return plain(in, r)
				}
				switch n++; {
				case n == 7:
					return text("hm")
				case n > 8:
					return text(`{"done":true,"comment":"Fixed."}`)
				}
				return text(fmt.Sprintf(`{"command":{"tool":"ws/list","args":{"path":"d%d"}}}`, n))
			}
			w.second = "list"
			w.tools["ws/list"] = &event.ToolReplied{Content: event.T("a.go")}
			w.run()
			corrections := 0
			for _, b := range w.all {
				if m, ok := b.(*event.MessageAdded); ok && m.Purpose == event.CorrectionMessage {
					corrections++
				}
			}
			if corrections != 1 || n < 9 || w.state.Status != projections.Completed || w.state.Last.Partial {
				t.Errorf("%d replies, %d corrections, %s", n, corrections, w.state.Status)
			}
		})
	}
}

// TestToolErrors counts the errors of a tool in a row, whatever the action and
// however the model names the tool; an action whose last call failed has failed;
// and a call that makes no sense has a result, too (B19).
func TestToolErrors(t *testing.T) {
	broken := func(names ...string) (calls []event.Body) {
		for i, name := range names {
			calls = append(calls, native(name, fmt.Sprintf(`{"argv":["%d"]}`, i)))
		}
		return calls
	}
	for name, c := range map[string]struct {
		work []event.Body
		want []string
	}{
		"three by any name":  {append([]event.Body{reads("a1")}, broken("ws__run_command", "ws/run_command", "ws_run_command", "never")...), []string{"a1 success", "run1 failed"}},
		"over two actions":   {append(append(broken("ws__run_command", "ws__run_command"), reads("a1")), broken("ws__run_command", "never")...), []string{"a1 success", "run1 failed"}},
		"said to be done":    {append([]event.Body{reads("a1")}, append(broken("ws__run_command"), text("It is done."))...), []string{"a1 success", "run1 failed"}},
		"without sense":      {[]event.Body{native("ws__read_file", "nonsense"), native("rm", "{}"), reads("a1"), text("Nothing to run.")}, []string{"a1 success", "run1 success"}},
		"another in between": {append(append([]event.Body{reads("a1")}, broken("ws__run_command", "ws__run_command")...), reads("b"), text("It works otherwise.")), []string{"a1 success", "run1 success"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlanWorld(t, simple(c.work...))
			w.state.Config.Planning.ReflectEvery = 0
			w.tools["ws/run_command"] = &event.ToolReplied{Content: event.T("it is broken"), IsError: true}
			plain := w.reply
			w.reply = func(in *event.LLMRequested, r *llm.Request) event.Body {
				if err := wellFormed(r, "tools"); err != nil {
					t.Fatal(err)
				}
				return plain(in, r)
			}
			w.run()
			if got := w.finished(); !slices.Equal(got, c.want) {
				t.Errorf("the actions ended as %q, want %q", got, c.want)
			}
		})
	}
}

// TestRevisionWithoutActions wants a revision that brings no actions to leave
// the plan as it is, and not empty and so at once complete (B20).
func TestRevisionWithoutActions(t *testing.T) {
	s := simple(reads("a1"), reads("a2"), reads("a3"))
	s["planning"] = []event.Body{text(planned("a1", "a2", "a3"))}
	s["reflection"] = []event.Body{text(strings.Replace(noRevision, `"plan_revision_needed":false`, `"plan_revision_needed":true`, 1)), text(noRevision)}
	s["revision"] = []event.Body{text(`{"plan_revision":{"reason":"r","changes":[],"updated_action_plan":{"execution_order":[],"actions":[]}}}`)}
	w := newPlanWorld(t, s)
	w.run()
	if got, want := w.finished(), []string{"a1 success", "a2 success", "a3 success"}; !slices.Equal(got, want) {
		t.Errorf("the actions ended as %q, want %q", got, want)
	}
}

// TestNewPlanBeginsAtItsStart wants every action of a plan that was made anew to
// be done, also those whose ids the old plan had, and limits to go on counting (B8, B20).
func TestNewPlanBeginsAtItsStart(t *testing.T) {
	for _, kind := range []string{"full_replan", "goal_revision", "task_redecomposition"} {
		t.Run(kind, func(t *testing.T) {
			s := simple(reads("a1"), runs("1"), runs("2"), runs("3"), reads("a1 again"), reads("b2"), reads("b3"))
			s["planning"] = []event.Body{text(planned("a1", "run1")), text(planned("a1", "b2", "b3"))}
			s["replanning"] = []event.Body{text(decision(kind, "task_decomposition", ""))}
			w := newPlanWorld(t, s)
			flaky(w, "ws/run_command", 3)
			w.run()
			if got, want := w.finished(), []string{"a1 success", "run1 failed", "a1 success", "b2 success", "b3 success"}; !slices.Equal(got, want) {
				t.Errorf("the actions ended as %q, want %q", got, want)
			}
			if c := w.state.Planning.Counts; c.Total != 1 || c.Decompositions != 1 || c.Triggers["task_decomposition:"+kind] != 1 || w.state.Planning.Begun != 5 {
				t.Errorf("%+v, begun %d", c, w.state.Planning.Begun)
			}
		})
	}
}

// TestEachAssumptionIsAskedFor wants the model to be told of each information
// that it may assume, also after it had nothing usable to say of the one before.
func TestEachAssumptionIsAskedFor(t *testing.T) {
	s := simple(reads("a1"), runs("run1"))
	s["information"] = []event.Body{text(`{"information_needs":{"required_information":[{"id":"one","description":"first","can_assume":true},{"id":"two","description":"second","can_assume":true}]}}`)}
	s["assumption"] = []event.Body{text("hm"), text("hm"), text(`{"assumption":{"info_id":"two","assumed_value":"x","reasoning":"r","confidence":0.9}}`)}
	w := newPlanWorld(t, s)
	w.run()
	var asked []string
	for _, b := range w.all {
		if m, ok := b.(*event.MessageAdded); ok && m.Purpose == event.PhaseMessage {
			if _, about, ok := strings.Cut(m.Content.View(), "The information: "); ok {
				asked = append(asked, about[:3])
			}
		}
	}
	if found := w.state.Planning.Found; !slices.Equal(asked, []string{"one", "two"}) || found["one"].Status != "gap" || found["two"].Status != "assumed" {
		t.Errorf("asked for %q, found %+v and %+v", asked, found["one"], found["two"])
	}
}

// TestActionOutlivesConfiguration pins a configuration that asks for more
// pre-planning in the middle of an action: the action ends first, by its own reply.
func TestActionOutlivesConfiguration(t *testing.T) {
	w := newPlanWorld(t, simple(reads("a1"), text("Nothing to run.")))
	w.state.Config.Planning.Understand, w.state.Config.Planning.Collect = false, false
	more := *w.state.Config
	more.Planning.Understand, more.Planning.Collect = true, true
	w.before["3"] = []event.Body{&event.PauseRequested{By: "command"}}
	w.rests = [][]event.Body{{&more, &event.ResumeRequested{By: "command", Person: true}}}
	w.run()
	var order []string
	for _, b := range w.all {
		switch b := b.(type) {
		case *event.ActionFinished:
			order = append(order, b.Action+" "+b.Detail)
		case *event.UnderstandingMade:
			order = append(order, b.Understanding.Goal)
		}
	}
	if want := []string{"a1 ", "run1 Nothing to run.", "Mend a.go"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

// TestReplanLimits wants every limit of replans to be reached exactly, and no
// kind of replan to be free of one (B20).
func TestReplanLimits(t *testing.T) {
	free := event.Replans{Enabled: true, MaxClarifications: 50, MaxDecompositions: 50, MaxRegenerations: 50, MaxRetries: 50, MaxPartial: 50, MaxReflected: 50, MaxTotal: 50}
	for kind, limit := range map[string]func(*event.Planning) *int{
		"clarification_request": func(c *event.Planning) *int { return &c.Replan.MaxClarifications },
		"task_redecomposition":  func(c *event.Planning) *int { return &c.Replan.MaxDecompositions },
		"goal_revision":         func(c *event.Planning) *int { return &c.Replan.MaxDecompositions },
		"full_replan":           func(c *event.Planning) *int { return &c.Replan.MaxDecompositions },
		"action_regeneration":   func(c *event.Planning) *int { return &c.Replan.MaxRegenerations },
		"retry":                 func(c *event.Planning) *int { return &c.Replan.MaxRetries },
		"partial_replan":        func(c *event.Planning) *int { return &c.Replan.MaxPartial },
		"plan_revision":         func(c *event.Planning) *int { return &c.MaxRevisions },
		"none":                  func(c *event.Planning) *int { return &c.Replan.MaxTotal }, // with additional actions
	} {
		for _, total := range []bool{false, true} {
			n := 0
			w := newPlanWorld(t, simple())
			c := &w.state.Config.Planning
			c.MaxActions, c.ReflectEvery, c.VerifyRounds, c.MaxRevisions, c.Replan = 20, 0, 0, 50, free
			*limit(c) = 2
			if total {
				*limit(c), c.Replan.MaxTotal = 50, 2
			}
			w.reply = failingPlanner(w.reply, kind, &n)
			w.tools["ws/run_command"] = &event.ToolReplied{Content: event.T("no"), IsError: true}
			for range 50 {
				w.rests = append(w.rests, []event.Body{&event.ResumeRequested{By: "command", Person: true}})
			}
			w.run()
			if got := w.state.Planning.Counts.Total; got != 2 {
				t.Errorf("%s, in total %v: %d replans", kind, total, got)
			}
		}
	}
}

// failingPlanner makes plans of ever new actions that fail, and always wants the same kind of replan.
func failingPlanner(plain func(*event.LLMRequested, *llm.Request) event.Body, kind string, n *int) func(*event.LLMRequested, *llm.Request) event.Body {
	return func(in *event.LLMRequested, r *llm.Request) event.Body {
		*n++
		more := ""
		switch in.Purpose {
		case "planning", "revision":
			return text(planOf(in.Purpose, fmt.Sprintf("run%d", *n)))
		case "work":
			return runs(fmt.Sprint(*n))
		case "replanning":
			switch kind {
			case "none":
				more = fmt.Sprintf(`,"additional_actions":[{"task_id":"run%d","tool":"ws/run_command","parameters":{},"purpose":"p"}]`, *n)
			case "clarification_request":
				more = `,"clarification_needed":true,"clarification_questions":["?"]`
			}
			return text(decision(kind, "execution", more))
		}
		return plain(in, r)
	}
}

// TestCommentRevisesOnce wants a comment to change the plan once where no
// reflections are made, and not for ever.
func TestCommentRevisesOnce(t *testing.T) {
	s := simple(reads("a1"), runs("run1"), reads("b1"))
	s["revision"] = []event.Body{text(planOf("revision", "b1"))}
	w := newPlanWorld(t, s)
	w.state.Config.Planning.ReflectEvery = 0
	w.before["5"] = []event.Body{&event.PauseRequested{By: "command"}}
	w.rests = [][]event.Body{{&event.ResumeRequested{By: "command", Person: true}}}
	w.comments = [][]event.Comment{nil, {{ID: "1", Author: "alice", Verdict: event.NewComment, Body: event.T("Do b1.")}}}
	w.run()
	revisions := 0
	for _, b := range w.all {
		if _, ok := b.(*event.PlanRevised); ok {
			revisions++
		}
	}
	if got, want := w.finished(), []string{"a1 success", "run1 success", "b1 success"}; revisions != 1 || !slices.Equal(got, want) {
		t.Errorf("%d revisions, the actions ended as %q", revisions, got)
	}
}
