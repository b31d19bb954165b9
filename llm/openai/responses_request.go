package openai

import (
	"encoding/json"

	goopenai "github.com/sashabaranov/go-openai"

	"agent/llm"
	"agent/llm/httpx"
)

// responsesBody is the JSON of a request to the Responses API. Equal requests
// give equal bytes. The server is asked to store nothing: the log is the history.
func responsesBody(r llm.Request, f features) ([]byte, error) {
	keep := false
	out := goopenai.CreateResponseRequest{Model: r.Model, Stream: f.stream, Store: &keep}
	switch {
	case len(r.Schema) > 0 && f.schema:
		out.Text = &goopenai.ResponseTextConfig{Format: &goopenai.ResponseTextFormat{Type: "json_schema", Name: schemaName, Schema: r.Schema}}
	case r.JSON && f.format:
		out.Text = &goopenai.ResponseTextConfig{Format: &goopenai.ResponseTextFormat{Type: "json_object"}}
	}
	input := []any{}
	for _, m := range r.Messages {
		input = append(input, items(m)...)
	}
	out.Input = input
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, responsesTool(t))
	}
	return json.Marshal(out)
}

// items are the input items of one message: calls and results stand beside messages.
func items(m llm.Message) []any {
	content := m.Content
	if content == "" {
		content = noContent
	}
	if m.Role == llm.ToolRole {
		return []any{goopenai.ResponseFunctionCallOutput{Type: "function_call_output", CallID: m.CallID, Output: content}}
	}
	var out []any
	if m.Content != "" || len(m.Calls) == 0 {
		out = append(out, goopenai.ResponseInputMessage{Type: "message", Role: string(m.Role), Content: content})
	}
	for _, c := range m.Calls {
		out = append(out, goopenai.ResponseOutputItem{
			Type: "function_call", CallID: c.ID, Name: c.Name, Arguments: httpx.Arguments(c.Arguments),
		})
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
