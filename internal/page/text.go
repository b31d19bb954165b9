package page

import (
	"strings"
	"unicode/utf8"

	"agent/eventlog/event"
	"agent/internal/sanitize"
)

// escape is the HTML of a text. Quotes stay: the text is never in an attribute.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escape(s string) HTML { return HTML(escaper.Replace(s)) }

// visible is a text of the world with everything in it that is not seen, or that deceives.
func visible(s string) string { return sanitize.Terminal(s) }

// text is a text of the world as HTML, cut if it is longer than there is room for.
func (b *builder) text(s string) HTML {
	return escape(b.room(s))
}

// room redacts a text, cuts it to what there is room for, and makes it visible.
func (b *builder) room(s string) string {
	s = b.src.Clean(s)
	bound := b.bound
	if b.spent > roomTexts && !b.src.Whole { // more than was foreseen: bytes that take several characters each
		bound = min(bound, 512)
	}
	if len(s) > bound {
		b.doc.Cut = true
		s = event.Shorten(s, bound)
	}
	s = visible(s)
	if len(s) > 6*bound {
		s = s[:6*bound]
	}
	b.spent += len(s)
	return s
}

// line is a short text of the world in one line.
func (b *builder) line(s string) string { return sanitize.Line(b.src.Clean(head(s, 8<<10)), 300) }

func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// fit is the largest bound for which texts of these sizes have room in all.
func fit(sizes []int, room int) int {
	total := func(bound int) (n int) {
		for _, s := range sizes {
			n += min(s, bound)
		}
		return n
	}
	low, high := 512, mostText
	if total(high) <= room {
		return high
	}
	for low+256 < high {
		if mid := (low + high) / 2; total(mid) <= room {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
