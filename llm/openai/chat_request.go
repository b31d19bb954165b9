package openai

import (
	"encoding/json"
	"fmt"

	goopenai "github.com/sashabaranov/go-openai"

	"agent/llm"
	"agent/llm/httpx"
)

// noContent stands for an empty content: servers answer 400 to a message without.
const noContent = "(empty)"

// schemaName is the name of a schema, which servers want and make no use of.
const schemaName = "reply"

// noTools is sent with tools that the reply may not call.
const noTools = "none"

// skipSignature is what Google takes for a call that another model made.
// https://ai.google.dev/gemini-api/docs/thought-signatures
var skipSignature = json.RawMessage(`{"google":{"thought_signature":"skip_thought_signature_validator"}}`)

// A request is an object with the members of wireHead, "messages", and those of wireTail.
// What stays the same stands first, then what grows: servers reuse what they know of the
// beginning of a prompt.
type wireHead struct {
	Model string          `json:"model"`
	Tools []goopenai.Tool `json:"tools,omitempty"`
}

type wireTail struct {
	ToolChoice     string                                 `json:"tool_choice,omitempty"`
	ResponseFormat *goopenai.ChatCompletionResponseFormat `json:"response_format,omitempty"`
	Stream         bool                                   `json:"stream,omitempty"`
	StreamOptions  *goopenai.StreamOptions                `json:"stream_options,omitempty"`
}

type wireMessage struct {
	Role             string          `json:"role"`
	Content          string          `json:"content,omitempty"`
	Name             string          `json:"name,omitempty"`
	ReasoningContent *string         `json:"reasoning_content,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls        []wireSentCall  `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`
}

type wireSentCall struct {
	ID       string                `json:"id"`
	Type     string                `json:"type"`
	Function goopenai.FunctionCall `json:"function"`
	Extra    json.RawMessage       `json:"extra_content,omitempty"`
}

// chatBody is the JSON of a request. Equal requests of equal shape give equal bytes.
func (p *Provider) chatBody(r llm.Request, s shape) ([][]byte, error) {
	offered, choice := s.tools(r)
	head, err := p.tools.Of(r.Model, offered, func(all []llm.Tool) ([]byte, error) { return json.Marshal(wireHead{r.Model, chatTools(all)}) })
	if err != nil {
		return nil, err
	}
	out := wireTail{ToolChoice: choice, Stream: s.stream}
	if s.stream && !s.NoUsage {
		out.StreamOptions = &goopenai.StreamOptions{IncludeUsage: true}
	}
	switch {
	case len(r.Schema) > 0 && !s.NoSchema:
		out.ResponseFormat = &goopenai.ChatCompletionResponseFormat{
			Type:       goopenai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &goopenai.ChatCompletionResponseFormatJSONSchema{Name: schemaName, Schema: r.Schema},
		}
	case r.JSON && !s.NoFormat:
		out.ResponseFormat = &goopenai.ChatCompletionResponseFormat{Type: goopenai.ChatCompletionResponseFormatTypeJSONObject}
	}
	tail, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	ordered, thread := p.orders.Of(s.Profile, r)
	turns, err := p.turns.Of(s.form(), thread, ordered, llm.Listed(func(m llm.Message) ([]byte, error) { return json.Marshal(s.message(m)) }))
	if err != nil {
		return nil, err
	}
	return [][]byte{head[:len(head)-1], []byte(`,"messages":[`), turns, httpx.EndArray(tail)}, nil
}

// form names what the encoding of a turn depends on beside the turn.
func (s shape) form() string {
	return fmt.Sprintln(s.from, s.Profile)
}

// tools are those to send, and what is said of their use.
func (s shape) tools(r llm.Request) (offered []llm.Tool, choice string) {
	if len(r.Tools) == 0 && s.KeepTools && len(r.Kept) > 0 {
		return r.Kept, noTools
	}
	if len(r.Tools) == 0 {
		return nil, ""
	}
	return r.Tools, s.ToolChoice
}

func chatTools(all []llm.Tool) []goopenai.Tool {
	var out []goopenai.Tool
	for _, t := range all {
		out = append(out, goopenai.Tool{
			Type:     goopenai.ToolTypeFunction,
			Function: &goopenai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: httpx.Schema(t)},
		})
	}
	return out
}

func (s shape) message(m llm.Message) wireMessage {
	out := wireMessage{Role: string(m.Role), Content: m.Content, ToolCallID: m.CallID}
	if m.Role == llm.ToolRole && !s.NoToolName {
		out.Name = m.Name // Gemini's API wants it
	}
	var own kept
	if data := m.Reasoning.Of(s.from); data != nil && s.Reasoning != llm.ReasoningNone && json.Unmarshal(data, &own) == nil {
		out.ReasoningDetails = own.Details
	}
	if m.Role == llm.Assistant && s.Reasoning == llm.ReasoningText {
		out.ReasoningContent = &own.Text // of every turn: the field is wanted, it may be empty
	}
	for i, c := range m.Calls {
		sent := wireSentCall{ID: c.ID, Type: string(goopenai.ToolTypeFunction),
			Function: goopenai.FunctionCall{Name: c.Name, Arguments: httpx.Arguments(c.Arguments)}}
		if s.Reasoning != llm.ReasoningNone {
			sent.Extra = own.extra(c.ID)
		}
		if i == 0 && sent.Extra == nil && s.Reasoning == llm.ReasoningSignatures {
			sent.Extra = skipSignature
		}
		out.ToolCalls = append(out.ToolCalls, sent)
	}
	if out.Content == "" && len(out.ToolCalls) == 0 {
		out.Content = noContent
	}
	return out
}

func (k kept) extra(id string) json.RawMessage {
	for own, extra := range k.Calls {
		if own == id || llm.ShortID(own) == id {
			return extra
		}
	}
	return nil
}
