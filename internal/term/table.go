package term

import (
	"slices"
	"strings"

	"agent/internal/sanitize"
)

// Table prints rows in columns that stand below each other also where letters
// are as wide as two. On a terminal it takes no more columns than there are: first
// the flexible columns are cut, and if that is not enough, each row becomes a
// paragraph. A pipe gets everything; there a long cell of a flexible column moves the rest
// of its own row, not of all rows.
type Table struct {
	Left  bool  // all columns are left-aligned, not only the first and the last
	Flex  []int // columns that may be cut
	Color func(row, column int) Color

	rows  [][]string     // the first one holds the headings
	below map[int]string // a line below a row
}

// least is what is left of a column that is cut.
const least = 12

// mostPadded is how wide a flexible column is made where there is no terminal.
const mostPadded = 60

// Row adds a row.
func (t *Table) Row(cells ...string) {
	for i, cell := range cells {
		cells[i] = sanitize.Terminal(cell)
	}
	t.rows = append(t.rows, cells)
}

// Under puts a line below the latest row.
func (t *Table) Under(line string) {
	if t.below == nil {
		t.below = map[int]string{}
	}
	t.below[len(t.rows)-1] = sanitize.Terminal(line)
}

// Print writes the table.
func (t *Table) Print(s Screen) {
	widths := t.widths()
	if s.Terminal && !t.fit(widths, s.Width) {
		t.paragraphs(s)
		return
	}
	columns := slices.Clone(widths)
	for _, i := range t.Flex {
		if !s.Terminal && i < len(columns) {
			columns[i] = min(columns[i], mostPadded)
		}
	}
	for n, row := range t.rows {
		var b strings.Builder
		for i, cell := range row {
			cell = Line(cell, widths[i])
			pad := strings.Repeat(" ", max(columns[i]-Columns(cell), 0))
			if t.Color != nil {
				cell = s.Paint(t.Color(n, i), cell)
			}
			switch {
			case i == len(row)-1:
				b.WriteString(cell)
			case i == 0 || t.Left:
				b.WriteString(cell + pad + "  ")
			default:
				b.WriteString(pad + cell + "  ")
			}
		}
		writeLine(s, strings.TrimRight(b.String(), " "))
		if below := t.below[n]; below != "" {
			writeLine(s, strings.Repeat(" ", columns[0]+2)+s.Paint(Aux, below))
		}
	}
}

func writeLine(s Screen, line string) { _, _ = s.Write([]byte(line + "\n")) }

func (t *Table) widths() (widths []int) {
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Columns(cell))
		}
	}
	return widths
}

// fit cuts the flexible columns, the widest first, until all fit into so many columns of the terminal.
func (t *Table) fit(widths []int, columns int) bool {
	total := 2 * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > columns; total-- {
		widest := -1
		for _, i := range t.Flex {
			if i < len(widths) && widths[i] > least && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return false
		}
		widths[widest]--
	}
	return true
}

// paragraphs prints each row as its first cell, and below it the others with their headings.
func (t *Table) paragraphs(s Screen) {
	heads := t.rows[0]
	for _, row := range t.rows[1:] {
		writeLine(s, s.Paint(Head, Line(row[0], s.Width)))
		line := ""
		for i, cell := range row[1:] {
			if heads[i+1] == "" || cell == "" {
				continue
			}
			part := heads[i+1] + " " + cell
			switch {
			case line == "":
				line = "  " + part
			case Columns(line+" · "+part) > s.Width:
				writeLine(s, line)
				line = "  " + part
			default:
				line += " · " + part
			}
		}
		writeLine(s, line)
	}
}

// Bar shows a share of the largest value in up to most characters.
func Bar(value, largest float64, most int) string {
	if largest <= 0 || value <= 0 || most <= 0 {
		return ""
	}
	eighths := max(1, int(value/largest*float64(most)*8+0.5))
	last := ""
	if rest := eighths % 8; rest > 0 {
		last = string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return strings.Repeat("█", eighths/8) + last
}
