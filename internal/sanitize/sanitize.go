// Package sanitize makes texts safe at the program's three borders: what the
// model reads ([Input], and [Rendered] for Markdown of others), what we post ([Output], [Cut]), and what a terminal
// shows ([Terminal], [Line]). [Suspicious] names what looks like an injection.
//
// All functions are pure, take any bytes, and never fail. Input and Output are
// idempotent. None of them is a defence against prompt injection: Input only
// makes sure that the model sees what a person sees, and nothing more.
package sanitize

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxInput is the length at which [Input] cuts, in characters.
const MaxInput = 100_000

const cutNote = "\n\n[… the rest of this text was cut]"

// Input returns what a reader of a rendered issue or comment sees: hidden
// characters and HTML comments are gone (code keeps its text, but not hidden
// characters), line ends are \n, the form is NFC, the length at most MaxInput
// characters. removed names what is gone by class, as "zero_width:3".
func Input(s string) (clean string, removed []string) {
	counts := map[string]int{}
	return input(oneLineEnd(validUTF8(s, counts)), counts)
}

func oneLineEnd(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
}

func input(s string, counts map[string]int) (clean string, removed []string) {
	first := inputPass{text: norm.NFC.String(s), counts: counts}
	// What stood apart only because of something hidden was visible as text. If it
	// now looks like a comment, it is kept and taken apart visibly.
	clean = again(norm.NFC.String(first.run()))
	if n := utf8.RuneCountInString(clean); n > MaxInput {
		clean = cutInput(clean, n)
		counts["too_long"] = n - MaxInput
	}
	for class, n := range counts {
		removed = append(removed, fmt.Sprintf("%s:%d", class, n))
	}
	slices.Sort(removed)
	return clean, removed
}

// again is a pass that loses nothing visible.
func again(s string) string {
	p := inputPass{text: s, counts: map[string]int{}, keep: true}
	return p.run()
}

// cutInput shortens a clean text. A cut can open up a code span, so the rest is looked at once more.
func cutInput(s string, n int) string {
	room := MaxInput - utf8.RuneCountInString(cutNote)
	for limit := room; ; {
		out := again(firstRunes(s, limit))
		over := utf8.RuneCountInString(out) - room
		if over <= 0 {
			return out + cutNote
		}
		limit -= over
	}
}

// firstRunes is the beginning of s, at most n characters.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// validUTF8 replaces each run of invalid bytes by U+FFFD.
func validUTF8(s string, counts map[string]int) string {
	if utf8.ValidString(s) {
		return s
	}
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				counts["invalid_utf8"]++
			}
		}
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
