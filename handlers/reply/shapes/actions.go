package shapes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agent/eventlog/event"
)

// parameterKeys are the names that models give to the arguments of a tool.
var parameterKeys = []string{"parameters", "args", "arguments"}

// planKeys are the names of a sequence of actions. The updated one is looked for first.
var planKeys = []string{"updated_action_plan", "updated_plan", "action_plan"}

// types of an action for which the reply gives none.
const (
	typeTool = "tool_call"
	typeWork = "work" // it names no tool: how it is done shows when it is
)

// actionPlan reads the actions in s, and makes one of each subtask if there are none.
func actionPlan(s scopes, subtasks []event.Subtask) (event.ActionPlan, string) {
	raw := s.get(planKeys...)
	for range maxNested {
		o, ok := asObject(raw)
		if !ok {
			break
		}
		s = append(scopes{o}, s...)
		raw = s[:1].get(planKeys...)
	}
	if found := s.get("actions"); raw == nil {
		raw = found
	}
	list, problem := actions(raw)
	if len(list) == 0 && problem == "" {
		list = fromSubtasks(subtasks)
	}
	if len(list) == 0 && problem == "" {
		problem = `Your reply has no actions. Reply with at least one in "actions".`
	}
	if problem != "" {
		return event.ActionPlan{}, problem
	}
	order := arrange(list, s.list("execution_order"), "action", func(a *event.Action) *string { return &a.ID })
	return event.ActionPlan{Order: order, Actions: list}, ""
}

// actions reads a list of actions, in its order. It is never nil without a problem.
func actions(raw json.RawMessage) ([]event.Action, string) {
	found := items(raw)
	if len(found) > maxItems {
		return nil, tooMany(len(found))
	}
	out := make([]event.Action, 0, len(found))
	for i, item := range found {
		a, problem := action(item, i)
		if problem != "" {
			return nil, problem
		}
		out = append(out, a)
	}
	return out, ""
}

func tooMany(n int) string {
	return fmt.Sprintf("Your reply has %d actions; at most %d are possible. Make fewer, larger ones.", n, maxItems)
}

func action(raw json.RawMessage, i int) (event.Action, string) {
	o, ok := asObject(raw)
	if !ok && raw[0] == '"' {
		o, ok = object{"purpose": raw}, true
	}
	if !ok {
		return event.Action{}, fmt.Sprintf("Action %d is no JSON object.", i+1)
	}
	s := scopes{o}
	a := event.Action{
		ID:       s.id("task_id", "action_id", "id"),
		Type:     s.id("action_type", "type"),
		Purpose:  s.text("purpose", "description", "details", "title"),
		Expected: s.text("expected_outcome"),
		Fallback: s.text("fallback_strategy"),
	}
	var problem string
	if a.Tool, a.Parameters, problem = call(s, fmt.Sprintf("Action %d", i+1)); problem != "" {
		return event.Action{}, problem
	}
	if a.Tool == "" && strings.TrimSpace(a.Purpose) == "" {
		return event.Action{}, fmt.Sprintf(`Action %d has neither a "tool" nor a "purpose".`, i+1)
	}
	switch {
	case a.Type != "":
	case a.Tool != "":
		a.Type = typeTool
	default:
		a.Type = typeWork
	}
	return a, ""
}

// fromSubtasks makes one action without a tool of each subtask.
func fromSubtasks(subtasks []event.Subtask) []event.Action {
	out := make([]event.Action, 0, len(subtasks))
	for _, t := range subtasks {
		purpose := t.Description
		if purpose == "" {
			purpose = t.ID
		}
		out = append(out, event.Action{ID: t.ID, Type: typeWork, Parameters: json.RawMessage("{}"), Purpose: purpose})
	}
	return out
}

// call reads the tool that s names, if any, and its parameters. What names s to the model in problems.
func call(s scopes, what string) (tool string, parameters json.RawMessage, problem string) {
	raw := s.get("tool", "tool_name")
	if raw != nil && raw[0] != '"' {
		return "", nil, what + `: "tool" must be the name of a tool.`
	}
	tool = strings.TrimSpace(text(raw, maxText))
	if len(tool) > maxID {
		return "", nil, what + `: "tool" is too long to be the name of a tool.`
	}
	if nothing(tool) {
		tool = ""
	}
	parameters, ok := parametersOf(s.get(parameterKeys...))
	if !ok && tool != "" {
		return "", nil, what + `: "parameters" must be a JSON object, nested at most ` + strconv.Itoa(maxDepth) + ` deep.`
	}
	return tool, parameters, ""
}

// parametersOf gives an object as it is, and {} if there is none; ok is false
// if something else stands there. It is written anew, since the log takes
// neither half characters nor endless nesting.
func parametersOf(raw json.RawMessage) (out json.RawMessage, ok bool) {
	none := json.RawMessage("{}")
	if l, isList := asList(raw); isList && len(l) == 0 || !present(raw) {
		return none, true
	}
	if raw[0] == '"' && strings.TrimSpace(text(raw, maxText)) == "" {
		return none, true
	}
	data := unquoted(raw, '{')
	if _, isObject := asObject(data); !isObject || nesting(data) > maxDepth {
		return none, false
	}
	var value map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if dec.Decode(&value) != nil {
		return none, false
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil {
		return none, false
	}
	return bytes.TrimSpace(b.Bytes()), true
}

// arrange sorts list by the order of its ids; those that the order does not name
// come last, as they stand. Then it makes the ids unique and gives them in order.
func arrange[T any](list []T, order []string, prefix string, id func(*T) *string) []string {
	place := map[string]int{}
	for i, name := range slices.Backward(order) {
		place[cut(strings.Join(strings.Fields(name), " "), maxID)] = i
	}
	at := func(v T) int {
		if i, ok := place[*id(&v)]; ok {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(list, func(a, b T) int { return at(a) - at(b) })
	return unique(list, prefix, id)
}

// unique gives an id to those without one, and another to those whose id an earlier one has.
func unique[T any](list []T, prefix string, id func(*T) *string) []string {
	given := map[string]bool{}
	for i := range list {
		given[*id(&list[i])] = true
	}
	used := map[string]bool{}
	ids := make([]string, 0, len(list))
	for i := range list {
		p := id(&list[i])
		if *p == "" {
			*p = free(prefix, "_", given)
		} else if used[*p] {
			*p = free(*p, "-", given)
		}
		given[*p], used[*p] = true, true
		ids = append(ids, *p)
	}
	return ids
}

// free is the first numbered name that is not taken: prefix_1, or name-2, where the name itself is the first.
func free(name, sign string, taken map[string]bool) string {
	n := 1
	if sign == "-" {
		n = 2
	}
	for ; ; n++ {
		if numbered := name + sign + strconv.Itoa(n); !taken[numbered] {
			return numbered
		}
	}
}
