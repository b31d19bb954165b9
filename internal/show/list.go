package show

import (
	"strings"

	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/term"
	"agent/internal/viewer"
)

// List shows on a terminal headings, ages, and colours, and what changed on a
// line of its own: a link must not be cut.
func (p *Printer) List(shown []report.Listed) {
	screen := p.Screen
	t := &term.Table{Left: true, Flex: []int{3, 4}}
	heads := 0
	if screen.Terminal {
		heads = 1
		t.Row(p.text("list.context"), p.text("list.state"), p.text("list.age"), p.text("list.task"), p.text("list.title"))
	}
	for _, line := range shown {
		when, title := term.Minute(line.UpdatedAt), sanitize.Line(line.Title, 60)
		if line.ForkOf != "" {
			title += " [" + p.text("fork.of", line.ForkOf[:min(8, len(line.ForkOf))], line.ForkAt) + "]"
		}
		if line.Work != "" {
			title += " [" + p.text("list.work", sanitize.Line(line.Work, 120)) + "]"
		}
		if screen.Terminal && !line.UpdatedAt.IsZero() {
			when = report.Age(p.Now.Sub(line.UpdatedAt))
		} else if line.Change != "" {
			title += " [" + p.text("list.change", sanitize.Line(line.Change, 300)) + "]"
		}
		t.Row(line.UUID[:min(8, len(line.UUID))], p.stateOf(line), when, sanitize.Line(line.TaskKey, 80), title)
		if screen.Terminal && line.Change != "" {
			t.Under(p.link(line.Change, screen.Width-10))
		}
	}
	t.Color = func(row, column int) term.Color {
		switch {
		case screen.Terminal && row == 0:
			return term.Aux
		case column == 1:
			return viewer.StateColor(shown[row-heads].State)
		}
		return ""
	}
	t.Print(screen)
}

// link is an address as it is, and cut if it is none.
func (p *Printer) link(s string, width int) string {
	if strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") {
		return sanitize.Line(s, 300)
	}
	return term.Line(s, width)
}

// stateOf is the state of a context in words, and what it waits for.
func (p *Printer) stateOf(line report.Listed) string {
	return i18n.Standing(p.Lang, line.State, line.Waits, line.Partial)
}
