package mcp

import (
	"bytes"
	"encoding/json"

	"agent/internal/sanitize"
)

// withoutZeroWidth takes byte order marks and the like out of the texts of a schema,
// and leaves all else as it was received. The names of properties stay: the server
// would not know others.
func withoutZeroWidth(schema json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	rest := []byte(schema)
	for {
		start := bytes.IndexByte(rest, '"')
		end := start + 1
		for start >= 0 && end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		if start < 0 || end >= len(rest) {
			out.Write(rest)
			return out.Bytes()
		}
		out.Write(rest[:start])
		text := rest[start : end+1]
		rest = rest[end+1:]
		if after := bytes.TrimSpace(rest); len(after) == 0 || after[0] != ':' {
			text = visibleText(text)
		}
		out.Write(text)
	}
}

// visibleText is a JSON text without marks that have no width.
func visibleText(quoted []byte) []byte {
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return quoted
	}
	clean := sanitize.ZeroWidth(text)
	if clean == text {
		return quoted
	}
	out, err := json.Marshal(clean)
	if err != nil {
		return quoted
	}
	return out
}
