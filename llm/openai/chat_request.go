package openai

import (
	"encoding/json"

	goopenai "github.com/sashabaranov/go-openai"

	"agent/llm"
	"agent/llm/httpx"
)

// noContent stands for an empty content: the library leaves an empty one out,
// and servers answer 400 to a message without.
const noContent = "(empty)"

// schemaName is the name of a schema, which servers want and make no use of.
const schemaName = "reply"

// chatBody is the JSON of a request. Equal requests give equal bytes.
func chatBody(r llm.Request, f features) ([]byte, error) {
	messages := make([]wireMessage, len(r.Messages))
	for i, m := range r.Messages {
		messages[i] = message(m)
	}
	return json.Marshal(wireRequest{chatSettings(r, f), messages})
}

// wireRequest is the library's request with messages that encode in one pass:
// the library's encode themselves, which takes three times as long, and a
// request holds the whole conversation.
type wireRequest struct {
	goopenai.ChatCompletionRequest
	Messages []wireMessage `json:"messages"`
}

type wireMessage struct {
	Role       string              `json:"role"`
	Content    string              `json:"content,omitempty"`
	Name       string              `json:"name,omitempty"`
	ToolCalls  []goopenai.ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string              `json:"tool_call_id,omitempty"`
}

// chatSettings is the request without its messages.
func chatSettings(r llm.Request, f features) goopenai.ChatCompletionRequest {
	out := goopenai.ChatCompletionRequest{Model: r.Model, Stream: f.stream}
	if f.usage {
		out.StreamOptions = &goopenai.StreamOptions{IncludeUsage: true}
	}
	switch {
	case len(r.Schema) > 0 && f.schema:
		out.ResponseFormat = &goopenai.ChatCompletionResponseFormat{
			Type:       goopenai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &goopenai.ChatCompletionResponseFormatJSONSchema{Name: schemaName, Schema: r.Schema},
		}
	case r.JSON && f.format:
		out.ResponseFormat = &goopenai.ChatCompletionResponseFormat{Type: goopenai.ChatCompletionResponseFormatTypeJSONObject}
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, tool(t))
	}
	if len(out.Tools) > 0 && f.toolChoice != "" {
		out.ToolChoice = f.toolChoice
	}
	return out
}

func message(m llm.Message) wireMessage {
	out := wireMessage{Role: string(m.Role), Content: m.Content, ToolCallID: m.CallID}
	if m.Role == llm.ToolRole {
		out.Name = m.Name // Gemini's API wants it, the others do not mind
	}
	for _, c := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, goopenai.ToolCall{
			ID: c.ID, Type: goopenai.ToolTypeFunction,
			Function: goopenai.FunctionCall{Name: c.Name, Arguments: httpx.Arguments(c.Arguments)},
		})
	}
	if out.Content == "" && len(out.ToolCalls) == 0 {
		out.Content = noContent
	}
	return out
}

func tool(t llm.Tool) goopenai.Tool {
	return goopenai.Tool{
		Type:     goopenai.ToolTypeFunction,
		Function: &goopenai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: httpx.Schema(t)},
	}
}
