package shapes

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent/eventlog/event"
)

// summary is what a plan does, in short: id:tool(parameters)|purpose, or else the problem.
func summary(p event.ActionPlan, problem string) string {
	if problem != "" {
		return problem
	}
	var parts []string
	for i, a := range p.Actions {
		if p.Order[i] != a.ID {
			return "the order is not that of the actions"
		}
		parts = append(parts, a.ID+":"+a.Tool+string(a.Parameters)+a.Purpose)
	}
	return strings.Join(parts, " ")
}

func TestPlanVariants(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"sorted":                   {`{"action_plan":{"execution_order":["c","a"],"actions":[{"task_id":"a","tool":"x"},{"task_id":"b","tool":"y"},{"task_id":"c","tool":"z"}]}}`, "c:z{} a:x{} b:y{}"},
		"numbers as ids":           {`{"action_plan":{"execution_order":[2,1],"actions":[{"task_id":1,"tool":"x"},{"task_id":2,"tool":"y"}]}}`, "2:y{} 1:x{}"},
		"no ids":                   {`{"actions":[{"tool":"x"},{"task_id":"action_1","tool":"y"},{"tool":"z"}]}`, "action_2:x{} action_1:y{} action_3:z{}"},
		"same id":                  {`{"actions":[{"task_id":"a","tool":"x"},{"task_id":"a","tool":"y"},{"task_id":"a-2","tool":"z"}]}`, "a:x{} a-3:y{} a-2:z{}"},
		"unknown id in order":      {`{"execution_order":["q","b"],"actions":[{"task_id":"a","tool":"x"},{"task_id":"b","tool":"y"}]}`, "b:y{} a:x{}"},
		"texts":                    {`{"actions":["read it","write it"]}`, "action_1:{}read it action_2:{}write it"},
		"one text":                 {`{"action_plan":"read it"}`, "action_1:{}read it"},
		"plan of texts":            {`{"plan":["read it"],"comment":"x"}`, "action_1:{}read it"},
		"plan in words beside":     {`{"plan":"in words","action_plan":{"actions":[{"task_id":"a","tool":"x"}]}}`, "a:x{}"},
		"plan in a wrapper":        {`{"phase":"planning","plan":{"actions":[{"task_id":"a","tool":"x"}]}}`, "a:x{}"},
		"list in a plan":           {`{"action_plan":[{"id":"a","tool":"x"}]}`, "a:x{}"},
		"a list alone":             {"```json\n[{\"id\":\"a\",\"tool\":\"x\",\"parameters\":{\"actions\":[]}}]\n```", `a:x{"actions":[]}`},
		"list before the object":   {`Use ["a"]: {"action_plan":"b"}`, "action_1:{}b"},
		"a list in a text":         {`{"actions":"[{\"id\":\"a\",\"tool\":\"x\"}]"}`, "a:x{}"},
		"one action":               {`{"actions":{"id":"a","tool":"x"}}`, "a:x{}"},
		"subtasks":                 {`{"task_decomposition":{"subtasks":[{"id":"t","description":"D","required_tools":["x"]},"write"]}}`, "t:{}D task_1:{}write"},
		"subtasks, empty plan":     {`{"subtasks":[{"id":"t"}],"action_plan":{"actions":[]}}`, "t:{}t"},
		"subtasks as list":         {`{"task_decomposition":["a","b"],"execution_order":["task_2"]}`, "task_2:{}b task_1:{}a"},
		"parameters in a text":     {`{"actions":[{"id":"a","tool":"x","parameters":"{\"p\": 1.0}"}]}`, `a:x{"p":1.0}`},
		"args":                     {`{"actions":[{"id":"a","tool":"x","args":{"p":"<&>"}}]}`, `a:x{"p":"<&>"}`},
		"no parameters given":      {`{"actions":[{"id":"a","tool":"x","parameters":null},{"id":"b","tool":"x","parameters":" "},{"id":"c","tool":"x","parameters":[]}]}`, "a:x{} b:x{} c:x{}"},
		"parameters of no tool":    {`{"actions":[{"id":"a","purpose":"P","parameters":"none"},{"id":"b","tool":"none","purpose":"Q","parameters":3}]}`, "a:{}P b:{}Q"},
		"half a character":         {`{"actions":[{"id":"a","tool":"x","parameters":{"p":"\ud83d"}}]}`, `a:x{"p":"` + "\uFFFD" + `"}`},
		"large number":             {`{"actions":[{"id":"a","tool":"x","parameters":{"p":12345678901234567890}}]}`, `a:x{"p":12345678901234567890}`},
		"sub-plan under its key":   {`{"action_plan":{"action_plan":{"actions":[{"id":"a","tool":"x"}]}}}`, "a:x{}"},
		"the updated one is first": {`{"action_plan":{"actions":["old"]},"updated_action_plan":{"actions":["new"]}}`, "action_1:{}new"},
	} {
		p, problem := Plan(c.text)
		if got := summary(p.Actions, problem); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}

