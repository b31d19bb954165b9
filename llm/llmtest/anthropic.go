package llmtest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"agent/llm"
)

// anthropicBlock is a block of content, in requests and answers.
type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	CallID    string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	Cache     json.RawMessage `json:"cache_control,omitempty"`
}

func (b anthropicBlock) text() string {
	if b.Text == nil {
		return ""
	}
	return *b.Text
}

type anthropicTurn struct {
	Role    string           `json:"role"`
	Content []anthropicBlock `json:"content"`
}

type anthropicRequest struct {
	Model       string           `json:"model"`
	MaxTokens   int              `json:"max_tokens"`
	System      []anthropicBlock `json:"system"`
	Messages    []anthropicTurn  `json:"messages"`
	Stream      bool             `json:"stream"`
	Temperature *float64         `json:"temperature"`
	TopP        *float64         `json:"top_p"`
	Thinking    *wireThinking    `json:"thinking"`
	Tools       []struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"input_schema"`
		Cache  json.RawMessage `json:"cache_control"`
	} `json:"tools"`
	Choice *struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
}

// anthropicOutput is the largest max_tokens that the fake takes. Models of today take
// 64,000 and more; it is small so that tests reach it.
const anthropicOutput = 8192

// parseAnthropic reads the body of POST /v1/messages into the same Request, and
// refuses what the API refuses.
func (s *Server) parseAnthropic(body []byte, h http.Header) (Request, error) {
	r := Request{API: llm.APIMessages, Raw: body, Header: h}
	var w anthropicRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return r, err
	}
	r.Model, r.Stream = w.Model, w.Stream
	if err := checkAnthropic(w, h); err != nil {
		return r, err
	}
	for _, t := range w.Tools {
		if w.Choice == nil || w.Choice.Type != "none" {
			r.Tools = append(r.Tools, t.Name)
		}
	}
	for _, b := range w.System {
		r.Messages = append(r.Messages, llm.Message{Role: llm.System, Content: b.text()})
	}
	for _, t := range w.Messages {
		r.Messages = append(r.Messages, t.messages()...)
	}
	r.cached, r.bound = s.count(w), binding(w, len(w.Messages))
	return r, nil
}

// messages are the turns of a conversation that a turn of the API stands for.
func (t anthropicTurn) messages() (out []llm.Message) {
	m := llm.Message{Role: llm.Role(t.Role)}
	for _, b := range t.Content {
		switch b.Type {
		case "tool_result":
			out = append(out, llm.Message{Role: llm.ToolRole, Content: b.Content, CallID: b.CallID})
		case "tool_use":
			m.Calls = append(m.Calls, llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		default:
			m.Content += b.text()
		}
	}
	if m.Content != "" || len(m.Calls) > 0 {
		out = append(out, m)
	}
	return out
}

// checkAnthropic is the table of rules of the API, in its order. Turns of one role
// in a row and calls without tools are refused no more: the API joins such turns, and
// takes such requests since February 2025
// (https://github.com/anthropics/anthropic-sdk-typescript/issues/565,
// https://github.com/anthropics/anthropic-sdk-python/issues/849).
func checkAnthropic(w anthropicRequest, h http.Header) error {
	for _, rule := range []struct {
		source string // of the rule
		status int
		says   string
	}{
		{"https://docs.anthropic.com/en/api/overview", 401, unless(h.Get("x-api-key") != "", "x-api-key header is required")},
		{"https://docs.anthropic.com/en/api/versioning", 400, unless(h.Get("anthropic-version") != "", "anthropic-version: header is required")},
		{"https://docs.anthropic.com/en/api/messages", 400, unless(w.MaxTokens > 0, "max_tokens: Field required")},
		{"https://docs.anthropic.com/en/docs/about-claude/models/overview", 400, unless(w.MaxTokens <= anthropicOutput,
			fmt.Sprintf("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", w.MaxTokens, anthropicOutput, w.Model))},
		{"https://github.com/BerriAI/litellm/issues/15097", 400, unless(w.Temperature == nil || w.TopP == nil,
			"`temperature` and `top_p` cannot both be specified for this model. Please use only one.")},
		{"https://platform.claude.com/docs/en/build-with-claude/prompt-caching", 400, marks(w)},
		{"https://docs.anthropic.com/en/api/messages", 400, order(w.Messages)},
		{"https://github.com/strands-agents/sdk-python/issues/1694", 400, prefill(w.Messages)}, // since Claude 4.6
		{"https://github.com/anthropics/claude-code/issues/7929", 400, results(w.Messages)},    // and issue 13460 there; sdk-typescript 653
		{"https://github.com/anthropics/claude-code/issues/63418", 400, thoughts(w, h)},
		{"https://platform.claude.com/docs/en/build-with-claude/extended-thinking", 400, asked(w)},
	} {
		if rule.says != "" {
			return &refusal{rule.status, rule.says}
		}
	}
	return nil
}

func marks(w anthropicRequest) string {
	n := 0
	for _, b := range w.System {
		n += min(len(b.Cache), 1)
	}
	for _, t := range w.Tools {
		n += min(len(t.Cache), 1)
	}
	for _, t := range w.Messages {
		for _, b := range t.Content {
			n += min(len(b.Cache), 1)
		}
	}
	return unless(n <= 4, fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", n))
}

// order is documented as far as roles go. No public statement found for the words
// about the first turn and blank text; they are reported behaviour.
func order(turns []anthropicTurn) string {
	if len(turns) == 0 || turns[0].Role != "user" {
		return "messages: first message must use the \"user\" role"
	}
	for i, t := range turns {
		switch {
		case t.Role != "user" && t.Role != "assistant":
			return fmt.Sprintf("messages.%d.role: Input should be 'user' or 'assistant'", i)
		case len(t.Content) == 0:
			return fmt.Sprintf("messages.%d: all messages must have non-empty content", i)
		}
		for n, b := range t.Content {
			if b.Type == "text" && strings.TrimSpace(b.text()) == "" {
				return fmt.Sprintf("messages.%d.content.%d: text content blocks must contain non-whitespace text", i, n)
			}
		}
	}
	return ""
}

func prefill(turns []anthropicTurn) string {
	return unless(len(turns) == 0 || turns[len(turns)-1].Role == "user", "This model does not support assistant message prefill. The conversation must end with a user message.")
}

// results wants each call answered in the next turn, before anything else in it.
func results(turns []anthropicTurn) string {
	open := map[string]bool{}
	for i, t := range turns {
		text := false
		for _, b := range t.Content {
			switch {
			case b.Type == "tool_result" && text:
				return fmt.Sprintf("messages.%d: `tool_result` blocks must come first in the content", i)
			case b.Type == "tool_result" && !open[b.CallID]:
				return fmt.Sprintf("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s", i, b.CallID)
			case b.Type == "tool_result":
				delete(open, b.CallID)
			default:
				text = true
			}
		}
		if len(open) > 0 {
			return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after", i-1)
		}
		for _, b := range t.Content {
			if b.Type == "tool_use" {
				open[b.ID] = true
			}
		}
	}
	return unless(len(open) == 0, "`tool_use` ids were found without `tool_result` blocks immediately after")
}

// Bounds of the cache. https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
const (
	leastCached = 1024 // tokens of a prompt that is cached
	looksBack   = 20   // blocks before a breakpoint that are compared with what is cached
)

// counted is how the prompt is counted.
type counted struct{ read, written, fresh int }

// count plays the cache: what was marked before is read, at the latest place that a
// breakpoint reaches, and what is marked now is kept.
func (s *Server) count(w anthropicRequest) counted {
	type place struct {
		hash   [32]byte
		tokens int
		marked bool
	}
	var places []place
	prompt, tokens := sha256.New(), 0
	add := func(v any, mark json.RawMessage) {
		data := marshal(v)
		prompt.Write([]byte(data))
		tokens += llm.Estimate(data)
		places = append(places, place{[32]byte(prompt.Sum(nil)), tokens, mark != nil})
	}
	for _, t := range w.Tools {
		add([]any{t.Name, t.Schema}, t.Cache)
	}
	add("choice", nil)
	blocks := func(role string, all []anthropicBlock) {
		for _, b := range all {
			mark := b.Cache
			b.Cache = nil
			add([]any{role, b}, mark)
		}
	}
	blocks("system", w.System)
	for _, t := range w.Messages {
		blocks(t.Role, t.Content)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cached == nil {
		s.cached = map[[32]byte]bool{}
	}
	var out counted
	last := 0
	for i, p := range places {
		if !p.marked {
			continue
		}
		last = p.tokens
		for back := i; back >= 0 && back > i-looksBack; back-- {
			if s.cached[places[back].hash] {
				out.read = max(out.read, places[back].tokens)
				break
			}
		}
	}
	for _, p := range places {
		if p.marked && p.tokens >= leastCached {
			s.cached[p.hash] = true
		}
	}
	if last < leastCached {
		last = 0
	}
	out.written, out.fresh = max(last-out.read, 0), tokens-max(last, out.read)
	return out
}

func anthropicModel(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("name") != Model {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"type":"error","error":{"type":"not_found_error","message":"model: `+r.PathValue("name")+`"}}`)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, marshal(map[string]any{"type": "model", "id": Model, "display_name": "Scripted"}))
}
