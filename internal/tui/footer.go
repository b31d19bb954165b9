package tui

import (
	"slices"
	"strings"

	"agent/contexts"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/internal/term"
)

// Lines of the footer: those of a question or an answer, and of keys.
const (
	mostFooter = 3
	mostHints  = 2
)

// footer is a question, what the latest command did, or the keys. What is typed has a line
// of its own, so that it is seen on a narrow terminal, too: its end, where it grows.
func (m *Model) footer() []string {
	switch {
	case m.help:
		return m.footerLines(term.Aux, m.text("tui.keys.help"))
	case m.ask != nil:
		lines := m.footerLines(term.Waits, m.ask.text)
		if m.ask.typing {
			lines = append(lines, m.paint(term.Waits, "> "+end(sanitize.Terminal(m.ask.typed), m.width-3)+cursor(true)))
		}
		return lines
	case m.note != "":
		color := term.Good
		if m.bad {
			color = term.Bad
		}
		lines := m.footerLines(color, m.note)
		if m.open != nil && m.height >= 12 { // the keys stay in sight
			lines = append(lines, m.hintLines()...)
		}
		return lines
	case m.open == nil && m.list.typing:
		return m.footerLines(term.Aux, m.text("tui.keys.filter"))
	}
	return m.hintLines()
}

func (m *Model) hintLines() (lines []string) {
	for _, line := range m.laidOut(m.hints()) {
		lines = append(lines, m.paint(term.Aux, line))
	}
	return lines
}

func (m *Model) footerLines(c term.Color, text string) (lines []string) {
	pieces := wrap(clean(text), m.width)
	if len(pieces) > mostFooter {
		pieces = append(pieces[:mostFooter-1], cut(strings.Join(pieces[mostFooter-1:], ""), m.width))
	}
	for _, piece := range pieces {
		lines = append(lines, m.paint(c, piece))
	}
	return lines
}

// laidOut puts hints into lines. Where they have no room, those before the last two go: the
// help names them all.
func (m *Model) laidOut(hints []string) []string {
	for {
		lines := []string{}
		for _, hint := range hints {
			if n := len(lines) - 1; n >= 0 && term.Columns(lines[n]+" · "+hint) <= m.width {
				lines[n] += " · " + hint
				continue
			}
			lines = append(lines, cut(hint, m.width))
		}
		most := mostHints
		if m.height < 12 {
			most = 1
		}
		if len(lines) <= most || len(hints) <= 2 {
			return lines[:min(len(lines), most)]
		}
		hints = append(hints[:len(hints)-3:len(hints)-3], hints[len(hints)-2:]...)
	}
}

// hints are the keys that do something here, the most wanted ones first.
func (m *Model) hints() (all []string) {
	add := func(yes bool, id i18n.ID, args ...any) {
		if yes {
			all = append(all, m.text("tui.hint."+id, args...))
		}
	}
	switch v := m.open; {
	case v == nil:
		_, some := m.list.chosen()
		add(some, "open")
		add(true, "filter")
	case v.tl == nil:
	case v.detail.focused:
		add(len(v.detail.lines) > 1, "scroll", v.detail.top+1, len(v.detail.lines))
		m.hintView(add)
		m.hintJumps(add)
	default:
		add(v.row() != nil, "detail")
		add(v.row() == nil && len(v.items) > 0, "fold")
		m.hintView(add)
		m.hintJumps(add)
	}
	m.hintActions(add)
	add(true, "all")
	add(m.open != nil, "back")
	add(m.open == nil, "quit")
	return all
}

// hintView is the next way to show the chosen row, if its detail is seen.
func (m *Model) hintView(add func(bool, i18n.ID, ...any)) {
	d, r := m.open.detail, m.open.row()
	if n := len(d.views); n > 1 && r != nil && r.Seq == d.seq && (d.focused || m.width >= roomy) {
		add(true, "next", m.text(d.views[(d.view+1)%n]))
	}
}

// hintJumps are the kinds of rows that there are.
func (m *Model) hintJumps(add func(bool, i18n.ID, ...any)) {
	v := m.open
	for _, l := range landmarks {
		add(slices.ContainsFunc(v.items, func(it item) bool { return !it.head() && l.is(&v.tl.Rows[it.row]) }), l.kind)
	}
	add(v.tl.Total.Calls+v.tl.Total.Tools > 0 && !v.detail.costs, "costs")
	add(true, "place")
}

// hintActions are what can be asked of the context.
func (m *Model) hintActions(add func(bool, i18n.ID, ...any)) {
	uuid, _ := m.target()
	if uuid == "" || m.Signal == nil || m.open != nil && m.open.detail.focused {
		return
	}
	rests := m.rests()
	add(m.Fork != nil && m.open != nil && m.open.tl != nil, "fork")
	add(!m.ended() && !rests, "p")
	add(rests, "r")
	add(!m.ended(), "s")
}

// rests tells whether the context that a command is about is paused, or waits.
func (m *Model) rests() bool {
	e, _ := m.list.chosen()
	if m.open != nil {
		if e = m.open.entry; m.open.tl != nil && m.open.to == m.open.end {
			e.state = m.open.tl.Status
		}
	}
	return e.state == contexts.StatePaused || e.state == contexts.StateAwaiting
}
