package openai

import (
	"bytes"
	"encoding/json"

	goopenai "github.com/sashabaranov/go-openai"

	"agent/llm"
)

// noContent stands for an empty content: the library leaves an empty one out,
// and servers answer 400 to a message without.
const noContent = "(empty)"

// body is the JSON of a request. Equal requests give equal bytes.
func body(r llm.Request, f features) ([]byte, error) {
	out := goopenai.ChatCompletionRequest{Model: r.Model, Stream: f.stream}
	if f.usage {
		out.StreamOptions = &goopenai.StreamOptions{IncludeUsage: true}
	}
	if r.JSON && f.format {
		out.ResponseFormat = &goopenai.ChatCompletionResponseFormat{Type: goopenai.ChatCompletionResponseFormatTypeJSONObject}
	}
	for _, m := range r.Messages {
		out.Messages = append(out.Messages, message(m))
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, tool(t))
	}
	return json.Marshal(out)
}

func message(m llm.Message) goopenai.ChatCompletionMessage {
	out := goopenai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content, ToolCallID: m.CallID}
	if m.Role == llm.ToolRole {
		out.Name = m.Name // Gemini's API wants it, the others do not mind
	}
	for _, c := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, goopenai.ToolCall{
			ID: c.ID, Type: goopenai.ToolTypeFunction,
			Function: goopenai.FunctionCall{Name: c.Name, Arguments: arguments(c.Arguments)},
		})
	}
	if out.Content == "" && len(out.ToolCalls) == 0 {
		out.Content = noContent
	}
	return out
}

// arguments are those of an earlier call. Servers that parse them refuse the
// whole conversation for ever if the model once wrote something else than an object.
func arguments(text string) string {
	if blank(text) {
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

func tool(t llm.Tool) goopenai.Tool {
	schema := t.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return goopenai.Tool{
		Type:     goopenai.ToolTypeFunction,
		Function: &goopenai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: schema},
	}
}
