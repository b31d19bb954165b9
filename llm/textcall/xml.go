package textcall

import (
	"encoding/json"
	"strings"

	"agent/internal/lazyregexp"
	"agent/llm"
)

// functionBody follows "<function=": a name, then an object, or parameters as
// tags with raw values, each on lines of its own.
func functionBody(text string, tools []llm.Tool) ([]call, string, state) {
	name, rest, ok := strings.Cut(text, ">")
	switch {
	case name != "" && !isName(name):
		return nil, "", other
	case !ok:
		return nil, "", cut
	}
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, "{") {
		return namedObject(name, rest, "</function>")
	}
	return parameters(name, rest, tools, "<parameter=", ">", "</function>")
}

// invokes are <invoke name="…"> elements with parameter elements.
func invokes(text string, tools []llm.Tool) (all []call, after string, st state) {
	text = strings.TrimPrefix(text, "<invoke name=")
	for rest := text; ; {
		name, inner, ok := strings.Cut(rest, ">")
		if !ok {
			return nil, "", cut
		}
		calls, after, st := parameters(strings.Trim(name, `"' `), strings.TrimSpace(inner), tools, "<parameter name=", ">", "</invoke>")
		if st != whole {
			return nil, "", st
		}
		all = append(all, calls...)
		if rest, ok = strings.CutPrefix(strings.TrimSpace(after), "<invoke name="); !ok {
			return all, after, whole
		}
	}
}

// valueEnd ends a raw value only if another parameter or the end of the call
// follows: values may hold the mark themselves.
var valueEnd = lazyregexp.New(`\n?</parameter>\s*(<parameter[= ]|</function>|</invoke>)`)

func parameters(name, text string, tools []llm.Tool, begin, close, end string) ([]call, string, state) {
	name, arguments := plainName(name), map[string]json.RawMessage{}
	for rest := text; ; {
		rest = strings.TrimSpace(rest)
		if after, ended := strings.CutPrefix(rest, end); ended {
			return []call{{name, encoded(arguments)}}, after, whole
		}
		inner, ok := strings.CutPrefix(rest, begin)
		if !ok && !strings.HasPrefix(begin, rest) && !strings.HasPrefix(end, rest) {
			return nil, "", other
		}
		key, value, _ := strings.Cut(inner, close)
		at := valueEnd.FindStringSubmatchIndex(value)
		if at == nil {
			return nil, "", cut
		}
		key = strings.Trim(key, `"' `)
		arguments[key] = typed(strings.TrimPrefix(value[:at[0]], "\n"), property(tools, name, key))
		rest = value[at[2]:]
	}
}

// argumentPairs is a name, then <arg_key> and <arg_value> elements.
func argumentPairs(text string, tools []llm.Tool) ([]call, string, state) {
	body, _, closed := strings.Cut(text, "</tool_call>")
	if !closed && !strings.HasSuffix(strings.TrimSpace(text), "</arg_value>") {
		return nil, "", cut
	}
	head, rest, _ := strings.Cut(body, "<arg_key>")
	name, arguments := plainName(head), map[string]json.RawMessage{}
	for rest != "" {
		key, after, ok := strings.Cut(rest, "</arg_key>")
		_, value, opened := strings.Cut(after, "<arg_value>")
		value, next, ended := strings.Cut(value, "</arg_value>")
		if !ok || !opened || !ended {
			return nil, "", cut
		}
		arguments[strings.TrimSpace(key)] = typed(value, property(tools, name, strings.TrimSpace(key)))
		_, rest, _ = strings.Cut(next, "<arg_key>")
	}
	return []call{{name, encoded(arguments)}}, text[len(body):], whole
}

func encoded(arguments map[string]json.RawMessage) string {
	data, err := json.Marshal(arguments)
	if err != nil {
		return ""
	}
	return string(data)
}

// typed is a raw value as JSON: a string, unless the schema says otherwise and
// the value is JSON.
func typed(value string, schema json.RawMessage) json.RawMessage {
	if t := strings.TrimSpace(value); len(schema) > 0 && !strings.Contains(string(schema), `"string"`) && json.Valid([]byte(t)) {
		return json.RawMessage(t)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage(`""`) // strings can always be encoded
	}
	return data
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

var nameOnly = lazyregexp.New(`^[A-Za-z0-9_.\-/]{1,128}$`)

// isName tells whether a text is nothing but the name of a tool: a call without arguments.
func isName(s string) bool { return nameOnly.MatchString(strings.TrimSpace(s)) }
