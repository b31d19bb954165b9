package viewer

import (
	"bytes"
	"fmt"
	"iter"

	"agent/eventlog"
	"agent/eventlog/event"
)

// From gives the lines of a log from the event with this number on.
type From func(seq uint64) iter.Seq2[eventlog.Line, error]

// farthest is how many events lie between an intent and its outcome at most:
// signals may be noted in between.
const farthest = 100

// Pair gives an event, and with an intent its outcome, with an outcome its
// intent: first the intent. An intent may have no outcome yet.
func Pair(from From, seq uint64) ([]eventlog.Record, error) {
	first, err := find(from, seq, func(r eventlog.Record) bool { return r.Seq == seq })
	if err != nil {
		return nil, err
	}
	if first.Line == nil {
		return nil, fmt.Errorf("the log has no event %d that can be read", seq)
	}
	if first.Cause > 0 {
		if intent, err := find(from, first.Cause, func(r eventlog.Record) bool { return r.Seq == first.Cause }); err == nil && intent.Line != nil {
			return []eventlog.Record{intent, first}, nil
		}
	}
	pair := []eventlog.Record{first}
	ev, err := event.Decode(first)
	if err != nil || event.RoleOf(ev.Body) != event.Intent {
		return pair, nil
	}
	if outcome, err := find(from, seq, func(r eventlog.Record) bool { return r.Cause == seq }); err == nil && outcome.Line != nil {
		pair = append(pair, outcome)
	}
	return pair, nil
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
