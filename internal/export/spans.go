package export

import (
	"cmp"
	"encoding/json"
	"time"

	"agent/eventlog/event"
	"agent/projections"
)

// spans turns the events of one context into spans, by the semantic conventions for
// generative AI: invoke_agent for the whole, chat for a model call, execute_tool for a
// tool call. A span is given out when its last event was added.
//
//	invoke_agent agent            the first event to the last
//	├─ phase planning             from phase.entered to the next one
//	│  ├─ chat gpt-5              llm.requested to llm.replied or llm.failed
//	│  └─ execute_tool run        tool.requested to its outcome
type spans struct {
	Source
	out func(Span)

	root  Span
	phase *Span
	open  map[uint64]Span
	fresh []message // that no request had yet
	model string
	from  string // which provider the model was asked of
	usage projections.Usage
	state string // paused, awaiting, or "" while it runs
	last  time.Time
	dead  time.Time // when the process before this one is last known to have lived
	died  bool      // the latest process started after one that did not end
	alive bool
}

func newSpans(s Source, out func(Span)) *spans {
	f := &spans{Source: s, out: out, open: map[uint64]Span{}}
	f.root = Span{TraceID: traceOf(s.UUID), SpanID: spanOf(s.UUID, 1), Name: "invoke_agent agent", Kind: kindInternal}
	return f
}

// add takes every event in order.
func (f *spans) add(ev event.Event) {
	if f.root.Start == "" {
		f.root.Start = nano(ev.Time)
	}
	defer func() { f.last = ev.Time }()
	switch b := ev.Body.(type) {
	case *event.ContextCreated:
		set(&f.root.Attributes, "agent.task", b.TaskKey)
		if f.Content {
			set(&f.root.Attributes, "agent.task.title", b.Title)
		}
	case *event.ConfigPinned:
		f.from, f.model = b.Provider, b.Model
	case *event.LLMSwitched:
		f.from, f.model = b.Provider, b.Model
	case *event.ContextForked:
		f.forked(b)
	case *event.PhaseEntered:
		f.enter(ev, "phase "+b.Phase)
	case *event.ProcessStarted:
		f.dead, f.died, f.alive = f.last, f.alive, true
	case *event.ProcessEnded:
		f.alive = false
	case *event.MessageAdded:
		f.fresh = append(f.fresh, message{b.Role, b.Content.View()})
	default:
		f.act(ev)
	}
	if _, ok := ev.Body.(*event.MessageAdded); ok && !f.Content {
		f.fresh = nil
	}
}

func (f *spans) act(ev event.Event) {
	switch b := ev.Body.(type) {
	case *event.LLMRequested:
		f.asked(ev, b)
	case *event.LLMReplied:
		f.replied(ev, b)
	case *event.LLMFailed:
		f.refused(ev, b)
	case *event.ToolRequested:
		f.called(ev, b)
	case *event.ToolReplied:
		f.answered(ev, b)
	case *event.ToolFailed:
		f.close(ev, b.Kind, b.Message)
	case *event.ToolInterrupted:
		f.close(ev, event.Interrupted, b.Reason)
	case *event.ContextPaused:
		f.note(ev, "paused", string(b.Reason))
	case *event.ContextAwaiting:
		f.note(ev, "awaiting", b.Reason)
	case *event.ContextResumed:
		f.note(ev, "resumed", "")
		f.state = "running"
	case *event.ContextCompleted:
		f.end(ev, "completed", string(b.Reason))
	case *event.ContextStopped:
		f.end(ev, "stopped", string(b.Reason))
	case *event.ContextFailed:
		f.end(ev, "failed", string(b.Reason))
	}
}

// forked links a fork to its origin.
func (f *spans) forked(b *event.ContextForked) {
	f.root.Links = append(f.root.Links, link{traceOf(b.Origin), spanOf(b.Origin, 1)})
	if b.Model.Model != "" {
		f.from, f.model = b.Model.Provider, b.Model.Model
	}
}

func (f *spans) begin(ev event.Event, name string, kind int) Span {
	parent := f.root.SpanID
	if f.phase != nil {
		parent = f.phase.SpanID
	}
	return Span{TraceID: f.root.TraceID, SpanID: spanOf(f.UUID, ev.Seq), Parent: parent, Name: name, Kind: kind,
		Start: nano(ev.Time), Attributes: []attribute{number("agent.event.seq", int(ev.Seq))}}
}

// enter ends a phase and begins the next one.
func (f *spans) enter(ev event.Event, name string) {
	f.leave(ev.Time)
	phase := f.begin(ev, name, kindInternal)
	f.phase = &phase
}

func (f *spans) leave(at time.Time) {
	if f.phase != nil {
		f.phase.End = nano(at)
		f.out(*f.phase)
		f.phase = nil
	}
}

// close gives out the span of an intent. failure is the kind of the failure, "" if there
// is none. An intent whose process died ended when that process is last known to have lived.
func (f *spans) close(ev event.Event, failure, message string) {
	s, ok := f.open[ev.Cause]
	if !ok { // its intent lies in a damaged part
		return
	}
	delete(f.open, ev.Cause)
	s.End = nano(ev.Time)
	if failure == event.Interrupted && f.died {
		s.End = nano(f.dead)
	}
	if failure != "" {
		s.Attributes = append(s.Attributes, attr("error.type", failure))
		s.Status = &status{Code: statusError}
		if f.Content {
			s.Status.Message = message
		}
	}
	f.out(s)
}

// note adds an event to the root.
func (f *spans) note(ev event.Event, name, reason string) {
	f.state = name
	e := spanEvent{Time: nano(ev.Time), Name: name}
	if f.Content {
		set(&e.Attributes, "agent.reason", reason)
	}
	f.root.Events = append(f.root.Events, e)
}

func (f *spans) end(ev event.Event, outcome, reason string) {
	f.leave(ev.Time)
	root := f.whole(ev.Time, outcome)
	if outcome == "failed" {
		root.Status = &status{Code: statusError}
		if f.Content {
			root.Status.Message = reason
		}
	}
	f.out(root)
}

// whole is the root as it is known now.
func (f *spans) whole(at time.Time, outcome string) Span {
	root := f.root
	root.End = nano(at)
	root.Attributes = append([]attribute{
		attr("gen_ai.operation.name", "invoke_agent"), attr("gen_ai.agent.name", "agent"), attr("gen_ai.conversation.id", f.UUID),
		attr("agent.outcome", outcome), number("gen_ai.usage.input_tokens", f.usage.Prompt), number("gen_ai.usage.output_tokens", f.usage.Completion),
	}, root.Attributes...)
	set(&root.Attributes, "gen_ai.agent.version", f.Version)
	set(&root.Attributes, "gen_ai.provider.name", f.from)
	set(&root.Attributes, "gen_ai.request.model", f.model)
	if f.usage.CostUSD > 0 {
		root.Attributes = append(root.Attributes, double("agent.usage.cost_usd", f.usage.CostUSD))
	}
	return root
}

// rest gives out what has not ended at the end of the log.
func (f *spans) rest() {
	if f.root.Start == "" {
		return
	}
	f.leave(f.last)
	f.out(f.whole(f.last, cmp.Or(f.state, "running")))
}

// message is a message of a conversation, as the conventions write it.
type message struct{ role, text string }

func (m message) MarshalJSON() ([]byte, error) {
	type part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	return json.Marshal(struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}{m.role, []part{{"text", m.text}}})
}