func TestPlanParts(t *testing.T) {
	p, problem := Plan(`{"goal_understanding":"reach it","success_criteria":"it runs","context":"old code","task_decomposition":{"reason":"R","subtasks":[{"id":1,"title":"T","dependencies":0,"complexity":"HIGH"},{"id":1,"estimated_complexity":"?"}]},"actions":["x"]}`)
	want := event.Plan{
		Goal: event.Goal{Objective: "reach it", Criteria: []string{"it runs"}, Constraints: []string{}, Context: "old code"},
		Decomposition: event.Decomposition{Reasoning: "R", Subtasks: []event.Subtask{
			{ID: "1", Description: "T", Dependencies: []string{"0"}, Complexity: "high", Tools: []string{}},
			{ID: "1-2", Dependencies: []string{}, Complexity: "medium", Tools: []string{}}}},
		Actions: event.ActionPlan{Order: []string{"action_1"}, Actions: []event.Action{{ID: "action_1", Type: "work", Parameters: raw("{}"), Purpose: "x"}}},
	}
	if diff := cmp.Diff(want, p); diff != "" || problem != "" {
		t.Errorf("problem %q\n%s", problem, diff)
	}
}

func TestRevisionVariants(t *testing.T) {
	for name, c := range map[string]struct{ text, want, reason, changes string }{
		"top level":        {`{"reason":"R","changes":["add it"],"updated_action_plan":{"actions":["x"]}}`, "action_1:{}x", "R", "modify_action add it"},
		"flags outside":    {`{"reason":"R","changes":{"type":"add action","description":"D"},"plan_revision":{"updated_action_plan":["x"]}}`, "action_1:{}x", "R", "add_action D"},
		"a plan":           {`{"phase":"revision","action_plan":{"actions":["x"]}}`, "action_1:{}x", "", ""},
		"reason as text":   {`{"plan_revision":"R","updated_plan":["x"]}`, "action_1:{}x", "R", ""},
		"reasoning":        {`{"plan_revision":{"reasoning":"R","actions":["x"],"changes":"none"}}`, "action_1:{}x", "R", ""},
		"list of actions":  {`["x","y"]`, "action_1:{}x action_2:{}y", "", ""},
		"subtasks instead": {`{"plan_revision":{"subtasks":["x"]}}`, "task_1:{}x", "", ""},
	} {
		r, problem := Revision(c.text)
		var said []string
		for _, change := range r.Changes {
			said = append(said, change.Type+" "+change.Details)
		}
		if got := summary(r.Actions, problem); got != c.want || r.Reason != c.reason || strings.Join(said, ",") != c.changes {
			t.Errorf("%s: %s, reason %q, changes %q", name, got, r.Reason, said)
		}
	}
}

