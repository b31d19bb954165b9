// Package event is the vocabulary of the log: what can be said about one attempt at a task.
//
// Every kind of event is a Go struct that implements [Body]; the set is sealed.
// Its name ("llm.replied") and the JSON names of its fields are permanent once
// released: a shape changes only by raising its version and adding an upcaster
// (see upcast.go), so logs of every release stay readable for ever.
//
// Roles (design of the whole: docs/architecture.md):
//
//	input    something that came from outside: a fetched task, a comment, a signal
//	intent   about to touch the world; followed by exactly one outcome whose cause is its seq
//	outcome  what became of an intent
//	mark     a decision or a milestone that needs nothing from outside
//
// Invariants: a body is encoded as one compact JSON object; a kind that this
// build does not know decodes to [Unknown] and is skipped by folds; a version
// newer than known is [ErrNewer] and makes the context read-only.
package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"agent/eventlog"
)

// ErrNewer means that a newer release wrote the log: nothing may be appended.
var ErrNewer = errors.New("written by a newer release")

// Role is the part an event plays.
type Role int

// The roles.
const (
	Input Role = iota
	Intent
	Outcome
	Mark
)

// Body is one kind of event. The unexported method seals the set.
type Body interface {
	// Type is the permanent name, as in the envelope.
	Type() string
	role() Role
}

type (
	input   struct{}
	intent  struct{}
	outcome struct{}
	mark    struct{}
)

func (input) role() Role   { return Input }
func (intent) role() Role  { return Intent }
func (outcome) role() Role { return Outcome }
func (mark) role() Role    { return Mark }

// RoleOf tells the role of a body.
func RoleOf(b Body) Role { return b.role() }

// Event is a fact with its place in a log.
type Event struct {
	Seq      uint64
	Time     time.Time
	Cause    uint64
	Redacted bool // secrets in it were replaced before it was appended
	Body     Body
}

// Unknown is an event of a kind that this build does not know.
type Unknown struct {
	input
	Name string
	Data json.RawMessage
}

// Type is the name found in the log.
func (u *Unknown) Type() string { return u.Name }

// Encode gives the data of a log line for b.
func Encode(b Body, redacted bool) ([]byte, error) {
	if u, ok := b.(*Unknown); ok {
		return u.Data, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(b); err != nil {
		return nil, fmt.Errorf("encode %s: %w", b.Type(), err)
	}
	data := bytes.TrimRight(buf.Bytes(), "\n")
	if redacted {
		data = markRedacted(data)
	}
	return data, nil
}

const redactedMark = `,"redacted":true`

func markRedacted(data []byte) []byte {
	mark := redactedMark
	if len(data) == len("{}") {
		mark = mark[len(","):]
	}
	return append(append(data[:len(data)-1], mark...), '}')
}

// DecodeBody reads the data of a line of this kind and version.
func DecodeBody(kind string, v int, data []byte) (body Body, redacted bool, err error) {
	return decodeBody(kind, v, data, false, true)
}

func decodeBody(kind string, v int, data []byte, checked, whole bool) (body Body, redacted bool, err error) {
	entry, ok := registry[kind]
	if !ok {
		return &Unknown{Name: kind, Data: bytes.Clone(data)}, false, nil
	}
	if v > entry.version {
		return nil, false, fmt.Errorf("%s version %d: %w", kind, v, ErrNewer)
	}
	redacted = bytes.HasSuffix(data, []byte(`"redacted":true}`)) // before upcasting, which may move it
	data, err = upcast(kind, v, entry.version, data)
	if err != nil {
		return nil, false, err
	}
	body = entry.make()
	if err := unmarshal(kind, data, body, checked && v == entry.version, whole); err != nil {
		return nil, false, fmt.Errorf("decode %s: %w", kind, err)
	}
	return body, redacted, nil
}

// Decode reads one record. The event keeps nothing of the record's memory.
func Decode(r eventlog.Record) (Event, error) { return decode(r, true) }

// DecodeToFold is Decode without the texts that no fold looks at: of a reply of a model
// its raw form and what it thought. Those may be most of a log.
func DecodeToFold(r eventlog.Record) (Event, error) { return decode(r, false) }

func decode(r eventlog.Record, whole bool) (Event, error) {
	body, redacted, err := decodeBody(string(r.Type), r.V, r.Data, r.Checked(), whole)
	if err != nil {
		return Event{}, fmt.Errorf("seq %d: %w", r.Seq, err)
	}
	t, err := time.Parse(eventlog.TimeLayout, string(r.Time))
	if err != nil {
		return Event{}, fmt.Errorf("seq %d: %w", r.Seq, err)
	}
	return Event{Seq: r.Seq, Time: t, Cause: r.Cause, Redacted: redacted, Body: body}, nil
}

// Draft gives e the form that a log appends. The log sets the seq itself.
func Draft(e Event) (eventlog.Draft, error) { return DraftEncoded(e, nil) }

// DraftEncoded is Draft for a body whose encoding is known; nil if it is not.
func DraftEncoded(e Event, data []byte) (eventlog.Draft, error) {
	switch {
	case data == nil:
		var err error
		if data, err = Encode(e.Body, e.Redacted); err != nil {
			return eventlog.Draft{}, err
		}
	case e.Redacted:
		data = markRedacted(data)
	}
	return eventlog.Draft{Time: e.Time, Type: e.Body.Type(), V: Version(e.Body), Cause: e.Cause, Data: data}, nil
}
