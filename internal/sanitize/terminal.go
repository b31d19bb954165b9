package sanitize

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Terminal shows everything that could act on a terminal, or deceive the eye, as
// \x1b or \u202e: control characters but \n and \t, DEL, C1, invalid UTF-8, and
// invisible characters. Joiners and selectors of emoji stay.
func Terminal(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch class := hidden(r); {
		case r == utf8.RuneError && strings.HasPrefix(s[i:], "\ufffd"):
			b.WriteRune(r)
		case r == utf8.RuneError:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case class == "" || r == joiner || r == asEmoji:
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// plain tells whether a text is ASCII and acts on no terminal, as most of what programs print.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// Line is s on one line of at most max characters for display: white space is
// folded, the rest is as in [Terminal], and … stands for what was cut.
func Line(s string, max int) string {
	s = Terminal(strings.Join(strings.Fields(s), " "))
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	if max < 1 {
		return ""
	}
	return firstRunes(s, max-1) + "…"
}
