package redact

import (
	"bytes"
	"encoding/json"
)

// JSON returns a JSON text without secrets in its strings and keys, and whether
// there were any. All other bytes stay as they are. What is not JSON is treated
// as plain text.
func (r *Redactor) JSON(raw []byte) ([]byte, bool) {
	if !json.Valid(raw) {
		s, changed := r.String(string(raw))
		if !changed {
			return raw, false
		}
		return []byte(s), true
	}
	var out bytes.Buffer
	copied := 0
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		end := closing(raw, i)
		if clean, changed := r.literal(raw[i:end]); changed {
			out.Write(raw[copied:i])
			out.Write(clean)
			copied = end
		}
		i = end - 1
	}
	if copied == 0 {
		return raw, false
	}
	out.Write(raw[copied:])
	return out.Bytes(), true
}

// closing is the index after the quote that ends the literal at raw[i].
func closing(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// literal redacts one string literal.
func (r *Redactor) literal(lit []byte) ([]byte, bool) {
	text := string(lit[1 : len(lit)-1])
	if bytes.IndexByte(lit, '\\') >= 0 && json.Unmarshal(lit, &text) != nil {
		return lit, false // cannot be: the whole text is valid
	}
	clean, changed := r.String(text)
	if !changed {
		return lit, false
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(clean) != nil {
		return lit, false // cannot be: it is a string
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), true
}
