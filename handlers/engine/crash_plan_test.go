package engine_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/llm"
	"agent/llm/llmtest"
	"agent/projections"
)

var every = flag.Int("every", 40, "disturb a plan at each n-th point only; 1 is all of them, as in make sweep")

// planned is a task that is done by a plan, through every phase: information
// that is not found, an action that fails, a question to people, a reflection
// that revises, a replan, a verification that fails and one that passes. It is
// paused in the middle of an action.
var planned = talk{"planned", byPlan, []func(*world) error{comments("The answer should be right."), comments("Please be exact.")}}

func byPlan(c *event.ConfigPinned) {
	c.Planning = event.Planning{Enabled: true, MaxActions: 20, Comments: "off", Checklist: true, MaxHistory: 10, Understand: true, MinUnderstood: 0.7,
		Collect: true, MaxRetries: 1, Assume: true, MinAssumed: 0.5, ReflectEvery: 2, MaxRevisions: 3, VerifyRounds: 2,
		Replan: event.Replans{Enabled: true, MinConfidence: 0.5, AskConfidence: 0.3, MaxClarifications: 2, MaxDecompositions: 1,
			MaxRegenerations: 1, MaxRetries: 1, MaxPartial: 2, MaxReflected: 2, MaxTotal: 5, SameTrigger: 2}}
}

// planGoals are what the actions of the plan want to see done.
var planGoals = map[string]goal{
	"journal": goals[1],
	"fix":     goals[2],
	"sign":    goals[3],
	"check":   goals[0],
}

// phaseOf gives the phase that the model is in, what it was told of it, and where.
func phaseOf(r llmtest.Request) (phase, told string, at int) {
	for i, m := range r.Messages {
		if m.Role == llm.User && strings.HasPrefix(m.Content, "Phase: ") {
			told, at = m.Content, i
		}
	}
	phase, _, _ = strings.Cut(strings.TrimPrefix(told, "Phase: "), "\n")
	return phase, told, at
}

// playPlan decides from the conversation alone, as playGoals does.
func (w *world) playPlan(r llmtest.Request) llmtest.Reply {
	phase, told, at := phaseOf(r)
	if phase != "execution" {
		return llmtest.Text(planReply(phase, told, r.Contains("The answer should be right.")))
	}
	_, id, _ := strings.Cut(told, "The action: ")
	id, _, _ = strings.Cut(id, "\n")
	if id == "fix" && w.once.CompareAndSwap(false, true) {
		w.raised.Store(true)
	}
	r.Messages = r.Messages[at:]
	return playAction(id, r)
}

func planReply(phase, step string, answered bool) string {
	switch {
	case strings.HasPrefix(phase, "understanding"):
		return `{"request_understanding":{"task_type":"bug_fix","primary_goal":"The notes are right","understanding_confidence":0.9}}`
	case strings.HasPrefix(phase, "planning what"):
		return `{"information_needs":{"required_information":[{"id":"notes","description":"what is wrong","collection_method":{"tool":"files/read","parameters":{"path":"notes.txt"}}},
			{"id":"tone","description":"how to write","collection_method":{"tool":"files/read","parameters":{"path":"TONE.md"}},"can_assume":true}]}}`
	case strings.HasPrefix(phase, "assumption"):
		return `{"assumption":{"info_id":"tone","assumed_value":"friendly","reasoning":"it is a note","confidence":0.8}}`
	case phase == "planning":
		return `{"goal_understanding":{"main_objective":"Right notes"},"action_plan":` + actionList("journal", "look") + `}`
	case phase == "reflection" && answered && !strings.Contains(step, "] fix:"):
		return `{"reflection":{"status":"partial","evaluation":"now I know","plan_revision_needed":true},"plan_revision":{"reason":"answered","updated_action_plan":` + actionList("fix", "seek") + `}}`
	case phase == "reflection":
		return `{"reflection":{"status":"success","evaluation":"fine","plan_revision_needed":false}}`
	case phase == "replan decision" && !answered:
		return `{"replan_decision":{"replan_needed":true,"confidence":0.9,"replan_type":"clarification_request","clarification_needed":true,"clarification_questions":["What should the answer be?"]}}`
	case phase == "replan decision":
		return `{"replan_decision":{"replan_needed":true,"confidence":0.9,"replan_type":"partial_replan","target_phase":"action_sequence","replan_level":2}}`
	case phase == "revision":
		return `{"plan_revision":{"reason":"check what there is","updated_action_plan":` + actionList("check") + `}}`
	case !strings.Contains(step, "[done] sign"):
		return `{"verification_passed":false,"additional_work_needed":true,"additional_actions":` + strings.TrimSuffix(strings.TrimPrefix(actionList("sign"), `{"actions":`), "}") + `}`
	}
	return `{"verification_passed":true,"completion_confidence":0.9,"comment":"` + closing + `"}`
}

