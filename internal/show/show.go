// Package show prints the reports of package report for people: list, status, why and
// stats. Every text of a log or a forge is made safe for a terminal before it is
// painted. What programs read, the command prints as JSON.
package show

import (
	"fmt"

	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/term"
)

// Printer prints reports of one source.
type Printer struct {
	report.Source
	Screen term.Screen
}

func (p *Printer) text(id i18n.ID, args ...any) string { return i18n.Text(p.Lang, id, args...) }

// say prints one line; nothing in it acts on the terminal.
func (p *Printer) say(id i18n.ID, args ...any) {
	fmt.Fprintln(p.Screen, sanitize.Terminal(p.text(id, args...)))
}

// paint prints one line in a colour.
func (p *Printer) paint(color term.Color, line string) {
	fmt.Fprintln(p.Screen, p.Screen.Paint(color, sanitize.Terminal(line)))
}
