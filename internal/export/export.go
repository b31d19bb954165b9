// Package export writes a context in the formats of other programs: the log's lines
// (jsonl), a text (markdown), OpenTelemetry spans (otlp), and a trajectory for
// evaluations (atif). [Sender] sends the spans of a run while it goes on.
//
// Logs are redacted when they are written. Everything is redacted once more here,
// with the secrets of today: what leaves the machine cannot be called back.
//
// Every format is written as the log is read, so a log of any size can be exported.
// What a damaged log still tells is written, and the damage is the error.
package export

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/page"
	"agent/internal/redact"
	"agent/internal/sanitize"
)

// Source is the context that is exported.
type Source struct {
	Store   *contexts.Store
	UUID    string
	Redact  *redact.Redactor
	Secrets []string // what Redact looks for
	Version string   // of the program
	Lang    i18n.Lang
	Content bool // spans hold texts, too
	brief   bool // no text is needed whole
}

// writers are the formats that are written as the log is read.
var writers = map[string]func(Source, io.Writer) error{
	"jsonl":    Source.jsonl,
	"markdown": Source.markdown,
	"otlp":     Source.otlp,
	"atif":     Source.atif,
	"html":     Source.html,
}

// Formats are what [Source.Write] writes.
var Formats = slices.Sorted(maps.Keys(writers))

// Write writes the context. Damage of the log and an error of w are errors.
func (s Source) Write(w io.Writer, format string) error {
	buffered := bufio.NewWriterSize(w, 1<<16)
	err := writers[format](s, buffered)
	return errors.Join(err, buffered.Flush())
}

// html writes the page of agent inspect --html.
func (s Source) html(w io.Writer) error {
	doc, err := page.Of(s.Store, s.UUID, s.Lang, s.Secrets)
	if doc == nil {
		return err
	}
	return errors.Join(err, doc.Write(w))
}

// clean redacts a text.
func (s Source) clean(text string) string {
	if s.Redact == nil {
		return text
	}
	text, _ = s.Redact.String(text)
	return text
}

// marshal encodes a value with every text in it redacted. Nothing in it acts on a terminal.
func (s Source) marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err == nil && s.Redact != nil {
		data, _ = s.Redact.JSON(data)
	}
	return sanitize.JSON(data), err
}

// events are those that can be read, with all their texts. damage gets why others
// cannot be read; a torn tail is no damage.
func (s Source) events(damage *error) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		for ev, err := range s.Store.Events(s.UUID) {
			if err != nil {
				if !contexts.IsTorn(err) {
					*damage = errors.Join(*damage, err)
				}
				continue
			}
			if !s.brief {
				event.Unspill(ev.Body, s.blob)
			}
			if !yield(ev) {
				return
			}
		}
	}
}

func (s Source) blob(hash string) ([]byte, error) { return s.Store.Blob(s.UUID, hash) }