func actionList(ids ...string) string {
	var all []string
	for _, id := range ids {
		tool := planGoals[id].tool
		if tool == "" {
			tool = "read"
		}
		all = append(all, fmt.Sprintf(`{"task_id":%q,"tool":"files/%s","parameters":{},"purpose":"%s"}`, id, tool, id))
	}
	return `{"actions":[` + strings.Join(all, ",") + `]}`
}

// playAction makes the call of an action. It looks before it makes one again.
func playAction(id string, r llmtest.Request) llmtest.Reply {
	results := resultsOf(r)
	g, known := planGoals[id]
	if !known { // there is no such file, however often it is looked for
		return llmtest.ToolCall("files__read", toolArgs{Path: fmt.Sprintf("%s-%d.txt", id, len(results))})
	}
	if n := len(results); n > 0 && strings.HasPrefix(results[n-1].text, "interrupted") {
		return llmtest.ToolCall("files__read", toolArgs{Path: g.args.Path})
	}
	if _, done := g.state(results); done {
		return llmtest.Text("It is done.")
	}
	return llmtest.ToolCall("files__"+g.tool, g.args)
}

// planEnd is what is left of a plan; nothing of it may depend on crashes.
func planEnd(s *projections.State) string {
	var b strings.Builder
	p := &s.Planning
	for _, a := range p.Actions {
		fmt.Fprintf(&b, "%s %s, %d retries, added %v\n", a.ID, a.Status, a.Retries, a.Added)
	}
	for _, id := range []string{"notes", "tone"} {
		if f := p.Found[id]; f != nil {
			fmt.Fprintf(&b, "%s is %s after %d tries\n", id, f.Status, f.Tries)
		}
	}
	fmt.Fprintf(&b, "%+v, begun %d, rounds %d, verified %v", p.Counts, p.Begun, p.Rounds, p.Verified)
	return b.String()
}

// TestKilledInAPlan kills the process, and cuts the power, at every operation
// of the disk and every contact: the same end, comments, files and plan, nothing
// done twice, no changed plan or counter lost (B8), and an exact replay.
func TestKilledInAPlan(t *testing.T) {
	w, want := planned.undisturbed(t)
	phases := map[string]bool{}
	for _, r := range w.model.Requests() {
		phase, _, _ := phaseOf(r)
		phases[phase] = true
	}
	if len(phases) != 10 { // with that of the summary, which is none
		t.Fatalf("the phases were %v", phases)
	}
	t.Logf("%d operations, %d contacts\n%s", want.operations, want.contacts, want.Plan)
	sweep(t, want, planPoints(want))
}

func planPoints(want reference) []talkPoint { return pointsOf(planned, want, *every) }

// pointsOf are the points at which a talk is disturbed, but for most: each n-th one.
func pointsOf(s talk, want reference, every int) (all []talkPoint) {
	for n := 1; n <= want.operations; n++ {
		for _, inside := range []bool{false, true} {
			all = append(all, talkPoint{point{name: fmt.Sprintf("operation %d, inside %v", n, inside), operation: n, inside: inside}, s})
		}
		all = append(all, talkPoint{point{name: fmt.Sprintf("power at operation %d", n), operation: n, inside: n%2 == 0, power: int64(n)}, s})
	}
	for n := int64(1); n <= want.contacts; n++ {
		for _, after := range []bool{false, true} {
			for _, power := range []int64{0, n} {
				all = append(all, talkPoint{point{name: fmt.Sprintf("contact %d, after %v, power %d", n, after, power), contact: n, after: after, power: power}, s})
			}
		}
	}
	var some []talkPoint
	for i := 0; i < len(all); i += every {
		some = append(some, all[i])
	}
	return some
}
