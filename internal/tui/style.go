package tui

import (
	"strings"

	"agent/internal/sanitize"
	"agent/internal/term"
)

// clean is a text of a log on one line, safe for a terminal.
func clean(s string) string { return sanitize.Terminal(strings.Join(strings.Fields(s), " ")) }

// fit is a text of at most width columns.
func (m *Model) fit(s string, width int) string {
	return cut(sanitize.Terminal(strings.ReplaceAll(s, "\n", " ")), width)
}

// cut shortens a safe text; … stands for what was cut. Spaces stay as they are.
func cut(s string, width int) string {
	if width < 1 {
		return ""
	}
	if len(s) <= width || term.Columns(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		if used += term.Columns(string(r)); used > width-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// end is the end of a safe text; … stands for what was cut.
func end(s string, width int) string {
	if term.Columns(s) <= width {
		return s
	}
	runes := []rune(s)
	first, used := len(runes), 1
	for ; first > 0; first-- {
		if used += term.Columns(string(runes[first-1])); used > width {
			break
		}
	}
	return "…" + string(runes[first:])
}

// pad is a text in exactly width columns, padLeft the same to the right.
func pad(s string, width int) string {
	s = cut(clean(s), width)
	return s + strings.Repeat(" ", max(width-term.Columns(s), 0))
}

func padLeft(s string, width int) string {
	s = cut(clean(s), width)
	return strings.Repeat(" ", max(width-term.Columns(s), 0)) + s
}

// paint gives a safe text its colour, where there are colours.
func (m *Model) paint(c term.Color, text string) string {
	return term.Screen{Colors: m.Colors}.Paint(c, text)
}

// mark shows which line is chosen: reversed, and with a sign for those who see no colours.
func (m *Model) mark(painted, plain string, chosen bool) string {
	if !chosen {
		return painted
	}
	plain = "▶" + strings.TrimPrefix(plain, " ")
	return m.paint("7", plain+strings.Repeat(" ", max(m.width-term.Columns(plain), 0)))
}

// topOf is the first of n lines that is shown in so many rows, so that line at is among them.
func topOf(at, rows, n int) int {
	return max(min(at-rows/2, n-rows), 0)
}

// wrap breaks a safe line into pieces of at most width columns, at a space if there is one.
func wrap(s string, width int) (lines []string) {
	s = strings.ReplaceAll(s, "\t", "    ")
	start, used, space := 0, 0, 0
	for i, r := range s {
		n := term.Columns(string(r))
		if used+n > width && i > start {
			end := i
			if space > start+width/2 {
				end = space
			}
			lines = append(lines, s[start:end])
			start, used = end, term.Columns(s[end:i])
		}
		if used += n; r == ' ' {
			space = i + 1
		}
	}
	return append(lines, s[start:])
}

// spark shows values as bars: the latest ones, as many as there are columns.
func spark(values []float64, width int) string {
	if len(values) > width {
		values = values[len(values)-width:]
	}
	largest := 0.0
	for _, v := range values {
		largest = max(largest, v)
	}
	var b strings.Builder
	for _, v := range values {
		n := 0
		if largest > 0 {
			n = 1 + int(v/largest*6.999)
		}
		b.WriteRune([]rune(" ▁▂▃▄▅▆▇█")[min(n, 8)])
	}
	return b.String()
}
