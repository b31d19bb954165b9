package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	utf16 "golang.org/x/text/encoding/unicode"
)

// charset is how a file's bytes are read and written back.
type charset struct {
	name  string            // "" for UTF-8 without a byte order mark
	mark  string            // byte order mark, put back when the file is written
	codec encoding.Encoding // nil: the text is the bytes
	is    func(text string) bool
}

const bom = "\xef\xbb\xbf"

var (
	plainText = charset{}
	marked    = charset{name: "UTF-8 with a byte order mark", mark: bom}
	damaged   = charset{name: "UTF-8 with invalid bytes"}
	wide      = []charset{
		{name: "UTF-16LE", mark: "\xff\xfe", codec: utf16.UTF16(utf16.LittleEndian, utf16.IgnoreBOM)},
		{name: "UTF-16BE", mark: "\xfe\xff", codec: utf16.UTF16(utf16.BigEndian, utf16.IgnoreBOM)},
	}
	// narrow is tried in order. The last one takes every byte.
	narrow = []charset{
		{name: "Shift_JIS", codec: japanese.ShiftJIS, is: looksJapanese},
		{name: "EUC-JP", codec: japanese.EUCJP, is: looksJapanese},
		{name: "Windows-1252", codec: charmap.Windows1252, is: looksWestern},
		{name: "ISO-8859-1", codec: charmap.ISO8859_1, is: looksWestern},
	}
)

// errBinary means that a file holds no text.
var errBinary = errors.New("a binary file")

// decodeText finds out how a file's bytes are text. What encode makes of the
// unchanged text is the bytes again; a file of which that is not true is binary.
func decodeText(data []byte) (text string, c charset, err error) {
	for _, c := range wide {
		if body, ok := bytes.CutPrefix(data, []byte(c.mark)); ok {
			return c.decode(body)
		}
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", c, errBinary
	}
	if body, ok := bytes.CutPrefix(data, []byte(bom)); ok && utf8.Valid(body) {
		return string(body), marked, nil
	}
	if utf8.Valid(data) {
		return string(data), plainText, nil
	}
	if mostlyUTF8(data) {
		return string(data), damaged, nil
	}
	for _, c := range narrow {
		if text, c, err := c.decode(data); err == nil {
			return text, c, nil
		}
	}
	return "", c, errBinary
}

func (c charset) decode(body []byte) (string, charset, error) {
	decoded, err := c.codec.NewDecoder().Bytes(body)
	if err != nil || bytes.ContainsRune(decoded, utf8.RuneError) || bytes.IndexByte(decoded, 0) >= 0 || c.is != nil && !c.is(string(decoded)) {
		return "", c, errBinary
	}
	back, err := c.encode(string(decoded))
	if err != nil || !bytes.Equal(back, append([]byte(c.mark), body...)) {
		return "", c, errBinary
	}
	return string(decoded), c, nil
}

// encode gives the bytes of a text. A character that the encoding lacks is an error.
func (c charset) encode(text string) ([]byte, error) {
	if c.codec == nil {
		return []byte(c.mark + strings.TrimPrefix(text, c.mark)), nil
	}
	body, err := c.codec.NewEncoder().Bytes([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the file is in %s, which lacks a character of the new text", c.name)
	}
	return append([]byte(c.mark), body...), nil
}

// mostlyUTF8 tells damaged UTF-8, like the test data of a parser, from other encodings.
func mostlyUTF8(data []byte) bool {
	good, bad := 0, 0
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			good++
		}
		data = data[size:]
	}
	return good > bad
}

// looksJapanese wants kana: other bytes can be read as rare kanji. Half-width
// kana are no sign, since they are single bytes.
func looksJapanese(text string) bool {
	return looksWestern(text) && strings.ContainsFunc(text, func(r rune) bool { return r >= 'ぁ' && r <= 'ヿ' })
}

// looksWestern refuses control characters that no text has.
func looksWestern(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\f\v\x1b\u0085", r)
	})
}

// shown is a text as an answer can hold it.
func shown(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
