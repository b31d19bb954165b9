package shapes

import (
	"encoding/json"
	"fmt"
	"strings"

	"agent/eventlog/event"
)

var (
	understanding = kind{[]string{"request_understanding", "understanding"}, "primary_goal", []string{"primary_goal", "task_type"}}
	needs         = kind{[]string{"information_needs"}, "required_information", []string{"required_information", "skip_collection"}}
	assumption    = kind{[]string{"assumption"}, "assumed_value", []string{"assumed_value"}}
)

// Understanding reads what the model takes a task to be. A reply without a goal is a problem.
func Understanding(reply string) (u event.Understanding, problem string) {
	s, problem := understanding.find(reply)
	if problem != "" {
		return event.Understanding{}, problem
	}
	u = event.Understanding{
		TaskType:     s.id("task_type"),
		Goal:         s.text("primary_goal", "main_goal", "goal"),
		Deliverables: s.list("expected_deliverables", "deliverables"),
		Constraints:  s.list("constraints"),
		Scope:        scope(s.get("scope")),
		Confidence:   s.confidence("understanding_confidence", "confidence"),
		Ambiguities:  ambiguities(s.get("ambiguities")),
	}
	if u.TaskType == "" {
		u.TaskType = "unknown"
	}
	if strings.TrimSpace(u.Goal) == "" {
		return event.Understanding{}, `Your reply has no "primary_goal". Say what the task is to achieve.`
	}
	if problem := check("understanding", replyOf("request_understanding", u, s.comment())); problem != "" {
		return event.Understanding{}, problem
	}
	return u, ""
}

// replyOf is a reply with one shape under its key.
func replyOf(key string, shape any, comment string) map[string]any {
	return map[string]any{key: shape, "comment": comment}
}

// scope takes a text or a list for what is in the scope.
func scope(raw json.RawMessage) event.Scope {
	o, ok := asObject(raw)
	if !ok {
		return event.Scope{In: list(raw), Out: []string{}}
	}
	return event.Scope{In: scopes{o}.list("in_scope", "in"), Out: scopes{o}.list("out_of_scope", "out")}
}

func ambiguities(raw json.RawMessage) []event.Ambiguity {
	out := []event.Ambiguity{}
	for _, item := range items(raw) {
		s := scopeOf(item, "item")
		a := event.Ambiguity{
			Item:            s.text("item", "description"),
			Interpretations: s.list("possible_interpretations", "interpretations"),
			Selected:        s.text("selected_interpretation"),
			Reasoning:       s.text("reasoning", "reason"),
		}
		if a.Item != "" && len(out) < maxItems {
			out = append(out, a)
		}
	}
	return out
}

// Needs reads which information must be known before a plan can be made.
// Ids are unique, and the information stands in the order of collection. A reply
// that needs none skips the collection.
func Needs(reply string) (n event.Needs, problem string) {
	s, problem := needs.find(reply)
	if problem != "" {
		return event.Needs{}, problem
	}
	n = event.Needs{Required: []event.Need{}, SkipReason: s.text("skip_reason")}
	n.Skip, _ = s.flag("skip_collection")
	for i, item := range items(s.get("required_information")) {
		if i == maxItems {
			break
		}
		need, problem := need(item, i)
		if problem != "" {
			return event.Needs{}, problem
		}
		n.Required = append(n.Required, need)
	}
	n.Order = arrange(n.Required, s.list("collection_order"), "info", func(n *event.Need) *string { return &n.ID })
	n.Skip = n.Skip || len(n.Required) == 0
	if problem := check("information", replyOf("information_needs", n, s.comment())); problem != "" {
		return event.Needs{}, problem
	}
	return n, ""
}

var categories = []string{"codebase", "context", "external"}

func need(raw json.RawMessage, i int) (event.Need, string) {
	s := scopeOf(raw, "description")
	n := event.Need{
		ID:          s.id("id", "info_id"),
		Category:    s.oneOf(categories, "category"),
		Description: s.text("description"),
		Purpose:     s.text("purpose"),
		Fallback:    s.text("fallback_strategy", "fallback"),
		Default:     s.text("default_assumption"),
	}
	n.CanAssume, _ = s.flag("can_assume")
	if n.Category == "" {
		n.Category = categories[0]
	}
	method := s.get("collection_method")
	m, ok := asObject(method)
	if said := text(method, maxText); !ok && strings.ContainsAny(said, " \n　、。") {
		n.Fallback = strings.TrimSpace(n.Fallback + " " + said) // prose names no tool
	} else if !ok {
		m = object{"tool": method}
	}
	var problem string
	n.Method.Tool, n.Method.Parameters, problem = call(append(scopes{m}, s...), fmt.Sprintf("Information %d", i+1))
	return n, problem
}

// Assumption reads what stands for information that was not found. Its id is empty if the reply names none.
func Assumption(reply string) (a event.Assumption, problem string) {
	s, problem := assumption.find(reply)
	if problem != "" {
		return event.Assumption{}, problem
	}
	a = event.Assumption{
		ID:         s.id("info_id", "id"),
		Value:      s.text("assumed_value", "value"),
		Reasoning:  s.text("reasoning", "reason"),
		Confidence: s.confidence("confidence"),
	}
	if strings.TrimSpace(a.Value) == "" {
		return event.Assumption{}, `Your reply has no "assumed_value". Say what you assume.`
	}
	if problem := check("assumption", replyOf("assumption", a, s.comment())); problem != "" {
		return event.Assumption{}, problem
	}
	return a, ""
}
