package viewer

import (
	"fmt"
	"iter"

	"agent/eventlog/event"
	"agent/handlers"
	"agent/internal/term"
	"agent/projections"
)

// Request is a model request, made again from the log.
type Request struct {
	Body     []byte // canonical JSON, see llm.Request.Canonical
	SHA256   string // of Body, hex
	Recorded string // the hash in the log
}

// RequestAt makes the request of the llm.requested with this seq again: it folds
// the events before it and asks [handlers.Next], as a replay does.
func RequestAt(events iter.Seq2[event.Event, error], seq uint64) (Request, error) {
	s := projections.NewState()
	for ev, err := range events {
		if err != nil {
			return Request{}, err
		}
		if ev.Seq < seq {
			s.Apply(ev)
			continue
		}
		asked, ok := ev.Body.(*event.LLMRequested)
		if !ok {
			return Request{}, fmt.Errorf("event %d is %s, not a request to the model", seq, ev.Body.Type())
		}
		act, ok := handlers.Next(s).(handlers.Act)
		if !ok || act.Request == nil {
			return Request{}, fmt.Errorf("this release would not ask the model at event %d: agent replay tells where it differs", seq)
		}
		return Request{act.Request.Canonical(), act.Request.Hash(), asked.SHA256}, nil
	}
	return Request{}, fmt.Errorf("the log has no event %d", seq)
}

// Check tells whether the bytes are those that were sent.
func (r Request) Check() error {
	if r.SHA256 == r.Recorded {
		return nil
	}
	return fmt.Errorf("the log recorded another request, sha256 %s: a text of it was forgotten, or this release makes it differently", r.Recorded)
}

// Request prints a request, if its bytes are those that were sent.
func (p *Printer) Request(seq uint64, r Request) error {
	title := fmt.Sprintf("%d  sha256 %s", seq, r.SHA256)
	if err := r.Check(); err != nil {
		fmt.Fprintln(p.Screen, p.Screen.Paint(term.Bad, title))
		return err
	}
	fmt.Fprintln(p.Screen, p.Screen.Paint(term.Head, title))
	p.text(0, pretty(r.Body))
	return nil
}
