package handlers

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/llm"
	"agent/projections"
)

// planConfig are the defaults of the configuration.
func planConfig() event.Planning {
	return event.Planning{Enabled: true, MaxActions: 100, Comments: "off", MaxHistory: 100, Understand: true, MinUnderstood: 0.7,
		Collect: true, MaxRetries: 2, Assume: true, MinAssumed: 0.5, ReflectEvery: 2, MaxRevisions: 3, VerifyRounds: 2,
		Replan: event.Replans{Enabled: true, MinConfidence: 0.5, AskConfidence: 0.3, MaxClarifications: 2, MaxDecompositions: 3,
			MaxRegenerations: 3, MaxRetries: 3, MaxPartial: 2, MaxReflected: 2, MaxTotal: 10, SameTrigger: 2}}
}

// script is what the model replies, in order, by the purpose of the call. The
// last reply of a list is given again and again.
type script map[string][]event.Body

func newPlanWorld(t *testing.T, replies script) *world {
	w := newWorld(t, "tools")
	w.state.Config.Planning = planConfig()
	w.state.Config.Limits.MaxCalls = 1000
	w.state.Config.ContextLength = 100_000
	w.steps = 2000
	w.tools["ws/read_file"] = &event.ToolReplied{Content: event.T("package a")}
	w.tools["ws/run_command"] = &event.ToolReplied{Content: event.T("exit code: 0")}
	w.reply = func(in *event.LLMRequested, _ *llm.Request) event.Body {
		if in.OutsideConversation() {
			return text("What was done.")
		}
		list := replies[in.Purpose]
		if len(list) == 0 {
			t.Fatalf("the script has no reply for %s:\n%s", in.Purpose, w.out.String())
		}
		if len(list) > 1 {
			replies[in.Purpose] = list[1:]
		}
		return list[0]
	}
	return w
}

const (
	understood = `{"phase":"request_understanding","request_understanding":{"task_type":"bug_fix","primary_goal":"Mend a.go","expected_deliverables":["a.go"],"constraints":[],"scope":{"in_scope":["a.go"],"out_of_scope":[]},"understanding_confidence":0.9,"ambiguities":["which branch"]},"comment":"I know what is asked."}`
	nothing    = `{"phase":"information_planning","information_needs":{"required_information":[],"collection_order":[],"skip_collection":true,"skip_reason":"all is known"}}`
	passed     = `{"phase":"verification","verification_passed":true,"issues_found":[],"placeholder_detected":{"count":0,"locations":[]},"additional_work_needed":false,"additional_actions":[],"completion_confidence":0.9,"comment":"All criteria are met."}`
	noRevision = `{"phase":"reflection","reflection":{"action_evaluated":"a1","status":"success","evaluation":"fine","issues_identified":[],"plan_revision_needed":false,"reasoning":""}}`
)

func planned(ids ...string) string { return planOf("planning", ids...) }

// planOf is a plan whose actions read a file, or run a command if their id begins with "run".
func planOf(phase string, ids ...string) string {
	type action struct {
		ID      string         `json:"task_id"`
		Type    string         `json:"action_type"`
		Tool    string         `json:"tool"`
		Args    map[string]any `json:"parameters"`
		Purpose string         `json:"purpose"`
	}
	var actions []action
	for _, id := range ids {
		tool := "ws/read_file"
		if strings.HasPrefix(id, "run") {
			tool = "ws__run_command"
		}
		actions = append(actions, action{id, "tool_call", tool, map[string]any{"path": id}, "do " + id})
	}
	plan := map[string]any{"execution_order": ids, "actions": actions}
	out := map[string]any{"phase": phase}
	switch phase {
	case "planning":
		out["goal_understanding"] = map[string]any{"main_objective": "Mend it", "success_criteria": []string{"tests pass"}, "constraints": []string{"keep the API"}, "context_analysis": ""}
		out["task_decomposition"] = map[string]any{"reasoning": "", "subtasks": []any{}}
		out["action_plan"] = plan
	default:
		out["plan_revision"] = map[string]any{"reason": "it must change", "changes": []any{}, "updated_action_plan": plan}
	}
	data, _ := json.Marshal(out)
	return string(data)
}

func revising(ids ...string) string {
	return strings.Replace(planOf("reflection", ids...), `{"phase"`, `{"reflection":{"action_evaluated":"x","status":"failure","evaluation":"bad","issues_identified":["i"],"plan_revision_needed":true,"reasoning":"r"},"phase"`, 1)
}

func decision(kind, target string, more string) string {
	return fmt.Sprintf(`{"replan_decision":{"replan_needed":%v,"confidence":0.9,"reasoning":"because","replan_type":%q,"target_phase":%q,"replan_level":1%s}}`, kind != "none", kind, target, more)
}

func reads(id string) event.Body { return native("ws__read_file", fmt.Sprintf(`{"path":%q}`, id)) }

func runs(id string) event.Body {
	return native("ws__run_command", fmt.Sprintf(`{"argv":[%q]}`, id))
}

