package engine

import (
	"errors"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/reply"
	"agent/projections"
)

func (e *Engine) input(b event.Body) error { return e.record(b) }

func (e *Engine) record(b event.Body) error {
	_, err := e.append(b, 0)
	return err
}

// append redacts, makes the event durable, and folds what the log now holds.
func (e *Engine) append(b event.Body, cause uint64) (event.Event, error) {
	stored, data, redacted, err := e.redact(b)
	if err != nil {
		return event.Event{}, err
	}
	at := e.p.Now().UTC().Truncate(time.Microsecond)
	ev, err := e.log.AppendEncoded(event.Event{Time: at, Cause: cause, Redacted: redacted, Body: stored}, data)
	if err != nil {
		return event.Event{}, err
	}
	if original, ok := b.(*event.LLMReplied); ok && redacted {
		e.unredacted = calls{ev.Seq, reply.Read(e.state, original).Calls}
	}
	return ev, e.apply(ev)
}

// redact replaces secrets in the encoded form, so that no field is forgotten,
// and decodes that again: the live state is folded from what the log holds.
func (e *Engine) redact(b event.Body) (stored event.Body, data []byte, changed bool, err error) {
	if data, err = event.Encode(b, false); err != nil {
		return nil, nil, false, err
	}
	data, changed = e.p.Redact.JSON(data)
	stored, _, err = event.DecodeBody(b.Type(), event.Version(b), data)
	return stored, data, changed, err
}

// apply folds an event that is durable, brings the projection files up to date,
// and moves the directory after a lifecycle event.
func (e *Engine) apply(ev event.Event) error {
	for _, c := range e.fold(ev) {
		if err := writeChange(e.log, c); err != nil {
			e.behind = true
			e.p.Log.Warn("projection file is behind its log", "file", c.Name, "error", err)
		}
	}
	if err := e.moveDirectory(); err != nil {
		return err
	}
	e.spend(ev)
	if e.p.OnEvent != nil {
		e.p.OnEvent(ev, e.state)
	}
	return nil
}

// moveDirectory moves the directory to where the log sends it. The projection files
// are whole and durable before, and its calls are counted: nobody opens an ended
// context again.
func (e *Engine) moveDirectory() error {
	if e.state.Status.Directory() != string(e.log.Dir()) {
		e.saveFiles()
		e.spendAll()
	}
	return e.log.Relocate()
}

// saveFiles makes the projection files whole and durable, and reports whether they
// are. If not, as on a full disk, the first of them goes: who finds a context
// without it makes all of them again.
func (e *Engine) saveFiles() bool {
	err := e.trySaving()
	if err != nil { // a disk may fail once
		e.behind = true
		err = e.trySaving()
	}
	if e.behind = err != nil; e.behind {
		err = errors.Join(err, e.log.RemoveFile(projections.MetadataFile))
		e.p.Log.Warn("projection files could not be saved", "error", err)
	}
	return !e.behind
}

func (e *Engine) trySaving() error {
	if e.behind {
		if err := Rebuild(e.p.Store, e.log); err != nil {
			return err
		}
	}
	return e.log.SyncFiles()
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
