package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agent/llm"
	"agent/llm/httpx"
)

// wireEvent is an event of the Responses API, as far as it is read.
type wireEvent struct {
	Type        string          `json:"type"`
	Delta       string          `json:"delta"`
	OutputIndex int             `json:"output_index"`
	Item        json.RawMessage `json:"item"`
	Response    json.RawMessage `json:"response"`
	Error       json.RawMessage `json:"error"` // of servers that report errors as chat completions do
}

// wireResponse is an answer of the Responses API.
type wireResponse struct {
	Model      string          `json:"model"`
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Output     []wireItem      `json:"output"`
	Usage      json.RawMessage `json:"usage"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

type wireItem struct {
	Type      string        `json:"type"`
	ID        string        `json:"id"`
	CallID    string        `json:"call_id"`
	Name      string        `json:"name"`
	Arguments wireArguments `json:"arguments"`
	Content   []wirePart    `json:"content"`
	Summary   []wirePart    `json:"summary"`
	Encrypted string        `json:"encrypted_content"`

	raw json.RawMessage
}

// UnmarshalJSON keeps the bytes as well: reasoning goes back as it came.
func (i *wireItem) UnmarshalJSON(data []byte) error {
	type plain wireItem
	if err := json.Unmarshal(data, (*plain)(i)); err != nil {
		return err
	}
	i.raw = bytes.Clone(data)
	return nil
}

type wirePart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// reply is the answer in the terms of chat completions, which the callers know.
func (w wireResponse) reply() llm.Reply {
	r := llm.Reply{Model: w.Model, FinishReason: w.finish(), Usage: responsesUsage(w.Usage)}
	var text, refusal, reasoning strings.Builder
	var back []keptItem
	reasoned := false
	for _, item := range w.Output {
		switch item.Type {
		case "message":
			back = append(back, keptItem{Message: true})
			for _, p := range item.Content {
				text.WriteString(p.Text)
				refusal.WriteString(p.Refusal)
			}
		case "reasoning":
			if item.Encrypted != "" { // else it means nothing to a server that stores nothing
				reasoned = true
				back = append(back, keptItem{Reasoning: item.raw})
			}
			for _, p := range slices.Concat(item.Summary, item.Content) {
				reasoning.WriteString(p.Text)
			}
		case "function_call":
			call := item.call(len(r.Calls))
			r.Calls = append(r.Calls, call)
			back = append(back, keptItem{Call: call.ID})
		}
	}
	if reasoned {
		r.Opaque = opaque(back)
	}
	r.Text, r.Reasoning = text.String(), reasoning.String()
	if r.Text == "" {
		r.Text = refusal.String()
	}
	if r.FinishReason == "stop" && len(r.Calls) > 0 {
		r.FinishReason = "tool_calls"
	}
	return r
}

func (i wireItem) call(n int) llm.ToolCall {
	c := llm.ToolCall{ID: i.CallID, Name: i.Name, Arguments: string(i.Arguments)}
	if c.ID == "" {
		c.ID = i.ID
	}
	if c.ID == "" {
		c.ID = fmt.Sprintf("call_%d", n)
	}
	if httpx.Blank(c.Arguments) {
		c.Arguments = "{}"
	}
	return c
}

// finish is empty if the answer is not at its end.
func (w wireResponse) finish() string {
	switch {
	case w.Status == "completed":
		return "stop"
	case w.Status == "incomplete" && w.Incomplete.Reason == "max_output_tokens":
		return "length"
	case w.Status == "incomplete" && w.Incomplete.Reason != "":
		return w.Incomplete.Reason
	case w.Status == "incomplete":
		return w.Status
	}
	return ""
}

func responsesUsage(raw json.RawMessage) llm.Usage {
	var w struct {
		In  *int `json:"input_tokens"`
		Out *int `json:"output_tokens"`
		Of  struct {
			Cached int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutOf struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
	if json.Unmarshal(raw, &w) != nil || w.In == nil || w.Out == nil {
		return llm.Usage{}
	}
	return httpx.Usage(llm.Usage{Prompt: *w.In, Completion: *w.Out, Cached: w.Of.Cached, Reasoning: w.OutOf.Reasoning})
}