// TestReflectionFlags is B20: the flag was read at the wrong level.
func TestReflectionFlags(t *testing.T) {
	plan := `{"updated_action_plan":{"actions":["x"]}}`
	for name, c := range map[string]struct {
		text         string
		needed, plan bool
	}{
		"nested":                 {`{"reflection":{"plan_revision_needed":true},"plan_revision":` + plan + `}`, true, true},
		"top level":              {`{"plan_revision_needed":true,"reflection":{},"plan_revision":` + plan + `}`, true, true},
		"in words":               {`{"reflection":{"plan_revision_needed":"yes"}}`, true, false},
		"not":                    {`{"reflection":{"plan_revision_needed":false},"plan_revision":` + plan + `}`, false, false},
		"not said, with a plan":  {`{"reflection":{},"plan_revision":` + plan + `}`, true, true},
		"not said, without":      {`{"reflection":{"status":"success"}}`, false, false},
		"plan inside":            {`{"reflection":{"plan_revision_needed":true,"plan_revision":` + plan + `}}`, true, true},
		"empty plan":             {`{"reflection":{"plan_revision_needed":true},"plan_revision":{"updated_action_plan":{"actions":[]}}}`, true, false},
		"empty plan, not said":   {`{"reflection":{},"plan_revision":{"updated_action_plan":{"actions":[]}}}`, false, false},
		"plan with bad argument": {`{"reflection":{"plan_revision_needed":true},"plan_revision":{"actions":[{"tool":"t","parameters":1}]}}`, true, false},
		"revision as flag":       {`{"reflection":{},"plan_revision":true}`, true, false},
		"revision declined":      {`{"reflection":{},"plan_revision":"no"}`, false, false},
	} {
		r, p, _, problem := Reflection(c.text)
		if r.RevisionNeeded != c.needed || (p != nil) != c.plan || problem != "" {
			t.Errorf("%s: needed %v, plan %v, problem %q", name, r.RevisionNeeded, p, problem)
		}
	}
}

func TestReflectionVariants(t *testing.T) {
	for text, want := range map[string]event.Reflection{
		`{"reflection":"went well"}`:                                                                     {Status: "partial", Evaluation: "went well", Issues: []string{}},
		`{"reflection":{"action_id":3,"status":"Succeeded","issues":"slow"}}`:                            {Action: "3", Status: "success", Issues: []string{"slow"}},
		`{"evaluation":"bad","status":"error","issues_identified":[{"issue":"I"},{"x":1},["a","b"],""]}`: {Status: "failure", Evaluation: "bad", Issues: []string{"I", `{"x":1}`, "a; b"}},
	} {
		r, _, _, problem := Reflection(text)
		if diff := cmp.Diff(want, r); diff != "" || problem != "" {
			t.Errorf("%s: problem %q\n%s", text, problem, diff)
		}
	}
}

func TestReplanVariants(t *testing.T) {
	for text, want := range map[string]struct {
		needed bool
		kind   string
		level  int
		sure   float64
	}{
		`{"replan_decision":{"replan_needed":true,"replan_type":"Partial Replan","replan_level":"2"}}`: {true, "partial_replan", 2, unsure},
		`{"replan_needed":"true","replan_decision":{"replan_type":"rethink","replan_level":4}}`:        {true, "task_redecomposition", 4, unsure},
		`{"replan_needed":true,"replan_type":"rethink","replan_level":9,"confidence":90}`:              {true, "none", 0, 0.9},
		`{"replan_needed":true}`: {true, "none", 0, unsure},
		`{"replan_needed":false,"replan_type":"full_replan","replan_level":5}`: {false, "none", 5, unsure},
		`{"replan_type":"retry"}`:                                  {true, "retry", 0, unsure},
		`{"replan_decision":"none"}`:                               {false, "none", 0, unsure},
		`{"replan_needed":1,"replan_level":-3,"confidence":"0.2"}`: {true, "none", 0, 0.2},
	} {
		r, problem := Replan(text)
		if r.Needed != want.needed || r.Type != want.kind || r.Level != want.level || r.Confidence != want.sure || problem != "" {
			t.Errorf("%s: %+v, problem %q", text, r, problem)
		}
	}
	r, _ := Replan(`{"replan_needed":true,"achievement_rate":0.25,"clarification_needed":"yes","clarification_questions":"Which?","additional_actions":["x","y"],"target_phase":"?"}`)
	if r.Achieved != 25 || !r.Clarify || r.Questions[0] != "Which?" || r.Additional[1].ID != "action_2" || r.Target != "" {
		t.Errorf("%+v", r)
	}
}

