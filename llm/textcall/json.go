package textcall

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"agent/llm"
)

// jsonBody is an object or a list of objects.
func jsonBody(text string, _ []llm.Tool) ([]call, string, state) {
	switch {
	case strings.HasPrefix(text, "{"):
		return objectBody(text)
	case strings.HasPrefix(text, "["):
		return listBody(text)
	case text == "":
		return nil, "", cut
	}
	return nil, "", other
}

// anyBody is what the models that share one mark put after it.
func anyBody(text string, tools []llm.Tool) ([]call, string, state) {
	switch {
	case strings.HasPrefix(text, "<function="):
		return functionBody(strings.TrimPrefix(text, "<function="), tools)
	case strings.HasPrefix(text, "<invoke "):
		return invokes(text, tools)
	case strings.Contains(text, "<arg_key>"), isName(strings.TrimSuffix(text, "</tool_call>")):
		return argumentPairs(text, tools)
	}
	return jsonBody(text, tools)
}

// objectBody is {"name":…,"arguments":{…}} and its relatives.
func objectBody(text string) ([]call, string, state) {
	var w written
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&w); err != nil {
		return nil, "", unreadable(err)
	}
	calls := w.calls()
	if len(calls) == 0 {
		return nil, "", other
	}
	return calls, text[d.InputOffset():], whole
}

func listBody(text string) (all []call, after string, st state) {
	var list []written
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&list); err != nil {
		return nil, "", unreadable(err)
	}
	for _, w := range list {
		calls := w.calls()
		if len(calls) == 0 {
			return nil, "", other
		}
		all = append(all, calls...)
	}
	if len(all) == 0 {
		return nil, "", other
	}
	return all, text[d.InputOffset():], whole
}

// unreadable tells JSON that is cut off from what is not JSON.
func unreadable(err error) state {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return cut
	}
	return other
}

// written has the keys that models use for the name and the arguments.
type written struct {
	Name       json.RawMessage `json:"name"`
	Tool       json.RawMessage `json:"tool"`
	ToolName   json.RawMessage `json:"tool_name"`
	Function   json.RawMessage `json:"function"` // the name, or an object with name and arguments
	Arguments  json.RawMessage `json:"arguments"`
	Parameters json.RawMessage `json:"parameters"`
	Args       json.RawMessage `json:"args"`
	Input      json.RawMessage `json:"input"`
	ToolCalls  []written       `json:"tool_calls"`
	Call       *written        `json:"function_call"`
}

func (w written) calls() (all []call) {
	for _, inner := range w.ToolCalls {
		all = append(all, inner.calls()...)
	}
	if w.Call != nil {
		all = append(all, w.Call.calls()...)
	}
	if len(all) > 0 {
		return all
	}
	var inner written
	if json.Unmarshal(w.Function, &inner) == nil && len(inner.Name) > 0 {
		return inner.calls()
	}
	name := text(first(w.Name, w.Tool, w.ToolName, w.Function))
	arguments := first(w.Arguments, w.Parameters, w.Args, w.Input)
	if name == "" || arguments == nil {
		return nil
	}
	return []call{{plainName(name), object(arguments)}}
}

func first(all ...json.RawMessage) json.RawMessage {
	for _, raw := range all {
		if len(raw) > 0 {
			return raw
		}
	}
	return nil
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // anything else is no name
	return s
}

// object is arguments as a compact JSON object, also if they are the text of one.
func object(raw json.RawMessage) string {
	if inner := text(raw); inner != "" {
		raw = json.RawMessage(inner)
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil || b.Len() == 0 || b.Bytes()[0] != '{' {
		return ""
	}
	return b.String()
}

// plainName is a name without what templates put around it.
func plainName(name string) string {
	name = strings.TrimPrefix(strings.TrimSpace(name), "functions.")
	if base, index, ok := strings.Cut(name, ":"); ok && strings.Trim(index, "0123456789") == "" {
		name = base // Kimi counts the calls of a turn
	}
	return name
}
