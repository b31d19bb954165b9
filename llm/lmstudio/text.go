package lmstudio

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"agent/llm"
)

// marks are what models put around a call.
var marks = map[string]string{
	"<tool_call>":    "</tool_call>",
	"[TOOL_REQUEST]": "[END_TOOL_REQUEST]",
}

// opening finds the first mark that begins a line.
var opening = regexp.MustCompile(`(?m)^[ \t]*(<tool_call>|\[TOOL_REQUEST\])`)

// split parts text into prose and the calls that follow it. No calls means that
// text is prose, whatever it looks like.
func split(text string, tools []llm.Tool) (prose string, calls []llm.ToolCall) {
	if c, ok := bare(text, tools); ok {
		return "", []llm.ToolCall{c}
	}
	at := opening.FindStringIndex(text)
	if at == nil || strings.Count(text[:at[0]], "```")%2 == 1 {
		return text, nil
	}
	for rest := strings.TrimSpace(text[at[0]:]); rest != ""; {
		c, after, ok := block(rest, tools)
		if !ok {
			return text, nil
		}
		calls = append(calls, c)
		rest = strings.TrimSpace(after)
	}
	return strings.TrimSpace(text[:at[0]]), calls
}

// bare is a text that is one call and nothing else.
func bare(text string, tools []llm.Tool) (llm.ToolCall, bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return llm.ToolCall{}, false
	}
	c, after, ok := object(text, tools)
	return c, ok && strings.TrimSpace(after) == ""
}

// block is one call between marks at the beginning of text. The end of the text
// stands for a closing mark: it may be the token that ended the answer.
func block(text string, tools []llm.Tool) (c llm.ToolCall, after string, ok bool) {
	for begin, end := range marks {
		inner, found := strings.CutPrefix(text, begin)
		if !found {
			continue
		}
		inner = strings.TrimSpace(inner)
		if strings.HasPrefix(inner, functionMark) {
			c, after, ok = function(inner, tools)
		} else {
			c, after, ok = object(inner, tools)
		}
		after = strings.TrimSpace(after)
		rest, closed := strings.CutPrefix(after, end)
		return c, rest, ok && (closed || after == "")
	}
	return llm.ToolCall{}, "", false
}

// object is {"name":…,"arguments":{…}} at the beginning of text. Llama's models
// say parameters for arguments.
func object(text string, tools []llm.Tool) (c llm.ToolCall, after string, ok bool) {
	var w struct {
		Type       string          `json:"type"`
		ID         string          `json:"id"`
		Name       string          `json:"name"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(&w) != nil || (w.Arguments == nil) == (w.Parameters == nil) || !known(tools, w.Name) {
		return llm.ToolCall{}, "", false
	}
	after = text[d.InputOffset():]
	var b bytes.Buffer
	if json.Compact(&b, slices.Concat(w.Arguments, w.Parameters)) != nil || b.Bytes()[0] != '{' {
		return llm.ToolCall{}, "", false
	}
	return llm.ToolCall{Name: w.Name, Arguments: b.String()}, after, true
}

func known(tools []llm.Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == name })
}
