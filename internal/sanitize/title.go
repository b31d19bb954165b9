package sanitize

import (
	"strings"

	"agent/internal/lazyregexp"
)

var liveInTitle = lazyregexp.New(`@+([A-Za-z0-9_])|[#!&]+([0-9])|(?i:GH)-([0-9])`)

// Title makes a title fit to stand over a change and in the message of its
// commit, where no mark makes a text code: it notifies nobody, and whatever it
// says closes no item when the change is merged.
func Title(s string) string {
	s = strings.ReplaceAll(s, "://", ": //") // the address of an item closes it, too
	for {
		next := liveInTitle.ReplaceAllString(s, "$1$2$3")
		if next == s {
			return s
		}
		s = next
	}
}

// closing is what closes an item when a change with it is merged. Forges look for
// it in the source of a description and in messages, in code as well.
var closing = lazyregexp.New(`(?i)(clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)` +
	`(:[\t\f\v\r \p{Zs}]*|[\t\f\v\r \p{Zs}]+)((?:issues?[\t\f\v\r \p{Zs}]+)?(?:[\pL\pN_./-]*[#!&][0-9]|GH-[0-9]|https?://|www\.))`)

// Unclosing makes a text close nothing, also where it is code.
func Unclosing(s string) string { return closing.ReplaceAllString(s, "$1 · $3") }
