package workspace

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// place is where a text was found: bytes of the file, and the line.
type place struct{ from, to, line int }

// tolerance is one way to compare lines. Each forgives what a model cannot see, or
// writes differently whatever the file has.
type tolerance struct {
	says  string // what is different, for the answer
	line  func(string) string
	forms bool // composed and decomposed characters are the same
	tab   int  // columns that a tab takes; 0: tabs are tabs
}

var (
	lineEnds   = tolerance{says: "line ends", line: trimReturn}
	tolerances = []tolerance{
		lineEnds,
		{says: "trailing blanks", line: trimBlanks},
		{says: "composed and decomposed characters", forms: true, line: func(s string) string { return norm.NFC.String(trimBlanks(s)) }},
		expanding(4), expanding(8), expanding(2),
	}
)

func expanding(width int) tolerance {
	return tolerance{says: "tabs and spaces", forms: true, tab: width, line: func(s string) string {
		return expand(norm.NFC.String(trimBlanks(s)), width)
	}}
}

func trimReturn(line string) string { return strings.TrimSuffix(line, "\r") }
func trimBlanks(line string) string { return strings.TrimRight(line, " \t\r") }

// expand puts spaces in the place of tabs.
func expand(line string, width int) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	column := 0
	for _, r := range line {
		if r != '\t' {
			b.WriteRune(r)
			column++
			continue
		}
		for stop := column + width - column%width; column < stop; column++ {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// exact are all places where old is, overlapping ones too: with them the choice
// would be ambiguous as well.
func exact(text, old string) (found []place) {
	line := 1
	for at := 0; old != ""; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			break
		}
		line += strings.Count(text[at:at+i], "\n")
		found = append(found, place{at + i, at + i + len(old), line})
		if text[at+i] == '\n' {
			line++
		}
		at += i + 1
	}
	return found
}

// lines of a text, with the offset of each. The end of the text ends the last one.
type lineTable struct {
	lines []string
	at    []int
}

func tableOf(text string) (t lineTable) {
	t.lines = strings.Split(text, "\n")
	offset := 0
	for _, line := range t.lines {
		t.at = append(t.at, offset)
		offset += len(line) + 1
	}
	return t
}

// tolerant are the places where old is but for what a tolerance forgives. Only line
// ends are forgiven to a part of a line: else the lines must be whole, so that what
// was forgiven is all that differs.
func (t lineTable) tolerant(old string, how tolerance) (found []place) {
	raw := strings.Split(old, "\n")
	want, have := plainLines(raw, how), plainLines(t.lines, how)
	last := len(want) - 1
	trimmed := want[last] != how.form(raw[last]) // blanks at its end: the line must end there, too
	for i := range have[:max(len(have)-last, 0)] {
		if last == 0 {
			found = append(found, t.within(i, have[i], want[0], trimmed, how)...)
			continue
		}
		head, tail := have[i], have[i+last]
		whole := (want[0] == "" || head == want[0]) && (want[last] == "" && !trimmed || tail == want[last])
		part := how.says == lineEnds.says && strings.HasSuffix(head, want[0]) && strings.HasPrefix(tail, want[last])
		if !whole && !part || !slices.Equal(have[i+1:i+last], want[1:last]) {
			continue
		}
		from := t.at[i] + how.offset(t.lines[i], len(head)-len(want[0]))
		to := t.at[i+last] + how.offset(t.lines[i+last], len(want[last]))
		found = append(found, place{from, to, i + 1})
	}
	return found
}

func plainLines(lines []string, how tolerance) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = how.line(line)
	}
	return out
}

// within finds a text that has no line end in one line, at its end if the text was trimmed.
func (t lineTable) within(i int, have, want string, trimmed bool, how tolerance) (found []place) {
	for _, p := range exact(have, want) {
		if trimmed && p.to != len(have) {
			continue
		}
		found = append(found, place{t.at[i] + how.offset(t.lines[i], p.from), t.at[i] + how.offset(t.lines[i], p.to), i + 1})
	}
	return found
}

// form is a text with all that a tolerance forgives, but for what stands at its end.
func (how tolerance) form(text string) string {
	if how.forms {
		text = norm.NFC.String(text)
	}
	if how.tab > 0 {
		text = expand(text, how.tab)
	}
	return text
}

// offset is where a place of a plain line is in the line itself, at a border of characters.
func (how tolerance) offset(line string, plain int) int {
	if !how.forms || plain == 0 {
		return min(plain, len(line))
	}
	at, column, size := 0, 0, 0
	for at < len(line) && size < plain {
		step := norm.NFC.NextBoundaryInString(line[at:], true)
		if step <= 0 {
			step = len(line) - at
		}
		part := norm.NFC.String(line[at : at+step])
		if part == "\t" && how.tab > 0 {
			part = strings.Repeat(" ", how.tab-column%how.tab)
		}
		at, column, size = at+step, column+len([]rune(part)), size+len(part)
	}
	return at
}

// withoutNumbers takes the line numbers of read_file out of a text that has them
// in each line, one after the other.
func withoutNumbers(text string) (string, bool) {
	lines := strings.Split(text, "\n")
	previous := 0
	for i, line := range lines {
		if i > 0 && i == len(lines)-1 && line == "" {
			continue
		}
		digits, rest, ok := strings.Cut(strings.TrimLeft(line, " "), "\t")
		number, err := strconv.Atoi(digits)
		if !ok || err != nil || number < 1 || i > 0 && number != previous+1 {
			return text, false
		}
		previous, lines[i] = number, rest
	}
	return strings.Join(lines, "\n"), true
}
