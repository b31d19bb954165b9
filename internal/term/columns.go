package term

import (
	"strings"

	"golang.org/x/text/width"

	"agent/internal/sanitize"
)

// Columns is how many columns of a terminal a text takes.
func Columns(s string) (n int) {
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// Line is s on one line of at most most columns, safe for a terminal; … stands
// for what was cut.
func Line(s string, most int) string {
	s = sanitize.Terminal(strings.Join(strings.Fields(s), " "))
	if len(s) <= most || Columns(s) <= most {
		return s
	}
	used := 0
	for i, r := range s {
		if used += columnsOf(r); used > most-1 {
			return s[:i] + "…"
		}
	}
	return s
}
