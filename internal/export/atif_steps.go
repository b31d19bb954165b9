package export

import (
	"encoding/json"
	"fmt"

	"agent/eventlog/event"
	"agent/projections"
)

// add takes every event in order.
func (t *trajectory) add(ev event.Event) {
	switch b := ev.Body.(type) {
	case *event.MessageAdded:
		t.said(ev, b)
	case *event.LLMRequested:
		t.purpose = b.Purpose
	case *event.LLMReplied:
		t.replied(ev, b)
	case *event.LLMFailed:
		t.failed++
		if b.Usage != (event.Usage{}) {
			t.spend(b.Usage, b.CostUSD)
		}
	case *event.ToolRequested:
		t.called(ev, b)
	case *event.ToolReplied:
		t.result(ev, b.Content.View(), map[string]any{"is_error": !projections.Succeeded(b)})
	case *event.ToolFailed:
		t.result(ev, b.Message, map[string]any{"is_error": true, "kind": b.Kind})
	case *event.ToolInterrupted:
		t.result(ev, b.Reason, map[string]any{"is_error": true, "kind": event.Interrupted})
	case *event.SummaryAdded:
		t.summary(ev, b)
	}
}

func (t *trajectory) said(ev event.Event, b *event.MessageAdded) {
	source := b.Role
	switch b.Role {
	case "system", "user":
	default: // what an earlier attempt said: it is context here
		source = "user"
	}
	step := t.next(ev, source, b.Content.View())
	step.Extra["purpose"] = b.Purpose
}

func (t *trajectory) replied(ev event.Event, b *event.LLMReplied) {
	step := t.next(ev, "agent", b.Text.View())
	one := 1
	step.Model, step.Reasoning, step.LLMCalls = b.Model, b.Reasoning.View(), &one
	step.Extra["purpose"], step.Extra["finish"] = t.purpose, b.Finish
	step.Metrics = &atifMetrics{Prompt: b.Usage.Prompt, Completion: b.Usage.Completion, Cached: b.Usage.Cached, CostUSD: b.CostUSD}
	if b.Usage.Estimated {
		step.Metrics.Extra = map[string]any{"estimated": true}
	}
	seen := map[string]bool{}
	for i, call := range b.Calls {
		id := call.ID
		if id == "" || seen[id] { // a call that was written as text has none
			id = callID(ev.Seq, i)
		}
		seen[id] = true
		step.Calls = append(step.Calls, atifArgs(atifCall{ID: id, Name: call.Name}, call.Args.View()))
	}
	t.spend(b.Usage, b.CostUSD)
}

// spend adds what a call took to the sum.
func (t *trajectory) spend(u event.Usage, usd float64) {
	t.total.Prompt += u.Prompt
	t.total.Completion += u.Completion
	t.total.Cached += u.Cached
	t.spent += usd
	if usd == 0 {
		t.unknown++
	}
}

func callID(reply uint64, index int) string { return fmt.Sprintf("call-%d-%d", reply, index) }

// atifArgs are arguments as an object. What a model sent that is none stands beside it.
func atifArgs(call atifCall, args string) atifCall {
	var object map[string]any
	if json.Unmarshal([]byte(args), &object) == nil && object != nil {
		call.Args = json.RawMessage(args)
		return call
	}
	call.Args = json.RawMessage("{}")
	if args != "" {
		call.Extra = map[string]any{"raw_arguments": args}
	}
	return call
}

// called notes which call of the latest reply is carried out. One that no reply asked
// for is a step of its own, without a model.
func (t *trajectory) called(ev event.Event, b *event.ToolRequested) {
	if b.Setup || t.step == nil || t.reply != b.Reply {
		step := t.next(ev, "agent", "")
		none := 0
		step.LLMCalls = &none
		step.Calls = []atifCall{atifArgs(atifCall{ID: callID(ev.Seq, 0), Name: b.Name()}, b.Args.View())}
		t.open[ev.Seq] = callID(ev.Seq, 0)
		return
	}
	if b.Index < len(t.step.Calls) {
		t.open[ev.Seq] = t.step.Calls[b.Index].ID
	}
}

// result adds what came of a call. Of one whose step is over already, only that is lost
// which stands in the log as well.
func (t *trajectory) result(ev event.Event, text string, extra map[string]any) {
	id, ok := t.open[ev.Cause]
	delete(t.open, ev.Cause)
	if !ok || t.step == nil || t.step.Source != "agent" || !t.step.has(id) {
		return
	}
	if t.step.Observation == nil {
		t.step.Observation = &atifObservation{}
	}
	extra["seq"] = ev.Seq
	t.step.Observation.Results = append(t.step.Observation.Results, atifResult{id, text, extra})
}

func (s *atifStep) has(call string) bool {
	for _, c := range s.Calls {
		if c.ID == call {
			return true
		}
	}
	return false
}

// summary is a step of the system: the model's window holds it instead of what it covers.
func (t *trajectory) summary(ev event.Event, b *event.SummaryAdded) {
	step := t.next(ev, "system", b.Text.View())
	step.Extra["context_management"] = map[string]any{"type": "compaction", "purpose": b.Purpose, "from_seq": b.From, "to_seq": b.To,
		"tokens_before": b.Original, "tokens_after": b.Tokens}
}
