package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// forms are the spellings of a configured value that are looked for.
func forms(s string) []string {
	out := []string{s, reversed(s)}
	for _, escaped := range []string{url.QueryEscape(s), url.PathEscape(s), everyByte(s)} {
		out = append(out, escaped, lowerEscapes(escaped))
	}
	h := hex.EncodeToString([]byte(s))
	out = append(out, h, strings.ToUpper(h))
	for offset := range 3 {
		out = append(out, inside(base64.RawStdEncoding, s, offset), inside(base64.RawURLEncoding, s, offset))
	}
	return append(out, jsonForms(s)...)
}

// inside is the part of the base64 form of s that is the same whatever stands
// around it, if offset bytes (modulo 3) stand before it.
func inside(enc *base64.Encoding, s string, offset int) string {
	coded := enc.EncodeToString(append(make([]byte, offset), s...))
	from := []int{0, 2, 3}[offset]
	to := len(coded)
	if (offset+len(s))%3 != 0 {
		to-- // its low bits belong to the next byte
	}
	return coded[from:to]
}

func jsonForms(s string) []string {
	html, err := json.Marshal(s)
	if err != nil || len(html) < 2 {
		return nil
	}
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return nil
	}
	return []string{string(html[1 : len(html)-1]), strings.TrimSuffix(plain.String()[1:], "\"\n")}
}

func reversed(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

// everyByte escapes all bytes but letters and digits for a URL.
func everyByte(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c != '_' && wordByte(c) {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	return b.String()
}

// lowerEscapes writes the digits of %XX in lower case.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}
