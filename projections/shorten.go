package projections

import (
	"fmt"
	"strconv"
	"strings"

	"agent/eventlog/event"
)

// shortenResult cuts a tool result to so many bytes. Of numbered lines the first
// ones stay, under a head that says which: a hole in the middle of a range that is
// called complete would be taken for the file.
func shortenResult(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, lines := "", text
	if strings.HasPrefix(text, "[lines ") {
		head, lines, _ = strings.Cut(text, "\n")
	}
	first, ok := lineNumber(lines)
	room := most - len(head) - len("[lines 1000000 to 1000000; cut here to fit: read on with start_line 1000000]\n")
	if !ok || room < 0 {
		return event.Shorten(text, most)
	}
	cut := strings.LastIndexByte(lines[:min(room, len(lines))], '\n')
	if cut < 0 {
		return event.Shorten(text, most)
	}
	kept := lines[:cut]
	last, ok := lineNumber(kept[strings.LastIndexByte(kept, '\n')+1:])
	if !ok {
		return event.Shorten(text, most)
	}
	total := ""
	if _, after, ok := strings.Cut(head, " of "); ok {
		number, _, _ := strings.Cut(strings.TrimSuffix(after, "]"), ";")
		total = " of " + number
	}
	return fmt.Sprintf("[lines %d to %d%s; cut here to fit: read on with start_line %d]\n%s", first, last, total, last+1, kept)
}

// lineNumber is the number before the tab of a line.
func lineNumber(line string) (int, bool) {
	digits, _, ok := strings.Cut(line, "\t")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil
}
