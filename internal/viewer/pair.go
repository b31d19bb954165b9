package viewer

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/sanitize"
)

// From gives the lines of a log from the event with this number on.
type From func(seq uint64) iter.Seq2[eventlog.Line, error]

// farthest is how many events lie between an intent and its outcome at most:
// signals may be noted in between.
const farthest = 100

// Pair gives an event with those that belong to it, in the order of the log: an intent, the
// saves of files that it caused, and its outcome. An intent may have no outcome yet.
func Pair(from From, seq uint64) ([]eventlog.Record, error) {
	asked, err := find(from, seq, func(r eventlog.Record) bool { return r.Seq == seq })
	if err != nil {
		return nil, err
	}
	if asked.Line == nil {
		return nil, fmt.Errorf("the log has no event %d that can be read", seq)
	}
	first := asked
	if asked.Cause > 0 {
		if intent, err := find(from, asked.Cause, func(r eventlog.Record) bool { return r.Seq == asked.Cause }); err == nil && intent.Line != nil {
			first = intent
		}
	}
	all := append([]eventlog.Record{first}, caused(from, first)...)
	if last := all[len(all)-1]; last.Seq < asked.Seq { // it lies far from its intent
		all = append(all, asked)
	}
	return all, nil
}

// caused are the events that an intent caused, up to its outcome.
func caused(from From, intent eventlog.Record) (all []eventlog.Record) {
	if roleOf(intent) != event.Intent {
		return nil
	}
	_, _ = find(from, intent.Seq, func(r eventlog.Record) bool { // what can be read is enough
		if r.Cause != intent.Seq {
			return false
		}
		if r, err := eventlog.Parse(bytes.Clone(r.Line)); err == nil {
			all = append(all, r)
		}
		return roleOf(r) == event.Outcome
	})
	return all
}

func roleOf(r eventlog.Record) event.Role {
	ev, err := event.Decode(r)
	if err != nil {
		return event.Input
	}
	return event.RoleOf(ev.Body)
}

// find gives the record that is wanted, zero if it is not near.
func find(from From, seq uint64, wanted func(eventlog.Record) bool) (eventlog.Record, error) {
	n := 0
	for line, err := range from(seq) {
		if n++; err != nil || n > farthest {
			return eventlog.Record{}, err
		}
		if line.Record.Line != nil && wanted(line.Record) {
			return eventlog.Parse(bytes.Clone(line.Record.Line)) // the line is gone with the next one
		}
	}
	return eventlog.Record{}, nil
}

// Whole prints events of a log whole, such as those of [Log.Pair].
func (p *Printer) Whole(l Log, events []eventlog.Record) error {
	var err error
	for _, r := range events {
		if p.JSON {
			fmt.Fprintf(p.Screen, "%s\n", sanitize.JSON(r.Line))
			continue
		}
		if string(r.Type) == "context.paused" {
			p.recall(l, r.Seq)
		}
		err = errors.Join(err, p.Event(r))
	}
	return err
}

// recall looks for who asked for a pause.
func (p *Printer) recall(l Log, pause uint64) {
	for line, err := range l.from(max(pause, farthest) - farthest + 1) {
		if err != nil || line.Record.Seq >= pause {
			return // it names nobody then
		}
		if line.Record.Line != nil {
			p.wish.saw(line.Record, p.Lang)
		}
	}
}