var verifyMore = strings.NewReplacer(`"verification_passed":true`, `"verification_passed":false`, `"additional_work_needed":false`, `"additional_work_needed":true`,
	`"additional_actions":[]`, `"additional_actions":[{"task_id":"a1","tool":"ws/read_file","parameters":{},"purpose":"once more"}]`).Replace(passed)

// flaky makes the next calls of a tool fail.
func flaky(w *world, tool string, errors int) {
	ok := w.tools[tool]
	w.outcomes = func(in *event.ToolRequested) event.Body {
		if in.Server+"/"+in.Tool == tool && errors > 0 {
			errors--
			return &event.ToolReplied{Content: event.T("it is broken"), IsError: true}
		}
		return ok
	}
}

// TestPlanTranscripts plays whole goes by a plan.
func TestPlanTranscripts(t *testing.T) {
	needs := `{"information_needs":{"required_information":[{"id":"readme","category":"codebase","description":"what it is","purpose":"to know","collection_method":{"tool":"ws/read_file","parameters":{"path":"README.md"}},"can_assume":false},
		{"id":"style","description":"how code looks","collection_method":{"tool":"no/such","parameters":{}},"can_assume":true,"default_assumption":"gofmt"},
		{"id":"version","description":"which Go","collection_method":{"tool":"","parameters":{}},"can_assume":true,"default_assumption":""},
		{"id":"db_password","description":"a secret","collection_method":{"tool":"","parameters":{}},"can_assume":true,"default_assumption":"hunter2"}],
		"collection_order":["style","readme"],"skip_collection":false,"skip_reason":""}}`
	tests := map[string]func(*testing.T) *world{
		"plain": func(t *testing.T) *world {
			return newPlanWorld(t, script{"understanding": {text(understood)}, "information": {text(nothing)}, "planning": {text(planned("a1", "run1"))},
				"work": {reads("a1"), runs("run1")}, "verification": {text(passed)}})
		},
		"whole": func(t *testing.T) *world {
			w := newPlanWorld(t, script{"understanding": {text(understood)}, "information": {text(needs)},
				"assumption":   {text(`{"assumption":{"info_id":"wrong","assumed_value":"1.26","reasoning":"newest","confidence":0.4}}`)},
				"planning":     {text(planned("a1", "run1", "a2"))},
				"work":         {reads("a1"), runs("x"), runs("y"), runs("z"), text("It works now."), text("The file was right already."), runs("run2"), text("no more"), reads("a2"), reads("more")},
				"reflection":   {text(revising("run2", "a2")), text(noRevision)},
				"replanning":   {text(decision("retry", "execution", ""))},
				"verification": {runs("check"), text(verifyMore), text(passed)}})
			flaky(w, "ws/run_command", 4)
			return w
		},
		"paused_and_told": func(t *testing.T) *world { // scenario 7 of seeds/000
			w := newPlanWorld(t, script{"understanding": {text(understood)}, "information": {text(nothing)}, "planning": {text(planned("a1", "a2", "a3"))},
				"work": {reads("a1"), reads("a2"), reads("b1")}, "reflection": {text(revising("b1"))}, "verification": {text(passed)}})
			w.before["5"] = []event.Body{&event.PauseRequested{By: "signal_file"}}
			w.rests = [][]event.Body{{&event.ResumeRequested{By: "signal_file", Person: true}}}
			w.comments = [][]event.Comment{nil, {{ID: "1", Author: "alice", Verdict: event.NewComment, Body: event.T("この方針で進めてください")}}}
			return w
		},
		"asks": func(t *testing.T) *world {
			w := newPlanWorld(t, script{"understanding": {text(understood)}, "information": {text(nothing)}, "planning": {text(planned("run1", "a1"))},
				"work": {runs("1"), runs("2"), runs("3"), reads("a1")}, "reflection": {text(noRevision)}, "verification": {text(passed)},
				"replanning": {text(decision("clarification_request", "goal_understanding", `,"clarification_needed":true,"clarification_questions":["Which database?","Really?"]`))}})
			w.tools["ws/run_command"] = &event.ToolReplied{Content: event.T("refused"), IsError: true}
			w.rests = [][]event.Body{{&event.ResumeRequested{By: "comment"}}}
			w.comments = [][]event.Comment{nil, {{ID: "1", Author: "alice", Verdict: event.NewComment, Body: event.T("The small one.")}}}
			return w
		},
		"nobody_answers": func(t *testing.T) *world {
			w := newPlanWorld(t, script{"understanding": {text(understood)}, "information": {text(nothing)}, "planning": {text(planned("run1"))},
				"work": {runs("1"), runs("2"), runs("3")}, "reflection": {text(noRevision)}, "verification": {text(passed)},
				"replanning": {text(strings.Replace(decision("partial_replan", "execution", ""), "0.9", "0.4", 1))}})
			w.tools["ws/run_command"] = &event.ToolReplied{Content: event.T("refused"), IsError: true}
			w.rests = [][]event.Body{{&event.TimerFired{Until: w.now.AddDate(1, 0, 0)}}}
			return w
		},
		"unusable": func(t *testing.T) *world {
			hm := text("hm")
			return newPlanWorld(t, script{"understanding": {hm}, "information": {hm}, "planning": {hm, text(planned("a1", "a2", "a3"))},
				"work": {reads("a1"), reads("a2"), reads("a3")}, "reflection": {hm}, "verification": {hm}, "replanning": {hm}})
		},
		"no_plan": func(t *testing.T) *world {
			return newPlanWorld(t, script{"understanding": {text(understood)}, "information": {text(nothing)},
				"planning": {text(`{"phase":"planning","goal_understanding":{"main_objective":"x"},"action_plan":{"execution_order":[],"actions":[]}}`)}})
		},
	}
	for name, make := range tests {
		t.Run(name, func(t *testing.T) {
			w := make(t)
			golden(t, filepath.Join("testdata", "plan_"+name+".txt"), w.run())
			wantPrefixes(t, w)
		})
	}
}

