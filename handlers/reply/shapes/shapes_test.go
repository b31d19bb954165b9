package shapes

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"agent/eventlog/event"
)

// The reply of each phase as the documents show it.
var documented = map[string]string{
	"understanding": `{"phase":"request_understanding","request_understanding":{"task_type":"feature","primary_goal":"G","expected_deliverables":["D"],"constraints":["C"],
		"scope":{"in_scope":["I"],"out_of_scope":["O"]},"understanding_confidence":0.9,
		"ambiguities":[{"item":"A","possible_interpretations":["x","y"],"selected_interpretation":"x","reasoning":"R"}]},"comment":"said"}`,
	"information": `{"phase":"information_planning","information_needs":{"required_information":[
		{"id":"i1","category":"codebase","description":"D","purpose":"P","collection_method":{"tool":"s/read","parameters":{"path":"a"}},"fallback_strategy":"F","can_assume":true,"default_assumption":"A"}],
		"collection_order":["i1"],"skip_collection":false,"skip_reason":""},"comment":"said"}`,
	"assumption": `{"assumption":{"info_id":"i1","assumed_value":"V","reasoning":"R","confidence":0.8},"comment":"said"}`,
	"planning": `{"phase":"planning","goal_understanding":{"main_objective":"M","success_criteria":["S"],"constraints":["C"],"context_analysis":"X"},
		"task_decomposition":{"reasoning":"R","subtasks":[{"id":"t1","description":"D","dependencies":[],"estimated_complexity":"low","required_tools":["s/read"]}]},
		"action_plan":{"execution_order":["t1"],"actions":[{"task_id":"t1","action_type":"tool_call","tool":"s/read","parameters":{"path":"a"},"purpose":"P","expected_outcome":"E","fallback_strategy":"F"}]},"comment":"said"}`,
	"reflection": `{"phase":"reflection","reflection":{"action_evaluated":"t1","status":"failure","evaluation":"E","issues_identified":["I"],"root_cause":"C","plan_revision_needed":true,"reasoning":"R"},
		"plan_revision":{"reason":"why","changes":[{"type":"add_action","details":"D"}],"updated_action_plan":{"execution_order":["t2"],"actions":[{"task_id":"t2","action_type":"tool_call","tool":"s/x","parameters":{"n":1},"purpose":"P","expected_outcome":"E"}]}},"comment":"said"}`,
	"revision": `{"plan_revision":{"reason":"why","changes":[{"type":"add_action","details":"D"}],"updated_action_plan":{"execution_order":["t2"],"actions":[{"task_id":"t2","action_type":"tool_call","tool":"s/x","parameters":{"n":1},"purpose":"P","expected_outcome":"E"}]}},"comment":"said"}`,
	"replanning": `{"replan_decision":{"replan_needed":true,"confidence":0.8,"reasoning":"R","replan_type":"partial_replan","target_phase":"action_sequence","replan_level":2,"issues_found":["I"],"recommended_actions":["A"],
		"clarification_needed":false,"clarification_questions":[],"error_classification":"persistent","recovery_strategy":"S","affected_actions":["t1"],"evaluation_result":"failure","achievement_rate":40,"additional_actions":[],"assumptions_to_make":["X"]},"comment":"said"}`,
	"verification": `{"phase":"verification","verification_passed":false,"issues_found":["I"],"placeholder_detected":{"count":2,"locations":["a.go:1","b.go:2"]},"additional_work_needed":true,
		"additional_actions":[{"task_id":"v1","action_type":"tool_call","tool":"s/edit","parameters":{"path":"a.go"},"purpose":"P","expected_outcome":"E"}],"completion_confidence":0.6,"comment":"said"}`,
}

// read is what the function of a phase makes of a reply.
func read(phase, text string) (value any, problem string) {
	switch phase {
	case "understanding":
		return results(Understanding(text))
	case "information":
		return results(Needs(text))
	case "assumption":
		return results(Assumption(text))
	case "planning":
		return results(Plan(text))
	case "revision":
		return results(Revision(text))
	case "replanning":
		return results(Replan(text))
	case "verification":
		v, comment, problem := Verification(text)
		return checked{v, comment}, problem
	}
	r, plan, comment, problem := Reflection(text)
	return reflected{r, plan, comment}, problem
}

