package engine

import (
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/projections"
)

func (e *Engine) input(b event.Body) error { return e.record(b) }

func (e *Engine) record(b event.Body) error {
	_, err := e.append(b, 0)
	return err
}

// append redacts, makes the event durable, and folds what the log now holds.
func (e *Engine) append(b event.Body, cause uint64) (event.Event, error) {
	stored, redacted, err := e.redact(b)
	if err != nil {
		return event.Event{}, err
	}
	at := e.p.Now().UTC().Truncate(time.Microsecond)
	ev, err := e.log.Append(event.Event{Time: at, Cause: cause, Redacted: redacted, Body: stored})
	if err != nil {
		return event.Event{}, err
	}
	if reply, ok := b.(*event.LLMReplied); ok && redacted {
		e.unsaid[ev.Seq] = reply
	}
	return ev, e.apply(ev)
}

// redact replaces secrets in the encoded form, so that no field is forgotten,
// and decodes that again: the live state is folded from what the log holds.
func (e *Engine) redact(b event.Body) (event.Body, bool, error) {
	data, err := event.Encode(b, false)
	if err != nil {
		return nil, false, err
	}
	data, changed := e.p.Redact.JSON(data)
	stored, _, err := event.DecodeBody(b.Type(), event.Version(b), data)
	return stored, changed, err
}

// apply folds an event that is durable, moves the directory after a lifecycle
// event, and brings the projection files up to date.
func (e *Engine) apply(ev event.Event) error {
	changes := e.fold(ev)
	if err := e.log.Settle(); err != nil {
		return err
	}
	for _, c := range changes {
		if err := writeChange(e.log, c); err != nil {
			e.p.Log.Warn("projection file is behind its log", "context", e.log.UUID(), "file", c.Name, "error", err)
		}
	}
	if e.p.OnEvent != nil {
		e.p.OnEvent(ev)
	}
	return nil
}

func (e *Engine) fold(ev event.Event) []projections.FileChange {
	e.state.Apply(ev)
	return e.files.Apply(e.state, ev)
}

func writeChange(log *contexts.Context, c projections.FileChange) error {
	if c.Replace {
		return log.WriteFile(c.Name, c.Data)
	}
	return log.AppendFile(c.Name, c.Data)
}
