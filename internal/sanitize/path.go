package sanitize

import (
	"strconv"
	"strings"
)

// Path quotes those parts of a path that hold what a reader would not see as it is.
func Path(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strange(part) {
			parts[i] = strconv.QuoteToASCII(part)
		}
	}
	return strings.Join(parts, "/")
}

func strange(s string) bool {
	return Terminal(s) != s || strings.ContainsAny(s, "\n\t\"\u200d\ufe0f") || strings.TrimSpace(s) != s
}
