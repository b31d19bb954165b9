package httpx

import (
	"bytes"
	"encoding/json"

	"agent/llm"
)

// Arguments are those of an earlier call as a JSON object. Servers that parse
// them refuse the whole conversation for ever if the model once wrote something
// else than an object.
func Arguments(text string) string {
	if Blank(text) {
		return "{}"
	}
	if trimmed := bytes.TrimSpace([]byte(text)); json.Valid(trimmed) && trimmed[0] == '{' {
		return text
	}
	wrapped, err := json.Marshal(map[string]string{"unparsed": text})
	if err != nil {
		return "{}"
	}
	return string(wrapped)
}

// Schema is that of a tool; one without takes any object.
func Schema(t llm.Tool) json.RawMessage {
	if len(t.Schema) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Schema
}

// maxTokens is above every window and answer there is: more is nonsense.
const maxTokens = 1 << 30

// Usage is u marked as known, or nothing if a number is missing, negative or absurd.
func Usage(u llm.Usage) llm.Usage {
	for _, n := range []int{u.Prompt, u.Completion, u.Cached, u.Reasoning} {
		if n < 0 || n > maxTokens {
			return llm.Usage{}
		}
	}
	if u.Prompt == 0 {
		return llm.Usage{}
	}
	u.Known = true
	return u
}
