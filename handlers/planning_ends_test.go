package handlers

import (
	"slices"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/projections"
)

// TestContinueOnError wants planning.continue_on_error to do what its line says: an
// action that failed for good ends the attempt, or does not.
func TestContinueOnError(t *testing.T) {
	classed := func(kind, class string) event.Body {
		return text(decision(kind, "execution", `,"error_classification":"`+class+`"`))
	}
	for name, c := range map[string]struct {
		replan  []event.Body // nil: no replanning
		forGood bool
	}{
		"no replanning":            {nil, true},
		"the model sees no way":    {[]event.Body{classed("none", "fatal")}, true},
		"it will not pass":         {[]event.Body{classed("none", "persistent")}, true},
		"a retry is refused":       {[]event.Body{text(decision("retry", "execution", ""))}, true},
		"it goes on as planned":    {[]event.Body{text(decision("none", "execution", ""))}, false},
		"it passes":                {[]event.Body{classed("none", "transient")}, false},
		"nothing usable is said":   {[]event.Body{text("hm")}, false},
		"the model is not sure":    {[]event.Body{text(strings.Replace(decision("retry", "execution", ""), "0.9", "0.1", 1))}, false},
		"another plan is made":     {[]event.Body{text(decision("action_regeneration", "action_sequence", ""))}, false},
		"a fatal one is replanned": {[]event.Body{classed("action_regeneration", "fatal")}, false},
	} {
		for _, goesOn := range []bool{false, true} {
			s := simple(runs("1"), runs("2"), runs("3"), reads("a1"))
			s["planning"] = []event.Body{text(planned("run1", "a1"))}
			s["revision"] = []event.Body{text(planOf("revision", "a1"))}
			s["replanning"] = c.replan
			w := newPlanWorld(t, s)
			p := &w.state.Config.Planning
			p.ContinueOnError, p.Replan.Enabled, p.Replan.MaxRetries = goesOn, c.replan != nil, 0
			flaky(w, "ws/run_command", 3)
			w.run()
			want, status := []string{"run1 failed", "a1 success"}, projections.Completed
			if c.forGood && !goesOn {
				want, status = want[:1], projections.Failed
			}
			if got := w.finished(); !slices.Equal(got, want) || w.state.Status != status {
				t.Errorf("%s, continue %v: %q, %s; want %q, %s", name, goesOn, got, w.state.Status, want, status)
			}
			if status == projections.Failed && !strings.Contains(w.said("failed"), "run1: ws/run_command: it is broken") {
				t.Errorf("%s: the comment does not say what failed:\n%s", name, w.said("failed"))
			}
		}
	}
}

// TestActionIsShown wants an action to be ticked only if its tool ran, or if the
// model says what was done instead: a bare "done" of a model that did nothing used to do.
func TestActionIsShown(t *testing.T) {
	done := text(`{"done":true}`)
	says := func(words string) event.Body { return text(`{"done":true,"comment":"` + words + `"}`) }
	calls := func(tool string) event.Body { return text(`{"command":{"tool":"` + tool + `","args":{"path":"x"}}}`) }
	for name, c := range map[string]struct {
		work  []event.Body
		asked int
		want  string
	}{
		"its tool ran":                  {[]event.Body{calls("ws/read_file")}, 0, "success"},
		"nothing ran, nothing is said":  {[]event.Body{done, done}, 1, "failed"},
		"nothing ran":                   {[]event.Body{says("Done."), says("The file is right already.")}, 1, "success"},
		"it ran when asked":             {[]event.Body{says("Done."), calls("ws/read_file")}, 1, "success"},
		"another ran, and it says so":   {[]event.Body{calls("ws/run_command"), says("I ran cat instead.")}, 0, "success"},
		"another ran, no words":         {[]event.Body{calls("ws/run_command"), done, done}, 1, "failed"},
		"another ran, words when asked": {[]event.Body{calls("ws/run_command"), done, says("I ran cat instead.")}, 1, "success"},
	} {
		w := newPlanWorld(t, simple(c.work...))
		w.state.Config.Protocol = "json"
		w.state.Config.Planning.Replan.Enabled = false
		s := simple(c.work...)
		s["planning"] = []event.Body{text(planned("a1"))}
		w.reply = newPlanWorld(t, s).reply
		w.run()
		asked := 0
		for _, b := range w.all {
			if m, ok := b.(*event.MessageAdded); ok && m.Purpose == event.NotCalledMessage {
				asked++
			}
		}
		if got := w.finished(); asked != c.asked || len(got) == 0 || got[0] != "a1 "+c.want {
			t.Errorf("%s: asked %d times, ended as %q; want %d, %s", name, asked, got, c.asked, c.want)
		}
	}
}

