// Package loosejson finds JSON objects in what models write: between prose, in
// code fences, after thoughts. It is pure, never repairs what it finds, and
// takes time in proportion to the text however many braces that has.
package loosejson

import (
	"encoding/json"
	"iter"
	"strings"
)

// maxStarts bounds the search in a long text full of braces.
const maxStarts = 200

// Objects gives the JSON objects in text by where they begin, so an object comes
// before those inside it. At most 200 braces are tried. Looking for balanced
// braces also finds objects in code fences, without splitting at fences that
// stand inside the object's strings.
func Objects(text string) iter.Seq[[]byte] { return search(text, true) }

// Outermost is Objects without those that stand inside another one.
func Outermost(text string) iter.Seq[[]byte] { return search(text, false) }

func search(text string, nested bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		rest := text
		for range maxStarts {
			i := strings.IndexByte(rest, '{')
			if i < 0 {
				return
			}
			rest = rest[i:]
			data := []byte(rest[:balanced(rest)])
			valid := json.Valid(data)
			if valid && !yield(data) {
				return
			}
			if valid && !nested {
				rest = rest[len(data):]
			} else {
				rest = rest[1:]
			}
		}
	}
}

// balanced gives the length of the object at the start of s, or 0.
func balanced(s string) int {
	depth, inString := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			depth++
		case c == '}':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