func results[T any](value T, problem string) (any, string) { return value, problem }

// reflected is all values of a reflection.
type reflected struct {
	Reflection event.Reflection
	Plan       *event.Revision
	Comment    string
}

// checked is both values of a verification.
type checked struct {
	Verification event.Verification
	Comment      string
}

var (
	actionT2 = event.ActionPlan{Order: []string{"t2"}, Actions: []event.Action{{ID: "t2", Type: "tool_call", Tool: "s/x", Parameters: raw(`{"n":1}`), Purpose: "P", Expected: "E"}}}
	revisedT = event.Revision{Reason: "why", Changes: []event.Change{{Type: "add_action", Details: "D"}}, Actions: actionT2}
	shown    = map[string]any{
		"understanding": event.Understanding{TaskType: "feature", Goal: "G", Deliverables: []string{"D"}, Constraints: []string{"C"}, Scope: event.Scope{In: []string{"I"}, Out: []string{"O"}}, Confidence: 0.9,
			Ambiguities: []event.Ambiguity{{Item: "A", Interpretations: []string{"x", "y"}, Selected: "x", Reasoning: "R"}}},
		"information": event.Needs{Order: []string{"i1"}, Required: []event.Need{{ID: "i1", Category: "codebase", Description: "D", Purpose: "P",
			Method: event.Method{Tool: "s/read", Parameters: raw(`{"path":"a"}`)}, Fallback: "F", CanAssume: true, Default: "A"}}},
		"assumption": event.Assumption{ID: "i1", Value: "V", Reasoning: "R", Confidence: 0.8},
		"planning": event.Plan{Goal: event.Goal{Objective: "M", Criteria: []string{"S"}, Constraints: []string{"C"}, Context: "X"},
			Decomposition: event.Decomposition{Reasoning: "R", Subtasks: []event.Subtask{{ID: "t1", Description: "D", Dependencies: []string{}, Complexity: "low", Tools: []string{"s/read"}}}},
			Actions:       event.ActionPlan{Order: []string{"t1"}, Actions: []event.Action{{ID: "t1", Type: "tool_call", Tool: "s/read", Parameters: raw(`{"path":"a"}`), Purpose: "P", Expected: "E", Fallback: "F"}}}},
		"reflection": reflected{event.Reflection{Action: "t1", Status: "failure", Evaluation: "E", Issues: []string{"I"}, RootCause: "C", RevisionNeeded: true, Reasoning: "R"}, &revisedT, "said"},
		"revision":   revisedT,
		"replanning": event.Replan{Needed: true, Confidence: 0.8, Reasoning: "R", Type: "partial_replan", Target: "action_sequence", Level: 2, Issues: []string{"I"}, Recommended: []string{"A"}, Questions: []string{},
			ErrorClass: "persistent", Recovery: "S", Affected: []string{"t1"}, Result: "failure", Achieved: 40, Additional: []event.Action{}, Assume: []string{"X"}},
		"verification": checked{event.Verification{Issues: []string{"I"}, Placeholders: event.Placeholders{Count: 2, Locations: []string{"a.go:1", "b.go:2"}}, MoreNeeded: true, Confidence: 0.6,
			Additional: []event.Action{{ID: "v1", Type: "tool_call", Tool: "s/edit", Parameters: raw(`{"path":"a.go"}`), Purpose: "P", Expected: "E"}}}, "said"},
	}
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// around are ways to say the same reply.
var around = map[string]func(string) string{
	"alone":              func(s string) string { return s },
	"prose":              func(s string) string { return "I {think} so:\n" + s + "\nIs that right?" },
	"fence":              func(s string) string { return "Here:\n```json\n" + s + "\n```" },
	"thoughts":           func(s string) string { return `<think>{"comment":"no","actions":[]}</think>` + s },
	"wrapped":            func(s string) string { return `{"result":{"output":` + s + `}}` },
	"in a list":          func(s string) string { return "[" + s + "]" },
	"in a text":          func(s string) string { return `{"content":` + quote(s) + `}` },
	"after other object": func(s string) string { return `{"x":1} ` + s },
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func TestDocumentedShapes(t *testing.T) {
	for phase, reply := range documented {
		for name, put := range around {
			got, problem := read(phase, put(reply))
			if diff := cmp.Diff(shown[phase], got); diff != "" || problem != "" {
				t.Errorf("%s, %s: problem %q\n%s", phase, name, problem, diff)
			}
		}
	}
}

// TestTopLevel: the shape's fields stand at the top level, without its key.
func TestTopLevel(t *testing.T) {
	for phase, key := range map[string]string{"understanding": "request_understanding", "information": "information_needs", "assumption": "assumption", "replanning": "replan_decision", "revision": "plan_revision", "reflection": "reflection"} {
		var reply map[string]json.RawMessage
		if err := json.Unmarshal([]byte(documented[phase]), &reply); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(reply[key], &reply); err != nil {
			t.Fatal(err)
		}
		delete(reply, key)
		text, _ := json.Marshal(reply)
		got, problem := read(phase, string(text))
		if diff := cmp.Diff(shown[phase], got); diff != "" || problem != "" {
			t.Errorf("%s: problem %q\n%s", phase, problem, diff)
		}
	}
}

func TestUnusable(t *testing.T) {
	many := `{"actions":[` + strings.Repeat(`"x",`, maxItems) + `"x"]}`
	deep := `{"tool":"t","parameters":` + strings.Repeat(`{"a":`, maxDepth) + `{}` + strings.Repeat(`}`, maxDepth) + `}`
	for _, c := range []struct{ phase, text, says string }{
		{"understanding", "no object", `"request_understanding"`},
		{"understanding", `{"phase":"request_understanding"}`, `"request_understanding"`},
		{"understanding", `{"task_type":"x","primary_goal":" "}`, `"primary_goal"`},
		{"understanding", documented["understanding"][:200], `"request_understanding"`},
		{"information", `{"required_information":[{"collection_method":{"tool":"t","parameters":[1]}}]}`, `Information 1: "parameters"`},
		{"assumption", `{"assumption":{"info_id":"a"}}`, `"assumed_value"`},
		{"planning", "", "no JSON object"},
		{"planning", `{"action_plan":{"execution_order":["a"],"actions":[]}}`, "no actions"},
		{"planning", `{"goal_understanding":{"main_objective":"x"}}`, "no actions"},
		{"planning", `{"actions":[{}]}`, `Action 1 has neither`},
		{"planning", `{"actions":["x",3]}`, `Action 2 is no JSON object`},
		{"planning", `{"actions":[{"tool":"t","parameters":"rm"}]}`, `Action 1: "parameters"`},
		{"planning", `{"actions":[{"tool":"t","parameters":[{"a":1}]}]}`, `Action 1: "parameters"`},
		{"planning", `{"actions":[` + deep + `]}`, `Action 1: "parameters"`},
		{"planning", `{"actions":[{"tool":{"name":"t"}}]}`, `"tool" must be`},
		{"planning", `{"actions":[{"tool":"` + strings.Repeat("t", maxID+1) + `"}]}`, `"tool" is too long`},
		{"planning", many, "101 actions"},
		{"planning", `{"tool":"t","parameters":{"actions":["x"]}}`, "no JSON object"},
		{"planning", strings.Repeat(`{"a":`, maxReply) + `{"actions":["x"]}` + strings.Repeat("}", maxReply), "no JSON object"},
		{"planning", `{"actions":["x"],"comment":` + strings.Repeat("[", maxReply) + strings.Repeat("]", maxReply) + `}`, "no JSON object"},
		{"revision", `{"plan_revision":{"reason":"x","changes":["y"]}}`, "no actions"},
		{"revision", `{"plan_revision":{"updated_action_plan":{"actions":[]}}}`, "no actions"},
		{"replanning", `{"replan_decision":{"confidence":0.9,"replan_level":4}}`, `"replan_needed"`},
		{"verification", `{"placeholder_detected":{"count":0}}`, `"verification_passed"`},
		{"verification", `{"verification_passed":false,"additional_actions":[{"tool":"t","parameters":1}]}`, `"parameters"`},
		{"reflection", `{"status":"success"}`, `"reflection"`},
	} {
		got, problem := read(c.phase, c.text)
		if !strings.Contains(problem, c.says) || strings.Contains(problem, "\n") {
			t.Errorf("%s %.80s: problem %q", c.phase, c.text, problem)
		}
		if zero, _ := read(c.phase, ""); !cmp.Equal(zero, got) {
			t.Errorf("%s %.80s: a problem, and %+v", c.phase, c.text, got)
		}
	}
}

func TestComment(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"top":            {`{"comment":"a","verification":{"verification_passed":true,"comment":"b"}}`, "a"},
		"in the shape":   {`{"verification":{"verification_passed":true,"comment":"b"}}`, "b"},
		"in the wrapper": {`{"comment":" c ","x":{"verification":{"verification_passed":true}}}`, "c"},
		"none":           {`{"comment":null,"verification":{"verification_passed":true}}`, ""},
		"lines":          {`{"comment":["a","b"],"verification":{"verification_passed":true}}`, "a; b"},
	} {
		if _, got, problem := Verification(c.text); got != c.want || problem != "" {
			t.Errorf("%s: %q, problem %q", name, got, problem)
		}
	}
	if _, got, _ := Verification(`{"additional_actions":[{"tool":"t","parameters":{"comment":"for the tool"}}]}`); got != "" {
		t.Errorf("an argument became the comment: %q", got)
	}
}

func TestCut(t *testing.T) {
	a, _ := Assumption(`{"assumption":{"info_id":"` + strings.Repeat("あ", 200) + `","assumed_value":"` + strings.Repeat("界", maxText+5) + `"}}`)
	if utf8.RuneCountInString(a.ID) != maxID || a.Value != strings.Repeat("界", maxText) {
		t.Errorf("%d and %d characters", utf8.RuneCountInString(a.ID), utf8.RuneCountInString(a.Value))
	}
	if a, _ := Assumption(`{"assumed_value":"a\u0000\u001b\r\n\tb\ud83d"}`); a.Value != "a\n\tb\uFFFD" {
		t.Errorf("%q", a.Value)
	}
	u, _ := Understanding(`{"primary_goal":"g","constraints":["` + strings.Repeat(`c","`, maxItems) + `c"]}`)
	if len(u.Constraints) != maxItems {
		t.Errorf("%d constraints", len(u.Constraints))
	}
}

// TestDeepTexts: lists in a text stay a text if they are too deep to be looked into.
func TestDeepTexts(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for text, want := range map[string][]string{deep(maxReply): {}, deep(maxReply + 1): {deep(maxReply + 1)}} {
		u, problem := Understanding(`{"primary_goal":"g","constraints":"` + text + `"}`)
		if !cmp.Equal(u.Constraints, want) || problem != "" {
			t.Errorf("%d deep: %q, problem %q", len(text)/2, u.Constraints, problem)
		}
	}
}

func TestConfidence(t *testing.T) {
	for said, want := range map[string]float64{
		"0.7": 0.7, "85": 0.85, `"85%"`: 0.85, `"0.6"`: 0.6, "-1": 0, "1.2": 1, "1": 1, "1000": 1, `"high"`: 0.9, `"Low"`: 0.3,
		"null": unsure, `"NaN"`: unsure, `"sure"`: unsure, "{}": unsure, "[1]": unsure, "1e999": unsure,
	} {
		a, problem := Assumption(fmt.Sprintf(`{"assumption":{"assumed_value":"v","confidence":%s}}`, said))
		if a.Confidence != want || problem != "" {
			t.Errorf("%s: %v, problem %q", said, a.Confidence, problem)
		}
	}
}

func TestSchema(t *testing.T) {
	for phase, reply := range documented {
		var value any
		if err := json.Unmarshal([]byte(reply), &value); err != nil {
			t.Fatal(err)
		}
		if err := compiled[phase]().Validate(value); err != nil {
			t.Errorf("%s: the documented reply does not fit: %v", phase, err)
		}
		if check(phase, map[string]any{}) == "" {
			t.Errorf("%s: an empty object fits", phase)
		}
		if !json.Valid(Schema(phase)) {
			t.Errorf("%s: no schema", phase)
		}
	}
	if len(documented) != len(compiled) || Schema("execution") != nil {
		t.Error("not every phase with a schema has a documented reply")
	}
}
