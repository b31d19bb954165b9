package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers"
	"agent/internal/redact"
	"agent/projections"
)

// Forking says which fork is wanted.
type Forking struct {
	Origin string // uuid
	UUID   string // of the fork
	At     uint64 // the latest event that it is to have; 0: the latest there is
	Drop   int    // turns of the model before that which it is not to have
	Live   bool
	Root   string       // directory of the working copies
	Model  event.Served // zero: as configured
	Prompt string       // the system prompt template; empty: as configured
	Say    string
	By     string
}

// Point is where a fork begins.
type Point struct {
	State *projections.State // after its latest event
	Moved string             // why not at the event that was named: "open", "ending"; empty if it does
	Open  string             // type of the intent that is open there
}

// PointError says that a context cannot be forked where it was asked for.
type PointError struct{ text string }

func (e *PointError) Error() string { return e.text }

// PointOf finds the nearest point at or before an event where nothing is open and the end
// has not begun. Errors are *[PointError] and those of package contexts.
func PointOf(store *contexts.Store, f Forking) (p Point, err error) {
	last, err := acknowledged(store, f.Origin)
	if err != nil {
		return p, err
	}
	if f.At > last {
		return p, &PointError{fmt.Sprintf("there is no event %d: the log of %s ends at %d", f.At, f.Origin, last)}
	}
	at := f.At
	if at == 0 {
		at = last
	}
	seq, p, err := pointBefore(store, f, at)
	if err != nil {
		return p, err
	}
	p.State, err = stateAt(store, f.Origin, seq)
	if err == nil && unsaved(p.State) {
		err = &PointError{fmt.Sprintf("the log of %s does not say what the files were at event %d: it is of an earlier release. Fork it before its first tool call", f.Origin, seq)}
	}
	return p, err
}

// acknowledged is the latest event of a log that is durable for certain. Where a process
// works on it, the last line may not be.
func acknowledged(store *contexts.Store, uuid string) (last uint64, err error) {
	busy, err := store.Locked(uuid)
	if err != nil {
		return 0, err
	}
	for rec, err := range store.Records(uuid) {
		if err != nil && contexts.IsTorn(err) {
			return last, nil // it was to follow one that is
		}
		if err != nil {
			return 0, err
		}
		last = rec.Seq
	}
	if busy && last > 1 {
		last--
	}
	return last, nil
}

// pointBefore goes through the log and remembers where it can be forked.
func pointBefore(store *contexts.Store, f Forking, at uint64) (seq uint64, p Point, err error) {
	state := projections.NewState()
	var turns []uint64 // where a fork without each of them begins
	var asked uint64
	var outside bool
	for ev, err := range store.Events(f.Origin) {
		if err != nil && contexts.IsTorn(err) || err == nil && ev.Seq > at {
			break
		}
		if err != nil {
			return 0, p, err
		}
		switch b := ev.Body.(type) {
		case *event.LLMRequested:
			asked, outside = seq, b.OutsideConversation()
		case *event.LLMReplied:
			if !outside {
				turns = append(turns, asked)
			}
		}
		if state.Apply(ev); forkable(state) {
			seq = ev.Seq
		}
	}
	switch {
	case seq == at:
	case state.Open != nil:
		p.Moved, p.Open = "open", state.Open.Body.Type()
	default:
		p.Moved = "ending"
	}
	for len(turns) > 0 && turns[len(turns)-1] >= seq {
		turns = turns[:len(turns)-1] // it comes after the fork begins
	}
	switch {
	case f.Drop > len(turns):
		return 0, p, &PointError{fmt.Sprintf("%d turns of the model cannot be dropped: there are %d before event %d", f.Drop, len(turns), seq)}
	case f.Drop > 0:
		seq = turns[len(turns)-f.Drop]
	case seq == 0:
		return 0, p, &PointError{"there is no event at which it can be forked"}
	}
	return seq, p, nil
}

// forkable is false also while the working copy holds what an earlier attempt left, and
// no event says what that is.
func forkable(s *projections.State) bool {
	return handlers.Forkable(s) && (s.Saved.Seq > 0 || !s.Continues())
}

// unsaved is true if the files have changed, and no event says how.
func unsaved(s *projections.State) bool {
	return s.Workspace != nil && s.Workspace.Dir != "" && s.Workspace.Error == "" && s.Saved.Seq == 0 && (s.Usage.ToolCalls > 0 || len(s.Setup) > 0)
}

func stateAt(store *contexts.Store, uuid string, seq uint64) (*projections.State, error) {
	state := projections.NewState()
	for ev, err := range store.Events(uuid) {
		if err != nil {
			return nil, err
		}
		if state.Apply(ev); ev.Seq == seq {
			break
		}
	}
	return state, nil
}

// Fork makes a fork at a point, which pauses until a person runs it.
func Fork(store *contexts.Store, secrets *redact.Redactor, f Forking, p Point, now time.Time) (*event.ContextForked, error) {
	s := p.State
	first := &event.ContextForked{UUID: f.UUID, Origin: s.Created.UUID, Seq: s.Seq, Dropped: f.Drop, Live: f.Live,
		Dir: filepath.Join(f.Root, f.UUID), By: f.By, Model: f.Model, Prompt: event.T(clean(f.Prompt)), Say: event.T(clean(f.Say))}
	if f.At != 0 && f.At != s.Seq {
		first.Asked = f.At
	}
	e := &Engine{p: Ports{Redact: secrets}}
	body, _, redacted, err := e.redact(first)
	if err != nil {
		return nil, err
	}
	stored, ok := body.(*event.ContextForked)
	if !ok {
		return nil, errors.New("a fork was encoded as " + body.Type())
	}
	pause := &event.ContextPaused{Reason: event.PauseForked, Until: event.Until{Kind: "person"}}
	if err := store.Fork(f.Origin, event.Event{Time: now, Redacted: redacted, Body: stored}, event.Event{Time: now, Body: pause}); err != nil {
		return nil, err
	}
	return stored, RebuildUnsaved(store, f.UUID)
}
