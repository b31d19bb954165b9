package openai

import (
	"encoding/json"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"agent/llm"
	"agent/llm/httpx"
)

// A request to the Responses API is an object with the members of wireInputHead, "input",
// and those of wireInputTail. What grows stands behind what stays.
type wireInputHead struct {
	Model string                  `json:"model"`
	Tools []goopenai.ResponseTool `json:"tools,omitempty"`
}

type wireInputTail struct {
	ToolChoice string                       `json:"tool_choice,omitempty"`
	Text       *goopenai.ResponseTextConfig `json:"text,omitempty"`
	Include    []string                     `json:"include,omitempty"`
	Store      bool                         `json:"store"`
	Stream     bool                         `json:"stream,omitempty"`
}

// encrypted asks for reasoning in a form that can be sent back to a server that
// stores nothing.
const encrypted = "reasoning.encrypted_content"

// responsesBody is the JSON of a request to the Responses API. Equal requests
// give equal bytes. The server is asked to store nothing: the log is the history.
func (p *Provider) responsesBody(r llm.Request, s shape) ([][]byte, error) {
	offered, choice := s.tools(r)
	head, err := p.inputTools.Of(r.Model, offered, func(all []llm.Tool) ([]byte, error) {
		out := wireInputHead{Model: r.Model}
		for _, t := range all {
			out.Tools = append(out.Tools, responsesTool(t))
		}
		return json.Marshal(out)
	})
	if err != nil {
		return nil, err
	}
	out := wireInputTail{ToolChoice: choice, Stream: s.stream}
	switch {
	case len(r.Schema) > 0 && !s.NoSchema:
		out.Text = &goopenai.ResponseTextConfig{Format: &goopenai.ResponseTextFormat{Type: "json_schema", Name: schemaName, Schema: r.Schema}}
	case r.JSON && !s.NoFormat:
		out.Text = &goopenai.ResponseTextConfig{Format: &goopenai.ResponseTextFormat{Type: "json_object"}}
	}
	if s.Reasoning != llm.ReasoningNone && reasons(r.Model) {
		out.Include = []string{encrypted}
	}
	tail, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	ordered, thread := p.orders.Of(s.Profile, r)
	input, err := p.input.Of(s.form(), thread, ordered, llm.Listed(func(m llm.Message) ([]byte, error) {
		data, err := json.Marshal(s.items(m))
		if err != nil {
			return nil, err
		}
		return data[1 : len(data)-1], nil
	}))
	if err != nil {
		return nil, err
	}
	return [][]byte{head[:len(head)-1], []byte(`,"input":[`), input, httpx.EndArray(tail)}, nil
}

// reasons is true for models that may reason. Others refuse to be asked for it; of
// an unknown name the refusal tells.
func reasons(model string) bool {
	return !strings.HasPrefix(model, "gpt-4") && !strings.HasPrefix(model, "gpt-3")
}

// keptItem is one output item of an answer, in its place: reasoning as it came, the
// text, or the call of an id.
type keptItem struct {
	Reasoning json.RawMessage `json:"reasoning,omitempty"`
	Message   bool            `json:"message,omitempty"`
	Call      string          `json:"call,omitempty"`
}

// items are the input items of one message: calls and results stand beside
// messages, and reasoning before what followed from it.
func (s shape) items(m llm.Message) []any {
	content := m.Content
	if content == "" {
		content = noContent
	}
	if m.Role == llm.ToolRole {
		return []any{goopenai.ResponseFunctionCallOutput{Type: "function_call_output", CallID: m.CallID, Output: content}}
	}
	text := []any{goopenai.ResponseInputMessage{Type: "message", Role: string(m.Role), Content: content}}
	if m.Content == "" && len(m.Calls) > 0 {
		text = nil
	}
	calls := map[string]any{}
	for _, c := range m.Calls {
		calls[c.ID] = goopenai.ResponseOutputItem{Type: "function_call", CallID: c.ID, Name: c.Name, Arguments: httpx.Arguments(c.Arguments)}
	}
	var out []any
	var own []keptItem
	if data := m.Reasoning.Of(s.from); data != nil && s.Reasoning != llm.ReasoningNone && json.Unmarshal(data, &own) == nil {
		for _, item := range own {
			switch {
			case item.Reasoning != nil:
				out = append(out, item.Reasoning)
			case item.Message:
				out, text = append(out, text...), nil
			case calls[item.Call] != nil:
				out = append(out, calls[item.Call])
				delete(calls, item.Call)
			}
		}
	}
	out = append(out, text...)
	for _, c := range m.Calls {
		if calls[c.ID] != nil {
			out = append(out, calls[c.ID])
		}
	}
	return out
}

// responsesTool is not strict, which is this API's default: that would make every
// optional property of a schema a required one.
func responsesTool(t llm.Tool) goopenai.ResponseTool {
	return goopenai.ResponseTool{Type: goopenai.ToolTypeFunction, Parameters: map[string]any{
		"name": t.Name, "description": t.Description, "parameters": httpx.Schema(t), "strict": false,
	}}
}
