package event

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// unquote reads a JSON string that was found to be one already. It gives what
// encoding/json gives, which would check it once more, byte by byte: texts are
// nearly all of a log, and this halves the time that it takes to read one.
func unquote(data []byte) (string, error) {
	if s, ok := unquoteSimple(data[1 : len(data)-1]); ok {
		return s, nil
	}
	var s string
	err := json.Unmarshal(data, &s)
	return s, err
}

// unquoteSimple does without \u and invalid UTF-8.
func unquoteSimple(body []byte) (string, bool) {
	if !utf8.Valid(body) {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(body))
	for {
		plain, escape, found := bytes.Cut(body, []byte{'\\'})
		b.Write(plain)
		if !found {
			return b.String(), true
		}
		if len(escape) == 0 || unescaped[escape[0]] == 0 {
			return "", false
		}
		b.WriteByte(unescaped[escape[0]])
		body = escape[1:]
	}
}

// unescaped are the bytes that a backslash and one character stand for.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
