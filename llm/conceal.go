package llm

import (
	"encoding/json"
	"strings"
)

// leastQuote is how many bytes of something opaque make a quote of it.
const leastQuote = 12

// Conceal takes out of a server's words what they quote of the opaque parts of the
// request. Refusals name the value that they mean, and end in comments and logs.
func (r Request) Conceal(words string) string {
	var hidden []string
	for _, m := range r.Messages {
		var data any
		if m.Reasoning != nil && json.Unmarshal(m.Reasoning.Data, &data) == nil {
			hidden = texts(hidden, data)
		}
	}
	quoted := func(part string) bool {
		for _, h := range hidden {
			if strings.Contains(h, part) {
				return true
			}
		}
		return false
	}
	var out strings.Builder
	for i := 0; i < len(words); {
		n := leastQuote
		if i+n > len(words) || !quoted(words[i:i+n]) {
			out.WriteByte(words[i])
			i++
			continue
		}
		for i+n < len(words) && quoted(words[i:i+n+1]) {
			n++
		}
		out.WriteString("[reasoning]")
		i += n
	}
	return strings.ToValidUTF8(out.String(), "")
}

// texts are those in a JSON value.
func texts(to []string, v any) []string {
	switch v := v.(type) {
	case string:
		if len(v) >= leastQuote {
			to = append(to, v)
		}
	case []any:
		for _, item := range v {
			to = texts(to, item)
		}
	case map[string]any:
		for _, item := range v {
			to = texts(to, item)
		}
	}
	return to
}
