package sanitize

import (
	"strings"
	"unicode/utf8"
)

// Cut shortens Markdown to at most max characters, note included. It cuts at the
// end of a line if one is near, never inside a code span, and closes a block of
// code that it cut open. A text that is short enough stays as it is. If not even
// the note has room, the beginning of the note is what is left.
func Cut(s string, max int, note string) string {
	if max = maxZero(max); utf8.RuneCountInString(s) <= max {
		return s
	}
	room := max - utf8.RuneCountInString(note)
	if room <= 0 {
		return firstRunes(note, max)
	}
	for limit := room; limit > 0; {
		out := cutAt(s, limit)
		over := utf8.RuneCountInString(out) - room
		if over <= 0 {
			return out + note
		}
		limit -= over
	}
	return note
}

func maxZero(n int) int { return max(n, 0) }

// cutAt cuts after at most limit characters and closes what is open.
func cutAt(s string, limit int) string {
	head := firstRunes(s, limit)
	start := strings.LastIndexByte(head, '\n') + 1
	if start > len(head)*3/4 {
		head = head[:start-1]
		return head + closingOf(head)
	}
	if open := closingOf(head); open != "" {
		return head + open
	}
	l := line(s[start:])
	for i := 0; i < len(head)-start; {
		n := leading(l[i:], '`')
		if n == 0 {
			i++
			continue
		}
		end := closingRun(l, i+n, n)
		if end == 0 {
			end = i + n
		}
		if end > len(head)-start {
			return head[:start+i]
		}
		i = end
	}
	return head
}

// closingOf is what closes the block of code that is open at the end of s.
func closingOf(s string) string {
	var f fence
	for l := range strings.SplitSeq(s, "\n") {
		switch {
		case !f.open():
			f = openFence(l)
		case f.ends(l):
			f = fence{}
		}
	}
	if !f.open() {
		return ""
	}
	return f.closing()
}
