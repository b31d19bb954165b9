package llmtest

import (
	"encoding/json"

	"agent/llm"
)

// Text is sent in pieces of pieceRunes characters: small, so that every answer
// comes in several and assembling is always exercised. Of very long texts the
// pieces are larger, about maxPieces of them.
const (
	pieceRunes = 16
	maxPieces  = 1000
)

// The response shapes of the API. Field order is fixed, so a reply is always
// the same bytes.
type (
	wireReply struct {
		ID      string       `json:"id"`
		Object  string       `json:"object"`
		Created int          `json:"created"`
		Model   string       `json:"model"`
		Choices []wireChoice `json:"choices"`
		Usage   *wireUsage   `json:"usage,omitempty"`
	}
	wireChoice struct {
		Index   int        `json:"index"`
		Message *wireDelta `json:"message,omitempty"`
		Delta   *wireDelta `json:"delta,omitempty"`
		Finish  *string    `json:"finish_reason"`
	}
	wireDelta struct {
		Role      string     `json:"role,omitempty"`
		Content   *string    `json:"content,omitempty"`
		Reasoning string     `json:"reasoning_content,omitempty"`
		Calls     []wireCall `json:"tool_calls,omitempty"`

		Details []json.RawMessage `json:"reasoning_details,omitempty"`
	}
	wireUsage struct {
		Prompt            int                   `json:"prompt_tokens"`
		Completion        int                   `json:"completion_tokens"`
		Total             int                   `json:"total_tokens"`
		PromptDetails     wirePromptDetails     `json:"prompt_tokens_details"`
		CompletionDetails wireCompletionDetails `json:"completion_tokens_details"`
	}
	wirePromptDetails struct {
		Cached int `json:"cached_tokens"`
	}
	wireCompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	}
)

func usage(u *llm.Usage) *wireUsage {
	return &wireUsage{
		Prompt: u.Prompt, Completion: u.Completion, Total: u.Prompt + u.Completion,
		PromptDetails:     wirePromptDetails{Cached: u.Cached},
		CompletionDetails: wireCompletionDetails{Reasoning: u.Reasoning},
	}
}

// whole is the body of an answer that is not streamed.
func whole(reply Reply, r Request) string {
	m := wireDelta{Role: "assistant", Content: &reply.Text, Reasoning: reply.Reasoning}
	m.Details = detailsOf(reply)
	for i, c := range reply.Calls {
		m.Calls = append(m.Calls, wireCall{ID: c.ID, Type: "function", Function: wireFunction{c.Name, c.Arguments}, Extra: extraOf(reply, i)})
	}
	out := envelope("chat.completion", r)
	out.Choices = []wireChoice{{Message: &m, Finish: &reply.Finish}}
	if !reply.NoUsage {
		out.Usage = usage(reply.Usage)
	}
	return marshal(out)
}

// events are the chunks of a stream, in the order of the API: role, reasoning,
// text, calls, finish reason, usage, end mark.
func events(reply Reply, r Request) []string {
	var out []string
	add := func(d wireDelta, finish *string) {
		e := envelope("chat.completion.chunk", r)
		e.Choices = []wireChoice{{Delta: &d, Finish: finish}}
		out = append(out, event(marshal(e)))
	}
	empty := ""
	add(wireDelta{Role: "assistant", Content: &empty}, nil)
	for _, p := range pieces(reply.Reasoning) {
		add(wireDelta{Reasoning: p}, nil)
	}
	if details := detailsOf(reply); details != nil {
		add(wireDelta{Details: details}, nil)
	}
	for _, p := range pieces(reply.Text) {
		add(wireDelta{Content: &p}, nil)
	}
	for i, c := range reply.Calls {
		add(wireDelta{Calls: []wireCall{{Index: &i, ID: c.ID, Type: "function", Function: wireFunction{Name: c.Name}, Extra: extraOf(reply, i)}}}, nil)
		for _, p := range pieces(c.Arguments) {
			add(wireDelta{Calls: []wireCall{{Index: &i, Function: wireFunction{Arguments: p}}}}, nil)
		}
	}
	add(wireDelta{}, &reply.Finish)
	if r.IncludeUsage && !reply.NoUsage {
		e := envelope("chat.completion.chunk", r)
		e.Choices, e.Usage = []wireChoice{}, usage(reply.Usage)
		out = append(out, event(marshal(e)))
	}
	return append(out, event("[DONE]"))
}

func event(data string) string { return "data: " + data + "\n\n" }

func envelope(object string, r Request) wireReply {
	return wireReply{ID: "chatcmpl-scripted", Object: object, Model: r.Model}
}

func pieces(s string) []string {
	var out []string
	runes := []rune(s)
	size := max(pieceRunes, len(runes)/maxPieces)
	for len(runes) > 0 {
		n := min(size, len(runes))
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return out
}

func detailsOf(reply Reply) []json.RawMessage {
	if reply.Details == "" {
		return nil
	}
	return []json.RawMessage{json.RawMessage(reply.Details)}
}

// extraOf is what Gemini sends with the first call.
func extraOf(reply Reply, i int) json.RawMessage {
	if reply.Signature == "" || i > 0 {
		return nil
	}
	return json.RawMessage(marshal(map[string]any{"google": map[string]string{"thought_signature": reply.Signature}}))
}
