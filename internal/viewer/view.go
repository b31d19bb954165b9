package viewer

import (
	"encoding/json"
	"fmt"

	"agent/eventlog"
	"agent/internal/sanitize"
)

// View shows a log in one way.
type View interface {
	// Record takes every event of the log in order. One that does not fit is not
	// shown, but may be needed to understand those that are.
	Record(r eventlog.Record, fits bool)
	End()
}

// Timeline shows one line for each event.
func (p *Printer) Timeline() View { return &timeline{Printer: p} }

// Conversation shows what the model read and wrote, and where the work paused or broke off.
func (p *Printer) Conversation() View {
	return &talk{Printer: p, messages: Conversation{Blob: p.Blob, Lang: p.Lang}}
}

// Costs shows tokens, money and time of each model call, and their sums.
func (p *Printer) Costs() View { return &costs{Printer: p} }

type timeline struct {
	*Printer
	calls Calls
}

func (t *timeline) Record(r eventlog.Record, fits bool) {
	if t.Failed {
		t.calls.Saw(r)
	}
	switch {
	case !fits:
		t.wish.saw(r, t.Lang)
	case t.JSON:
		fmt.Fprintf(t.Screen, "%s\n", sanitize.JSON(r.Line)) // a pipe may end in a terminal, too
	case t.Failed:
		t.Failure(r, t.calls.Of(r))
	default:
		t.Line(r)
	}
}

func (t *timeline) End() {}

type talk struct {
	*Printer
	messages Conversation
}

func (t *talk) Record(r eventlog.Record, fits bool) {
	m, ok := t.messages.Add(r)
	switch {
	case !ok || !fits:
	case t.JSON:
		t.json(m)
	default:
		t.Message(m)
	}
}

func (t *talk) End() {}

// json prints a value on a line of its own.
func (p *Printer) json(v any) {
	data, err := json.Marshal(v)
	if err == nil {
		_, _ = fmt.Fprintf(p.Screen, "%s\n", sanitize.JSON(data)) // the next line fails as well
	}
}
