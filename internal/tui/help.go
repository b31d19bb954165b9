package tui

import (
	"strings"

	"agent/internal/term"
)

const (
	helpKeys = 13 // columns of the keys
	helpHalf = 40 // columns of one of two columns
)

// helpLines are the keys, in two columns where they fit.
func (m *Model) helpLines() (lines []string) {
	half := ""
	flush := func() {
		if half != "" {
			lines, half = append(lines, half), ""
		}
	}
	for line := range strings.Lines(strings.Trim(m.text("tui.help.keys"), "\n")) {
		keys, what, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		if !ok {
			flush()
			lines = append(lines, keys)
			continue
		}
		cell := "  " + pad(keys, helpKeys) + what
		switch {
		case m.width < 2*helpHalf || term.Columns(cell) > helpHalf:
			flush()
			lines = append(lines, cell)
		case half == "":
			half = cell
		default:
			half = pad2(half, helpHalf) + cell
			flush()
		}
	}
	flush()
	return lines
}

// pad2 is pad of a text whose spaces stay.
func pad2(s string, width int) string {
	return s + strings.Repeat(" ", max(width-term.Columns(s), 0))
}

// screenHelp shows the keys from the line on that was scrolled to.
func (m *Model) screenHelp() []string {
	all := m.helpLines()
	lines := []string{m.paint(term.Head, m.fit(m.text("tui.help"), m.width))}
	for _, line := range all[min(m.helpTop, len(all)-1):] {
		lines = append(lines, cut(line, m.width))
	}
	return lines
}

// keyHelp scrolls the help; every other key closes it.
func (m *Model) keyHelp(name string) {
	switch name {
	case "j", "k", "down", "up", "pgdown", "pgup", "g", "G", "home", "end":
		last := max(len(m.helpLines())-(m.height-1-len(m.footer())), 0)
		m.helpTop = m.move(name, m.helpTop, last+1)
	default:
		m.help = false
	}
}
