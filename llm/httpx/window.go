package httpx

import (
	"strconv"
	"strings"

	"agent/internal/lazyregexp"
)

// number is one that is not part of a name, as in gpt-4-1106.
var number = lazyregexp.New(`(?:^|[\s(=:<>])([0-9][0-9,_]*)`)

// leastWindow is the smallest window that a server is believed to name, in tokens.
const leastWindow = 1024

// windowNamed finds the window in a refusal for length: of the numbers that can be
// one it is the smallest, since the others say what was sent. 0 if there is none.
func windowNamed(message string) (tokens int) {
	for _, found := range number.FindAllStringSubmatch(message, -1) {
		n, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(found[1]))
		if err == nil && n >= leastWindow && (tokens == 0 || n < tokens) {
			tokens = n
		}
	}
	return tokens
}