func TestVerificationVariants(t *testing.T) {
	for text, want := range map[string]struct {
		passed, more bool
		count        int
		places       int
	}{
		`{"verification_passed":true}`:                                                     {true, false, 0, 0},
		`{"verification":{"passed":"true","additional_work_needed":"no"}}`:                 {true, false, 0, 0},
		`{"verification":"passed"}`:                                                        {true, false, 0, 0},
		`{"verification_passed":false,"verification":{"additional_actions":["fix it"]}}`:   {false, true, 0, 0},
		`{"additional_work_needed":true}`:                                                  {false, true, 0, 0},
		`{"verification_passed":false,"placeholder_detected":{"count":"3"}}`:               {false, false, 3, 0},
		`{"verification_passed":false,"placeholder_detected":{"locations":"a.go"}}`:        {false, false, 1, 1},
		`{"verification_passed":false,"placeholder_detected":["a.go","b.go"]}`:             {false, false, 2, 2},
		`{"verification_passed":false,"placeholder_detected":true}`:                        {false, false, 1, 0},
		`{"verification_passed":true,"placeholder_detected":"none"}`:                       {true, false, 0, 0},
		`{"verification_passed":true,"placeholder_detected":{"count":0,"locations":null}}`: {true, false, 0, 0},
		`{"verification_passed":false,"placeholder_detected":"4"}`:                         {false, false, 4, 0},
	} {
		v, _, problem := Verification(text)
		if v.Passed != want.passed || v.MoreNeeded != want.more || v.Placeholders.Count != want.count || len(v.Placeholders.Locations) != want.places || problem != "" {
			t.Errorf("%s: %+v, problem %q", text, v, problem)
		}
	}
}

func TestUnderstandingVariants(t *testing.T) {
	for text, want := range map[string]event.Understanding{
		`{"request_understanding":"do it"}`: {TaskType: "unknown", Goal: "do it", Confidence: unsure},
		`{"request_understanding":{"goal":"G","scope":["a"],"ambiguities":["which?",{"description":"D","reason":"R"},{}]}}`: {TaskType: "unknown", Goal: "G", Confidence: unsure, Scope: event.Scope{In: []string{"a"}},
			Ambiguities: []event.Ambiguity{{Item: "which?"}, {Item: "D", Reasoning: "R"}}},
		`{"primary_goal":"G","task_type":"bug fix","expected_deliverables":"a patch","ambiguities":"none"}`: {TaskType: "bug fix", Goal: "G", Confidence: unsure, Deliverables: []string{"a patch"}},
	} {
		u, problem := Understanding(text)
		got, _ := json.Marshal(u)
		wanted, _ := json.Marshal(want)
		if filled := strings.ReplaceAll(string(wanted), "null", "[]"); filled != string(got) || problem != "" {
			t.Errorf("%s: problem %q\n%s\n%s", text, problem, got, filled)
		}
	}
}

func TestNeedsVariants(t *testing.T) {
	none := raw("{}")
	for text, want := range map[string]event.Needs{
		`{"information_needs":{"skip_collection":"yes","skip_reason":"clear"}}`: {Required: []event.Need{}, Order: []string{}, Skip: true, SkipReason: "clear"},
		`{"required_information":[]}`:                                           {Required: []event.Need{}, Order: []string{}, Skip: true},
		`{"information_needs":["the version",{"id":7,"category":"Context","collection_method":"s/read","can_assume":"true"},{"collection_method":"ask around"}],"collection_order":[7]}`: {
			Required: []event.Need{
				{ID: "7", Category: "context", Method: event.Method{Tool: "s/read", Parameters: none}, CanAssume: true},
				{ID: "info_1", Category: "codebase", Description: "the version", Method: event.Method{Parameters: none}},
				{ID: "info_2", Category: "codebase", Method: event.Method{Parameters: none}, Fallback: "ask around"}},
			Order: []string{"7", "info_1", "info_2"}},
		`{"required_information":[{"id":"a","tool":"t","parameters":"{\"p\":1}"}]}`: {
			Required: []event.Need{{ID: "a", Category: "codebase", Method: event.Method{Tool: "t", Parameters: raw(`{"p":1}`)}}}, Order: []string{"a"}},
	} {
		n, problem := Needs(text)
		if diff := cmp.Diff(want, n); diff != "" || problem != "" {
			t.Errorf("%s: problem %q\n%s", text, problem, diff)
		}
	}
}
