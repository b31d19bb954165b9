package shapes

import (
	"encoding/json"
	"slices"
	"strings"

	"agent/eventlog/event"
	"agent/internal/loosejson"
)

var (
	plan     = kind{[]string{"plan"}, "actions", []string{"action_plan", "actions", "task_decomposition", "subtasks", "goal_understanding", "updated_action_plan"}}
	revision = kind{[]string{"plan_revision", "revision"}, "reason", []string{"updated_action_plan", "updated_plan", "action_plan", "actions", "subtasks"}}
)

// Plan reads a plan. The ids of its actions and of its subtasks are unique and
// not empty, its actions stand in the order of execution, and their parameters
// are objects. Subtasks without any action become actions without a tool.
func Plan(reply string) (p event.Plan, problem string) {
	s, problem := plan.find(plan.listed(reply))
	if problem != "" {
		return event.Plan{}, problem
	}
	p = event.Plan{Goal: goal(s), Decomposition: decomposition(s)}
	if p.Actions, problem = actionPlan(s, p.Decomposition.Subtasks); problem != "" {
		return event.Plan{}, problem
	}
	if problem := check("planning", struct {
		event.Plan
		Comment string `json:"comment"`
	}{p, s.comment()}); problem != "" {
		return event.Plan{}, problem
	}
	return p, ""
}

// listed puts a reply that is a list, and not an object, under the key of actions.
func (k kind) listed(reply string) string {
	reply = loosejson.StripThinking(reply)
	start, end := strings.IndexByte(reply, '['), strings.LastIndexByte(reply, ']')
	if start < 0 || end < start || strings.IndexByte(reply[:start], '{') >= 0 {
		return reply
	}
	data := reply[start : end+1]
	entries, ok := asList(json.RawMessage(data))
	if !ok || strings.IndexByte(reply[end:], '{') >= 0 {
		return reply
	}
	for _, entry := range entries {
		o, isObject := asObject(entry)
		if !isObject && entry[0] != '"' || isObject && (scopes{o}).get(slices.Concat(k.names, k.marks)...) != nil {
			return reply
		}
	}
	return `{"actions":` + data + `}`
}

func goal(s scopes) event.Goal {
	s = append(scopeOf(s.get("goal_understanding"), "main_objective"), s...)
	return event.Goal{
		Objective:   s.text("main_objective", "objective"),
		Criteria:    s.list("success_criteria"),
		Constraints: s.list("constraints"),
		Context:     s.text("context_analysis", "context"),
	}
}

func decomposition(s scopes) event.Decomposition {
	raw := s.get("task_decomposition")
	o, ok := asObject(raw)
	if _, isList := asList(raw); isList {
		o = object{"subtasks": raw}
	} else if !ok {
		o = object{"reasoning": raw}
	}
	d := event.Decomposition{Reasoning: scopes{o}.text("reasoning", "reason"), Subtasks: []event.Subtask{}}
	for _, item := range items(append(scopes{o}, s...).get("subtasks")) {
		if t := subtask(item); (t.ID != "" || t.Description != "") && len(d.Subtasks) < maxItems {
			d.Subtasks = append(d.Subtasks, t)
		}
	}
	unique(d.Subtasks, "task", func(t *event.Subtask) *string { return &t.ID })
	return d
}

var complexities = []string{"low", "medium", "high"}

func subtask(raw json.RawMessage) event.Subtask {
	s := scopeOf(raw, "description")
	t := event.Subtask{
		ID:           s.id("id", "task_id"),
		Description:  s.text("description", "purpose", "title"),
		Dependencies: s.list("dependencies"),
		Complexity:   s.oneOf(complexities, "estimated_complexity", "complexity"),
		Tools:        s.list("required_tools"),
	}
	if t.Complexity == "" {
		t.Complexity = complexities[1]
	}
	return t
}

// Revision reads the reply of a revision. One without any action is a problem,
// and never an empty plan.
func Revision(reply string) (r event.Revision, problem string) {
	s, problem := revision.find(revision.listed(reply))
	if problem != "" {
		return event.Revision{}, problem
	}
	if r, problem = revised(s); problem != "" {
		return event.Revision{}, problem
	}
	if problem := check("revision", replyOf("plan_revision", r, s.comment())); problem != "" {
		return event.Revision{}, problem
	}
	return r, ""
}

func revised(s scopes) (event.Revision, string) {
	plan, problem := actionPlan(s, decomposition(s).Subtasks)
	return event.Revision{Reason: s.text("reason", "reasoning"), Changes: changes(s.get("changes")), Actions: plan}, problem
}

var changeTypes = []string{"add_action", "remove_action", "modify_action"}

// changes takes what is of no known type for a modification.
func changes(raw json.RawMessage) []event.Change {
	out := []event.Change{}
	for _, item := range items(raw) {
		s := scopeOf(item, "details")
		c := event.Change{Type: s.oneOf(changeTypes, "type"), Details: s.text("details", "description", "reason")}
		if c.Type == "" {
			c.Type = changeTypes[2]
		}
		if c.Details != "" && len(out) < maxItems {
			out = append(out, c)
		}
	}
	return out
}
