package export

import (
	"cmp"

	"agent/eventlog/event"
	"agent/projections"
)

// asked begins the span of a model call. Its texts are the messages that no earlier
// call had: the conversation as a whole would be in the trace once for every call.
func (f *spans) asked(ev event.Event, b *event.LLMRequested) {
	s := f.begin(ev, "chat "+b.Model, kindClient)
	s.Attributes = append(s.Attributes, attr("gen_ai.operation.name", "chat"), attr("gen_ai.conversation.id", f.UUID),
		attr("gen_ai.request.model", b.Model), attr("agent.purpose", b.Purpose), number("agent.attempt", b.Attempt))
	set(&s.Attributes, "gen_ai.provider.name", f.from)
	if f.Content && len(f.fresh) > 0 {
		if data, err := f.marshal(f.fresh); err == nil {
			set(&s.Attributes, "gen_ai.input.messages", string(data))
		}
	}
	f.fresh = nil
	f.open[ev.Seq] = s
}

func (f *spans) replied(ev event.Event, b *event.LLMReplied) {
	f.spend(ev, b.Usage, b.CostUSD)
	s, ok := f.open[ev.Cause]
	if !ok {
		return
	}
	finish := text(cmp.Or(b.Finish, "unknown"))
	s.Attributes = append(s.Attributes, attribute{"gen_ai.response.finish_reasons", value{Array: &array{[]value{finish}}}})
	set(&s.Attributes, "gen_ai.response.model", b.Model)
	if f.Content {
		if data, err := f.marshal([]message{{"assistant", b.Text.View()}}); err == nil {
			set(&s.Attributes, "gen_ai.output.messages", string(data))
		}
	}
	f.open[ev.Cause] = s
	f.close(ev, "", "")
}

// refused ends a call without a usable reply, which may be paid for all the same.
func (f *spans) refused(ev event.Event, b *event.LLMFailed) {
	if b.Usage != (event.Usage{}) {
		f.spend(ev, b.Usage, b.CostUSD)
	}
	f.close(ev, b.Kind, b.Message)
}

// spend adds what a call took to its span and to the sum.
func (f *spans) spend(ev event.Event, u event.Usage, usd float64) {
	f.usage.Prompt += u.Prompt
	f.usage.Completion += u.Completion
	f.usage.CostUSD += usd
	s, ok := f.open[ev.Cause]
	if !ok {
		return
	}
	s.Attributes = append(s.Attributes, number("gen_ai.usage.input_tokens", u.Prompt), number("gen_ai.usage.output_tokens", u.Completion))
	if u.Cached > 0 {
		s.Attributes = append(s.Attributes, number("gen_ai.usage.cache_read.input_tokens", u.Cached))
	}
	if usd > 0 {
		s.Attributes = append(s.Attributes, double("agent.usage.cost_usd", usd))
	}
	f.open[ev.Cause] = s
}

func (f *spans) called(ev event.Event, b *event.ToolRequested) {
	s := f.begin(ev, "execute_tool "+b.Name(), kindInternal)
	s.Attributes = append(s.Attributes, attr("gen_ai.operation.name", "execute_tool"), attr("gen_ai.tool.name", b.Name()),
		attr("gen_ai.tool.type", "function"))
	set(&s.Attributes, "gen_ai.tool.call.id", b.CallID)
	if f.Content {
		set(&s.Attributes, "gen_ai.tool.call.arguments", b.Args.View())
	}
	f.open[ev.Seq] = s
}

func (f *spans) answered(ev event.Event, b *event.ToolReplied) {
	s, ok := f.open[ev.Cause]
	if !ok {
		return
	}
	if f.Content {
		set(&s.Attributes, "gen_ai.tool.call.result", b.Content.View())
		f.fresh = append(f.fresh, message{"tool", b.Content.View()})
	}
	f.open[ev.Cause] = s
	failure := ""
	if !projections.Succeeded(b) {
		failure = "tool_error"
	}
	f.close(ev, failure, "")
}
