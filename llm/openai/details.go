package openai

import (
	"bytes"
	"encoding/json"
	"slices"
)

// details are OpenRouter's reasoning_details. In a stream the texts of one detail
// come in pieces, which must go back as one.
type details []map[string]json.RawMessage

// pieces are the fields of a detail that come in pieces.
var pieces = []string{"text", "summary", "data"}

func (d *details) add(more []map[string]json.RawMessage) {
	for _, m := range more {
		n := len(*d)
		if n == 0 || !continues((*d)[n-1], m) {
			*d = append(*d, m)
			continue
		}
		last := (*d)[n-1]
		for key, value := range m {
			var before, after string
			if isPiece(key) && json.Unmarshal(last[key], &before) == nil && json.Unmarshal(value, &after) == nil {
				value, _ = json.Marshal(before + after) // a string always has a form
			}
			if string(value) != "null" {
				last[key] = value
			}
		}
	}
}

func isPiece(key string) bool { return slices.Contains(pieces, key) }

// continues is true for a piece of the same detail: the same place and kind.
func continues(a, b map[string]json.RawMessage) bool {
	return a["index"] != nil && bytes.Equal(a["index"], b["index"]) && bytes.Equal(a["type"], b["type"])
}

func (d details) whole() json.RawMessage {
	if len(d) == 0 {
		return nil
	}
	data, err := json.Marshal([]map[string]json.RawMessage(d))
	if err != nil {
		return nil
	}
	return data
}
