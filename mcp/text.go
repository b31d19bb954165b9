package mcp

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean replaces what no JSON text or terminal should carry: invalid UTF-8 and NUL.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

// cut keeps the first limit bytes, at a character's border, and says what is missing.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	keep := limit
	for keep > 0 && !utf8.RuneStart(s[keep]) {
		keep--
	}
	return fmt.Sprintf("%s\n[cut: %d of %d bytes]", s[:keep], keep, len(s))
}

// maxMessage bounds an error's message, in bytes.
const maxMessage = 4 << 10

// oneLine folds white space and control characters to single blanks.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(clean(s), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "…"
	}
	return s
}
