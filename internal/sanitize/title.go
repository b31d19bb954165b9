package sanitize

import (
	"regexp"
	"strings"
)

var liveInTitle = regexp.MustCompile(`@+([A-Za-z0-9_])|[#!&]+([0-9])|(?i:GH)-([0-9])`)

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