// TestReplansEnd plays a model that fails at every action and always wishes the
// same: it comes to an end, whatever the wish is (B20).
func TestReplansEnd(t *testing.T) {
	for _, kind := range []string{"retry", "partial_replan", "action_regeneration", "plan_revision", "task_redecomposition", "goal_revision", "full_replan", "clarification_request", "none", "nonsense"} {
		for target := range 40 {
			target = target * 39 // twice the same target, or always another one
			n := 0
			w := newPlanWorld(t, script{"understanding": {text(understood)}, "information": {text(nothing)}, "planning": {text(planned("run1", "a1"))},
				"reflection": {text(revising("run2"))}, "revision": {text(planOf("revision", "run3", "a3"))}, "verification": {text(verifyMore)}})
			plain := w.reply
			w.reply = func(in *event.LLMRequested, r *llm.Request) event.Body {
				n++
				switch in.Purpose {
				case "work":
					return runs(fmt.Sprint(n))
				case "replanning":
					return text(decision(kind, fmt.Sprintf("t%d", n%(target+1)), `,"clarification_questions":["?"]`))
				}
				return plain(in, r)
			}
			w.state.Config.Planning.ContinueOnError = true // else a failure that no limit lets it mend is the end
			w.tools["ws/run_command"] = &event.ToolReplied{Content: event.T("no"), IsError: true}
			for range 5 {
				w.rests = append(w.rests, []event.Body{&event.ResumeRequested{By: "command", Person: true}})
			}
			w.run()
			c := w.state.Planning.Counts
			if w.state.Status != projections.Completed || !w.state.Last.Partial || c.Total > 10 || w.state.Planning.Begun > 100 {
				t.Fatalf("%s: %s after %d actions, %+v", kind, w.state.Status, w.state.Planning.Begun, c)
			}
			if target > 0 {
				break
			}
		}
	}
}

// TestFinishedStaysFinished: no revision, replan or verification reopens or
// skips an action (B8, B20, B21).
func TestFinishedStaysFinished(t *testing.T) {
	w := newPlanWorld(t, script{"understanding": {text(understood)}, "information": {text(nothing)}, "planning": {text(planned("a1", "a2", "a3"))},
		"work": {reads("a1"), reads("a2"), reads("n1"), reads("n2"), reads("more")}, "reflection": {text(revising("a2", "n1", "a1", "n2")), text(noRevision)},
		"verification": {text(verifyMore), text(passed)}})
	w.run()
	var begun []string
	for _, b := range w.all {
		if a, ok := b.(*event.ActionStarted); ok {
			begun = append(begun, a.Action)
		}
	}
	if want := []string{"a1", "a2", "n1", "n2", "a1-2"}; !slices.Equal(begun, want) {
		t.Errorf("done were %v, want %v", begun, want)
	}
	if w.state.Last == nil || w.state.Last.Partial {
		t.Errorf("%+v", w.state.Last)
	}
}

// TestMaxRevisions counts exactly: the limit is reached, not passed (lessons: off by one).
func TestMaxRevisions(t *testing.T) {
	for _, most := range []int{0, 1, 2} {
		n := 0
		w := newPlanWorld(t, script{"understanding": {text(understood)}, "information": {text(nothing)}, "planning": {text(planned("p1", "p2", "p3", "p4"))}, "verification": {text(passed)}})
		w.state.Config.Planning.MaxRevisions = most
		plain := w.reply
		w.reply = func(in *event.LLMRequested, r *llm.Request) event.Body {
			n++
			switch in.Purpose {
			case "work":
				return reads(fmt.Sprint(n))
			case "reflection":
				return text(revising(fmt.Sprintf("q%d", n), fmt.Sprintf("r%d", n), fmt.Sprintf("s%d", n)))
			}
			return plain(in, r)
		}
		w.run()
		if got := w.state.Planning.Counts.Revisions; got != most {
			t.Errorf("%d revisions, want %d", got, most)
		}
	}
}
