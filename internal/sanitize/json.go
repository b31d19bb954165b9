package sanitize

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns a JSON text of the same value that is safe to print anywhere: every
// character that could act on a terminal or that a reader does not see (controls,
// C1, DEL, bidi, tags, zero width, private use) is a \u escape. Line breaks and
// tabs between values stay; invalid UTF-8 becomes \ufffd.
func JSON(data []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(data))
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r == '\r':
			b.WriteByte(' ') // between values: in a string it is escaped already
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\ufffd`)
		case hidden(r) == "":
			b.Write(data[:n])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		data = data[n:]
	}
	return b.Bytes()
}
