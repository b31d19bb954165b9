package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"agent/llm"
)

// responsesItem is an item of the Responses API, in requests and answers.
type responsesItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id,omitempty"`
	Status    string          `json:"status,omitempty"`
	Role      string          `json:"role,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
	Summary   json.RawMessage `json:"summary,omitempty"`
	CallID    string          `json:"call_id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments string          `json:"arguments,omitempty"`
	Output    json.RawMessage `json:"output,omitempty"`
	Encrypted string          `json:"encrypted_content,omitempty"`
}

// parseResponses reads the body of POST /v1/responses into the same Request.
func parseResponses(body []byte, h http.Header) (Request, error) {
	var w struct {
		Model  string          `json:"model"`
		Stream bool            `json:"stream"`
		Input  []responsesItem `json:"input"`
		Text   struct {
			Format struct {
				Type string `json:"type"`
				wireSchema
			} `json:"format"`
		} `json:"text"`
		Tools []struct {
			Type       string          `json:"type"`
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
			Strict     *bool           `json:"strict"`
		} `json:"tools"`
	}
	r := Request{API: llm.APIResponses, Raw: body, Header: h}
	if err := json.Unmarshal(body, &w); err != nil {
		return r, fmt.Errorf("could not parse the JSON body: %w", err)
	}
	r.Model, r.Stream = w.Model, w.Stream
	if err := r.format(w.Text.Format.Type, w.Text.Format.wireSchema); err != nil {
		return r, err
	}
	chat := wireRequest{Model: w.Model}
	for _, t := range w.Tools {
		if t.Strict == nil || *t.Strict {
			return r, fmt.Errorf("Invalid schema for function '%s': 'required' must name every property", t.Name)
		}
		chat.Tools = append(chat.Tools, wireTool{Type: t.Type, Function: wireToolFunction{Name: t.Name, Parameters: t.Parameters}})
		r.Tools = append(r.Tools, t.Name)
	}
	if err := turns(w.Input, &chat); err != nil {
		return r, err
	}
	for _, m := range chat.Messages {
		msg, err := m.message()
		if err != nil {
			return r, err
		}
		r.Messages = append(r.Messages, msg)
	}
	return r, check(chat, r)
}

// turns puts items together to messages: calls belong to the assistant's message before them.
func turns(items []responsesItem, chat *wireRequest) error {
	for _, i := range items {
		switch i.Type {
		case "message", "":
			chat.Messages = append(chat.Messages, wireMessage{Role: i.Role, Content: i.Content})
		case "function_call":
			if n := len(chat.Messages); n == 0 || chat.Messages[n-1].Role != string(llm.Assistant) {
				chat.Messages = append(chat.Messages, wireMessage{Role: string(llm.Assistant)})
			}
			last := &chat.Messages[len(chat.Messages)-1]
			last.ToolCalls = append(last.ToolCalls, wireCall{ID: i.CallID, Type: "function", Function: wireFunction{i.Name, i.Arguments}})
		case "function_call_output":
			chat.Messages = append(chat.Messages, wireMessage{Role: string(llm.ToolRole), ToolCallID: i.CallID, Content: i.Output})
		case "reasoning":
			if i.Encrypted == "" {
				return fmt.Errorf("Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", i.ID)
			}
		default:
			return fmt.Errorf("Invalid value: '%s' of input[].type", i.Type)
		}
	}
	return nil
}

// responsesRules are about what goes back to the Responses API.
var responsesRules = []Rule{
	{"reasoning as it was given, before what followed from it", "https://github.com/openai/openai-agents-js/issues/326", 0, func(s Sent) string {
		items, _ := s.Body["input"].([]any)
		for i, item := range items {
			fields, _ := item.(map[string]any)
			if fields["type"] != "reasoning" {
				continue
			}
			id, _ := fields["id"].(string)
			if i+1 == len(items) {
				return "Item '" + id + "' of type 'reasoning' was provided without its required following item."
			}
			next, _ := items[i+1].(map[string]any)
			call, isCall := next["call_id"].(string)
			if isCall && fields["encrypted_content"] != signatureFor(call) {
				return "The encrypted content " + id + " could not be verified."
			}
		}
		return ""
	}},
	{"ids of 64 characters at most", "https://github.com/openclaw/openclaw/issues/25632", 0, func(s Sent) string {
		items, _ := s.Body["input"].([]any)
		for i, item := range items {
			fields, _ := item.(map[string]any)
			if id, _ := fields["call_id"].(string); len(id) > 64 {
				return fmt.Sprintf("Invalid 'input[%d].call_id': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", i, len(id))
			}
		}
		return ""
	}},
	noFields("https://github.com/OpenHands/software-agent-sdk/issues/1837", "Unsupported parameter: '%s' is not supported with this model.", "temperature"),
	// No public statement found for these two on this API.
	noFields("https://github.com/danny-avila/LibreChat/issues/10737", "Unsupported parameter: '%s' is not supported with this model.", "top_p", "max_tokens"),
}
