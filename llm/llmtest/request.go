package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"agent/llm"
)

// Request is a request for an answer as it arrived, over whichever API.
type Request struct {
	API          string // as in llm.Reply
	Model        string
	Messages     []llm.Message
	Tools        []string        // names
	JSON         bool            // response_format asks for an object
	Schema       json.RawMessage // response_format asks for an object that fits it
	Stream       bool
	IncludeUsage bool   // stream_options.include_usage
	ToolChoice   string // if it is a string
	NumCtx       int    // Ollama: the window asked for
	KeepAlive    string // Ollama
	Raw          []byte
	Header       http.Header

	cached counted // Anthropic
	bound  string  // Anthropic: the end of signatures
}

// Last is the last message, empty if there is none.
func (r Request) Last() llm.Message {
	if len(r.Messages) == 0 {
		return llm.Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// Contains says whether any message holds s.
func (r Request) Contains(s string) bool {
	for _, m := range r.Messages {
		if strings.Contains(m.Content, s) {
			return true
		}
	}
	return false
}

// System is the text of all system messages, joined by newlines.
func (r Request) System() string {
	var parts []string
	for _, m := range r.Messages {
		if m.Role == llm.System {
			parts = append(parts, m.Content)
		}
	}
	return strings.Join(parts, "\n")
}

// ToolResults is the number of tool messages.
func (r Request) ToolResults() int { return r.count(llm.ToolRole) }

// Turns is the number of answers the model has already given in this
// conversation: a counter that survives the death of the client.
func (r Request) Turns() int { return r.count(llm.Assistant) }

func (r Request) count(role llm.Role) int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == role {
			n++
		}
	}
	return n
}

// wireRequest is the body of POST /v1/chat/completions, as far as it is looked at.
type wireRequest struct {
	Model         string        `json:"model"`
	Messages      []wireMessage `json:"messages"`
	Stream        bool          `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	ResponseFormat struct {
		Type       string     `json:"type"`
		JSONSchema wireSchema `json:"json_schema"`
	} `json:"response_format"`
	Tools      []wireTool      `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`
}

type wireTool struct {
	Type     string           `json:"type"`
	Function wireToolFunction `json:"function"`
}

type wireToolFunction struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

type wireMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	Name       string          `json:"name"`
	ToolCalls  []wireCall      `json:"tool_calls"`
}

type wireCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function wireFunction `json:"function"`

	Extra json.RawMessage `json:"extra_content,omitempty"`
}

type wireFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// parse reads a body and refuses what the real API refuses.
func parse(body []byte, h http.Header) (Request, error) {
	r := Request{API: llm.APIChat, Raw: body, Header: h}
	var w wireRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return r, fmt.Errorf("could not parse the JSON body: %w", err)
	}
	r.Model, r.Stream = w.Model, w.Stream
	if json.Unmarshal(w.ToolChoice, &r.ToolChoice) != nil {
		r.ToolChoice = "" // absent, or an object
	}
	r.IncludeUsage = w.StreamOptions != nil && w.StreamOptions.IncludeUsage
	if err := r.format(w.ResponseFormat.Type, w.ResponseFormat.JSONSchema); err != nil {
		return r, err
	}
	for _, m := range w.Messages {
		msg, err := m.message()
		if err != nil {
			return r, err
		}
		r.Messages = append(r.Messages, msg)
	}
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	return r, check(w, r)
}

type wireSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

// format takes what is asked of the form of the reply. Strict schemas are refused:
// in those every property must be required, and none of ours is so.
func (r *Request) format(kind string, s wireSchema) error {
	switch kind {
	case "", "text":
	case "json_object":
		r.JSON = true
	case "json_schema":
		if !toolName.MatchString(s.Name) || !strings.HasPrefix(string(s.Schema), "{") || s.Strict {
			return fmt.Errorf("Invalid schema for response_format '%s'", s.Name)
		}
		r.Schema = s.Schema
	default:
		return fmt.Errorf("Invalid value: '%s' of response_format.type", kind)
	}
	return nil
}

func (m wireMessage) message() (llm.Message, error) {
	out := llm.Message{Role: llm.Role(m.Role), CallID: m.ToolCallID, Name: m.Name}
	for _, c := range m.ToolCalls {
		out.Calls = append(out.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	if len(m.Content) == 0 || string(m.Content) == "null" {
		return out, nil
	}
	if err := json.Unmarshal(m.Content, &out.Content); err == nil {
		return out, nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return out, fmt.Errorf("content of a %s message is neither a string nor parts", m.Role)
	}
	for _, p := range parts {
		out.Content += p.Text
	}
	return out, nil
}
