package viewer

import (
	"fmt"
	"strings"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/term"
	"agent/projections"
)

// Calls remembers what was asked of tools and the forge until the outcome is there.
type Calls struct {
	seq  uint64
	what string
}

// Saw takes every event in order. An outcome follows its intent, so one is enough.
func (c *Calls) Saw(r eventlog.Record) {
	if !strings.HasSuffix(string(r.Type), ".requested") {
		return
	}
	c.seq, c.what = r.Seq, ""
	ev, err := event.Decode(r)
	if err != nil {
		return
	}
	switch b := ev.Body.(type) {
	case *event.ToolRequested:
		args := projections.Subject(b.Args.View())
		if args == "" {
			args = b.Args.View()
		}
		c.what = strings.TrimSpace(b.Name() + " " + args)
	case *event.LLMRequested:
		c.what = b.Model + ", " + b.Purpose
	case *event.CommentRequested, *event.LabelsRequested, *event.ChangeRequested, *event.ReactionRequested:
		c.what = projections.Describe(ev)
	}
}

// Of is what an outcome is the outcome of, "" if that is not known.
func (c *Calls) Of(r eventlog.Record) string {
	if r.Cause == 0 || r.Cause != c.seq {
		return ""
	}
	return c.what
}

// Failure prints an event that says that something did not work: what was asked, what
// came of it, and the command that shows all of it.
func (p *Printer) Failure(r eventlog.Record, asked string) {
	p.date(r.When())
	kind, seq := string(r.Type), r.Seq
	if asked != "" { // by the number of the call, as everywhere else
		kind, seq = asked, r.Cause
	}
	head := fmt.Sprintf("%5d %s  ", seq, r.When().Local().Format("15:04:05"))
	width := full
	if !p.Full {
		width = max(p.Screen.Width-len(head), 20)
	}
	fmt.Fprintln(p.Screen, p.Screen.Paint(term.Aux, head)+p.Screen.Paint(term.Bad, term.Line(kind, width)))
	below := strings.Repeat(" ", len(head))
	fmt.Fprintln(p.Screen, below+term.Line(string(r.Type)+": "+p.describe(r), width))
	fmt.Fprintln(p.Screen, below+p.Screen.Paint(term.Aux, i18n.Text(p.Lang, "inspect.whole", p.UUID[:min(8, len(p.UUID))], seq)+p.With))
}