// TestFailedPlanRound wants a round that answers the author, and fails, to leave what
// was completed as it is, also of a plan: the next answer is listened to.
func TestFailedPlanRound(t *testing.T) {
	hm, empty := text("hm"), &event.LLMFailed{Kind: "empty", Message: "no text"}
	for name, c := range map[string]struct {
		more   string // the plan after the first answer
		broken int    // calls that fail
		replan []event.Body
		work   []event.Body
	}{
		"an action fails":    {"run1", 3, nil, []event.Body{runs("1"), runs("2"), runs("3"), reads("a3")}},
		"it sees no way":     {"run1", 3, []event.Body{text(decision("none", "execution", `,"error_classification":"fatal"`))}, []event.Body{runs("1"), runs("2"), runs("3"), reads("a3")}},
		"replies are broken": {"run1", 0, nil, []event.Body{empty, empty, empty, empty, empty, reads("a3")}},
		"no plan is made":    {"run1", 3, []event.Body{text(decision("full_replan", "task_decomposition", ""))}, []event.Body{runs("1"), runs("2"), runs("3"), reads("a3")}},
	} {
		t.Run(name, func(t *testing.T) {
			s := simple(append([]event.Body{reads("a1")}, c.work...)...)
			s["planning"] = []event.Body{text(planned("a1"))}
			s["replanning"] = c.replan
			s["reflection"] = []event.Body{text(revising(c.more)), text(noRevision), text(revising("a3")), text(noRevision)}
			if c.broken == 0 {
				s["reflection"] = []event.Body{text(revising(c.more)), text(revising("a3")), text(noRevision)}
			}
			if name == "no plan is made" {
				s["planning"] = []event.Body{text(planned("a1")), hm, hm, hm, hm, hm, text(planned("a3"))}
			}
			w := newPlanWorld(t, s)
			w.state.Config.FollowUp = event.FollowUp{Enabled: true, MaxRounds: 5, TimeoutHours: 1}
			w.state.Config.Planning.Replan.Enabled = c.replan != nil
			flaky(w, "ws/run_command", c.broken)
			answer := []event.Body{&event.ResumeRequested{By: "comment"}}
			w.rests = [][]event.Body{answer, answer}
			w.comments = [][]event.Comment{nil, {{ID: "1", Author: "alice", Verdict: event.NewComment, Body: event.T("Now also run it.")}},
				{{ID: "2", Author: "alice", Verdict: event.NewComment, Body: event.T("Then read a3.")}}}
			w.run()
			if n := strings.Count(w.out.String(), "comment.requested  round"); n != 1 || w.state.Status != projections.Awaiting || w.state.Await.Rounds != 2 {
				t.Errorf("%d rounds were said to have failed, %s after %d rounds:\n%s", n, w.state.Status, w.state.Await.Rounds, w.out.String())
			}
			if got := w.finished(); got[len(got)-1] != "a3 success" {
				t.Errorf("the actions ended as %q", got)
			}
		})
	}
}

// TestCallsThatPeopleSee: limits count the model calls that were begun; people are told
// of the turns that were completed (seeds/003 §4.3.1), in the comment and in its folded part.
func TestCallsThatPeopleSee(t *testing.T) {
	down := &event.LLMFailed{Kind: "transient", Message: "503"}
	w := newWorld(t, "json", text(`{"command":{"tool":"ws/run_command","args":{"argv":["1"]},"comment":"One."}}`), down, down)
	w.tools["ws/run_command"] = &event.ToolReplied{Content: event.T("exit code: 0")}
	w.state.Config.Limits.MaxCalls = 3
	w.run()
	said := w.said("completed")
	for _, want := range []string{"the limit of 3 model calls was reached", "Model calls: 1 · tool calls: 1", "Other model calls that count towards the limit (no reply, or a summary): 2"} {
		if !strings.Contains(said, want) {
			t.Errorf("the comment lacks %q:\n%s", want, said)
		}
	}
	if got := w.said("progress"); !strings.Contains(got, "Model calls: 1 · tool calls: 1") {
		t.Errorf("the progress comment says\n%s", got)
	}
}
