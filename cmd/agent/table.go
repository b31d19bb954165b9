package main

import (
	"fmt"
	"io"
	"strings"

	"agent/internal/sanitize"
	"agent/internal/term"
)

// table prints rows in columns that stand below each other also where letters
// are as wide as two. The first column is left-aligned, the others right-aligned.
type table struct{ rows [][]string }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) print(out io.Writer) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], term.Columns(cell))
		}
	}
	for _, row := range t.rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-term.Columns(cell))
			if i == 0 || i == len(row)-1 {
				b.WriteString(cell + pad + "  ")
			} else {
				b.WriteString(pad + cell + "  ")
			}
		}
		fmt.Fprintln(out, strings.TrimRight(sanitize.Terminal(b.String()), " "))
	}
}

// bar shows a share of the largest value in up to most characters.
func bar(value, largest float64, most int) string {
	if largest <= 0 || value <= 0 {
		return ""
	}
	eighths := max(1, int(value/largest*float64(most)*8+0.5))
	last := ""
	if rest := eighths % 8; rest > 0 {
		last = string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return strings.Repeat("█", eighths/8) + last
}
