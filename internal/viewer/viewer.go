// Package viewer shows logs as text: one line for each event, an event whole, the
// conversation, a request as it was sent. It reads events one at a time and keeps
// none, so that a log of any size begins to show at once.
//
// Nothing that a log holds acts on a terminal: every text goes through
// [sanitize.Terminal] or [sanitize.Line] before it is painted.
package viewer

import (
	"fmt"
	"strings"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/term"
	"agent/projections"
)

// Blob gives a text that is kept outside the log by its hash.
type Blob func(hash string) ([]byte, error)

// Printer prints the events of one log.
type Printer struct {
	Screen term.Screen
	Blob   Blob
	Full   bool // do not shorten lines

	day string // of the latest line
}

// full is a width that no line reaches.
const full = 1 << 20

// Line prints an event on one line, and before it the date if it is another day.
func (p *Printer) Line(r eventlog.Record) {
	p.date(r.When())
	text := string(r.Data)
	if ev, err := event.Decode(r); err == nil {
		event.Fetch(ev.Body, p.Blob)
		text = projections.Describe(ev)
	}
	cause := ""
	if r.Cause > 0 {
		cause = fmt.Sprintf("←%d", r.Cause)
	}
	head := fmt.Sprintf("%5d %-5s %s  ", r.Seq, cause, r.When().Local().Format("15:04:05.000"))
	kind := fmt.Sprintf("%-19s", term.Line(string(r.Type), 40))
	width := full
	if !p.Full {
		width = max(p.Screen.Width-len("12345 ←1234 15:04:05.000  ")-max(len(kind), 19)-1, 20)
	}
	fmt.Fprintln(p.Screen, p.Screen.Paint(term.Aux, head)+p.Screen.Paint(colorOf(r), kind)+" "+term.Line(text, width))
}

func (p *Printer) date(t time.Time) {
	day := t.Local().Format("Monday 2006-01-02 MST")
	if day != p.day {
		p.day = day
		fmt.Fprintln(p.Screen, p.Screen.Paint(term.Aux, "── "+day))
	}
}

// failed tells whether an event says that something did not work.
func failed(r eventlog.Record) bool {
	kind := string(r.Type)
	if kind == "tool.replied" {
		ev, err := event.Decode(r)
		if err != nil {
			return false
		}
		reply, ok := ev.Body.(*event.ToolReplied)
		return ok && !projections.Succeeded(reply)
	}
	return strings.HasSuffix(kind, ".failed") || strings.HasSuffix(kind, ".interrupted") || kind == "limit.reached"
}

// colorOf says what an event means to people.
func colorOf(r eventlog.Record) term.Color {
	switch kind := string(r.Type); {
	case failed(r):
		return term.Bad
	case kind == "context.paused", kind == "context.awaiting", strings.HasPrefix(kind, "pause."):
		return term.Waits
	case kind == "context.completed", kind == "change.opened":
		return term.Good
	case strings.HasSuffix(kind, ".requested"), strings.HasPrefix(kind, "phase."):
		return term.Name
	}
	return ""
}
