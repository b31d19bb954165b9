package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agent/eventlog/event"
)

// shapes are usable replies to the phases.
func (p *play) shapes() map[string][]string {
	id := func() string { return fmt.Sprint([]string{"a", "run", "b"}[p.roll(3)], p.roll(5)) }
	kinds := []string{"retry", "partial_replan", "action_regeneration", "plan_revision", "task_redecomposition", "goal_revision", "full_replan", "clarification_request", "none", "nonsense"}
	return map[string][]string{
		"understanding": {understood},
		"information":   {nothing, collecting, collecting},
		"assumption":    {`{"assumption":{"info_id":"version","assumed_value":"1.26","reasoning":"newest","confidence":0.4}}`},
		"planning":      {planned(id(), id(), id()), planned(id())},
		"reflection":    {noRevision, revising(id(), id())},
		"revision":      {planOf("revision", id(), id())},
		"replanning":    {decision(kinds[p.roll(len(kinds))], []string{"execution", "reflection"}[p.roll(2)], `,"clarification_questions":["?"]`)},
		"verification":  {passed, verifyMore, strings.Replace(passed, "true", "false", 1)},
		"work":          {"It is done."},
	}
}

const collecting = `{"information_needs":{"required_information":[{"id":"readme","description":"what it is","collection_method":{"tool":"ws/read_file","parameters":{"path":"README.md"}}},
	{"id":"version","description":"which Go","collection_method":{"tool":"","parameters":{}},"can_assume":true},{"id":"api_token","description":"a secret","can_assume":true,"default_assumption":"hunter2"}]}}`

// says is a reply of the model: usable, damaged, or not what was asked for.
func (p *play) says(in *event.LLMRequested) *event.LLMReplied {
	r := &event.LLMReplied{Finish: "stop", Usage: event.Usage{Prompt: 100, Completion: 10}}
	if in.OutsideConversation() {
		r.Text = event.T("What was done.")
		return r
	}
	forms := p.shapes()
	said := forms[in.Purpose][p.roll(len(forms[in.Purpose]))]
	switch n := p.roll(12); {
	case in.Purpose == "work" && n < 8, n == 0:
		p.calls(r)
		return r
	case n < 6:
	case n == 11:
		all := []string{"", " \n", "I cannot help with that.", "<think>" + said, said[:p.roll(len(said))], event.Shorten(strings.Repeat(said, 40), 20_000), "[" + said + "]", `{"done":true}`, "null", "\x00\ufffd"}
		said = all[p.roll(len(all))]
		r.Finish = []string{"stop", "length"}[p.roll(2)]
	default:
		said = p.damaged(said)
	}
	r.Text = event.T(said)
	return r
}

// calls are native ones, or one in JSON: of tools that are offered and of others.
func (p *play) calls(r *event.LLMReplied) {
	args := []string{`{"path":"a.go"}`, "{}", "", `"{\"path\":\"b.go\"}"`, "[1]", `{"path":`, fmt.Sprintf(`{"path":"f%d"}`, p.roll(1000)), `{"argv":["make"]}`}
	if p.state.Protocol() == "json" && p.roll(4) > 0 {
		r.Text = event.T(fmt.Sprintf(`{"command":{"tool":%q,"args":%s}}`, []string{"ws/read_file", "ws__run_command", "rm"}[p.roll(3)], []string{args[0], "{}", args[3], args[6], args[7]}[p.roll(5)]))
		return
	}
	names := []string{"ws__read_file", "ws__read_file", "ws/run_command", "ws_run_command", "rm", ""}
	for range 1 + p.roll(3)*p.roll(5) {
		id := []string{"", "c1", fmt.Sprint("c", p.roll(100))}[p.roll(3)]
		r.Calls = append(r.Calls, event.ToolCall{ID: id, Name: names[p.roll(len(names))], Args: event.T(args[p.roll(len(args))])})
	}
	r.Text = event.T([]string{"", "I look.", passed}[p.roll(3)])
}

// damaged changes a few values of a JSON text.
func (p *play) damaged(text string) string {
	var value any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return text
	}
	for range 1 + p.roll(3) {
		value = p.damage(value)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		p.t.Fatal(err)
	}
	return b.String()
}

func (p *play) damage(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if keys := slices.Sorted(maps.Keys(v)); len(keys) > 0 && p.roll(5) > 0 {
			key := keys[p.roll(len(keys))]
			if p.roll(5) == 0 {
				delete(v, key)
			} else {
				v[key] = p.damage(v[key])
			}
			return v
		}
	case []any:
		if len(v) > 0 && p.roll(5) > 0 {
			i := p.roll(len(v))
			v[i] = p.damage(v[i])
			return v
		}
	}
	return []any{nil, json.Number("-7"), "yes", []any{value, value}, map[string]any{"data": value}, true, false, map[string]any{}, []any{}, strings.Repeat("長い ", 300)}[p.roll(10)]
}
