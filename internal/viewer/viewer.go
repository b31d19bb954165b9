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
	"agent/internal/i18n"
	"agent/internal/term"
	"agent/projections"
)

// Blob gives a text that is kept outside the log by its hash.
type Blob func(hash string) ([]byte, error)

// Printer prints the events of one log.
type Printer struct {
	Screen term.Screen
	Lang   i18n.Lang
	UUID   string
	Blob   Blob
	Full   bool   // do not shorten lines
	JSON   bool   // for programs
	Failed bool   // only what failed is shown
	With   string // flags that printed commands repeat

	day  string // of the latest line
	last uint64 // its event
	wish Wish
}

// roomy is a width from which on a line has room for milliseconds.
const roomy = 120

// full is a width that no line reaches.
const full = 1 << 20

// Line prints an event on one line, and before it the date if it is another day.
func (p *Printer) Line(r eventlog.Record) {
	p.date(r.When())
	cause := ""
	if r.Cause > 0 && r.Cause != p.last { // an outcome follows its intent as a rule
		cause = fmt.Sprintf("←%d ", r.Cause)
	}
	p.last = r.Seq
	clock, kindWidth := "15:04:05.000", 19
	if p.Screen.Width < roomy {
		clock, kindWidth = "15:04:05", 17
	}
	head := fmt.Sprintf("%5d %s  ", r.Seq, r.When().Local().Format(clock))
	kind := fmt.Sprintf("%-*s", kindWidth, term.Line(string(r.Type), 40))
	width := full
	if !p.Full {
		width = max(p.Screen.Width-len(head)-max(len(kind), kindWidth)-1, 20)
	}
	fmt.Fprintln(p.Screen, p.Screen.Paint(term.Aux, head)+p.Screen.Paint(colorOf(r), kind)+" "+term.Line(cause+p.describe(r), width))
}

// describe says in one line what an event means.
func (p *Printer) describe(r eventlog.Record) string {
	ev, err := event.Decode(r)
	if err != nil {
		return string(r.Data)
	}
	event.Fetch(ev.Body, p.Blob)
	return p.wish.Sentence(ev, p.Lang)
}

func (p *Printer) date(t time.Time) {
	t = t.Local()
	day := i18n.Text(p.Lang, i18n.ID("day."+t.Format("Mon"))) + t.Format(" 2006-01-02 MST")
	if day != p.day {
		p.day = day
		fmt.Fprintln(p.Screen, p.Screen.Paint(term.Aux, "── "+day))
	}
}

// failed tells whether an event says that something did not work.
func failed(r eventlog.Record) bool {
	kind := string(r.Type)
	switch kind {
	case "tool.replied", "llm.failed":
		ev, err := event.Decode(r)
		if err != nil {
			return kind == "llm.failed"
		}
		return Failed(ev)
	}
	return failedKind(kind)
}

// Failed tells whether an event says that something did not work. An interrupted model
// call did not fail: the process ended, or the work was paused.
func Failed(ev event.Event) bool {
	switch b := ev.Body.(type) {
	case *event.ToolReplied:
		return !projections.Succeeded(b)
	case *event.LLMFailed:
		return b.Kind != event.Interrupted
	}
	return failedKind(ev.Body.Type())
}

func failedKind(kind string) bool {
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
