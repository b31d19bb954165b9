package lmstudio

import (
	"encoding/json"
	"regexp"
	"strings"

	"agent/llm"
)

// Qwen's coding models write calls like this, each value on lines of its own:
//
//	<function=fs__read>
//	<parameter=path>
//	go.mod
//	</parameter>
//	</function>
const (
	functionMark  = "<function="
	functionEnd   = "</function>"
	parameterMark = "<parameter="
)

// parameterEnd ends a value only if another one or the end of the call follows:
// values are raw, and may hold the mark themselves.
var parameterEnd = regexp.MustCompile(`\n?</parameter>\s*(<parameter=|</function>)`)

// function is a call in that form at the beginning of text.
func function(text string, tools []llm.Tool) (c llm.ToolCall, after string, ok bool) {
	name, rest, ok := tag(text, functionMark)
	if !ok || !known(tools, name) {
		return c, "", false
	}
	arguments := map[string]json.RawMessage{}
	for {
		rest = strings.TrimSpace(rest)
		if after, ended := strings.CutPrefix(rest, functionEnd); ended {
			encoded, err := json.Marshal(arguments)
			return llm.ToolCall{Name: name, Arguments: string(encoded)}, after, err == nil
		}
		key, value, ok := tag(rest, parameterMark)
		end := parameterEnd.FindStringSubmatchIndex(value)
		if _, twice := arguments[key]; !ok || twice || end == nil {
			return c, "", false
		}
		arguments[key] = typed(strings.TrimPrefix(value[:end[0]], "\n"), property(tools, name, key))
		rest = value[end[2]:]
	}
}

// tag is the name in a mark at the beginning of text, and what follows the mark.
func tag(text, mark string) (name, after string, ok bool) {
	inner, found := strings.CutPrefix(text, mark)
	name, after, closed := strings.Cut(inner, ">")
	return strings.TrimSpace(name), after, found && closed
}

// typed is a raw value as JSON: a string, unless the schema says otherwise and
// the value is JSON.
func typed(value string, schema json.RawMessage) json.RawMessage {
	if t := strings.TrimSpace(value); len(schema) > 0 && !strings.Contains(string(schema), `"string"`) && json.Valid([]byte(t)) {
		return json.RawMessage(t)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage(`""`) // strings can always be encoded
	}
	return text
}

// property is the type that the schema of a tool gives to a property, a name or a list of names.
func property(tools []llm.Tool, tool, key string) json.RawMessage {
	for _, t := range tools {
		var schema struct {
			Properties map[string]struct {
				Type json.RawMessage `json:"type"`
			} `json:"properties"`
		}
		if t.Name == tool && json.Unmarshal(t.Schema, &schema) == nil {
			return schema.Properties[key].Type
		}
	}
	return nil
}
