package anthropic

import (
	"encoding/json"
	"strings"

	"agent/llm"
	"agent/llm/httpx"
)

// noContent stands for a blank content, which the API refuses.
const noContent = "(empty)"

// wireRequest is the body of POST /v1/messages. What stays the same stands first.
type wireRequest struct {
	Model     string        `json:"model"`
	MaxTokens int           `json:"max_tokens"`
	Tools     []wireTool    `json:"tools,omitempty"`
	System    []wireBlock   `json:"system,omitempty"`
	Messages  []wireMessage `json:"messages"`
	Choice    *wireChoice   `json:"tool_choice,omitempty"`
	Thinking  *wireThinking `json:"thinking,omitempty"`
	Stream    bool          `json:"stream,omitempty"`
}

type wireTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

type wireChoice struct {
	Type string `json:"type"`
}

type wireMessage struct {
	Role    string      `json:"role"`
	Content []wireBlock `json:"content"`
}

// wireBlock is one block of content. Raw is one that goes back as it came.
type wireBlock struct {
	raw json.RawMessage

	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	CallID  string          `json:"tool_use_id,omitempty"`
	Content string          `json:"content,omitempty"`
	Cache   *wireChoice     `json:"cache_control,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (b wireBlock) MarshalJSON() ([]byte, error) {
	if b.raw != nil {
		return b.raw, nil
	}
	type plain wireBlock
	return json.Marshal(plain(b))
}

// keptBlock is one block of an answer, in its place: thinking as it came, the text,
// or the call of an id.
type keptBlock struct {
	Thinking json.RawMessage `json:"thinking,omitempty"`
	Text     bool            `json:"text,omitempty"`
	Call     string          `json:"call,omitempty"`
}

// request is what is sent. Equal requests of equal shape give equal bytes.
func (s shape) request(r llm.Request) wireRequest {
	out := wireRequest{Model: r.Model, MaxTokens: s.limit, Stream: s.stream}
	for _, m := range s.Messages(r.Messages) {
		if m.Role == llm.System {
			out.System = append(out.System, text(m.Content))
			continue
		}
		out.add(m.Role, s.blocks(m))
	}
	tools := r.Tools
	if len(tools) == 0 && len(r.Kept) > 0 {
		tools, out.Choice = r.Kept, &wireChoice{"none"}
	}
	for _, t := range tools {
		out.Tools = append(out.Tools, wireTool{t.Name, t.Description, httpx.Schema(t)})
	}
	out.Thinking = s.thinking(out.Messages)
	out.mark()
	return out
}

// add puts blocks behind the conversation. Results of tools and what a user says
// after them are one turn.
func (w *wireRequest) add(role llm.Role, blocks []wireBlock) {
	name := string(llm.User)
	if role == llm.Assistant {
		name = string(llm.Assistant)
	}
	if n := len(w.Messages); n > 0 && w.Messages[n-1].Role == name {
		w.Messages[n-1].Content = append(w.Messages[n-1].Content, blocks...)
		return
	}
	w.Messages = append(w.Messages, wireMessage{name, blocks})
}

// mark sets the breakpoints of the cache. The one where the request before ended is
// there because a search for what is cached looks at twenty blocks only.
// https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
func (w *wireRequest) mark() {
	ephemeral := &wireChoice{"ephemeral"}
	if n := len(w.System); n > 0 {
		w.System[n-1].Cache = ephemeral
	}
	marked := 0
	for i := len(w.Messages) - 1; i >= 0 && marked < 2; i-- {
		if m := w.Messages[i]; m.Role == string(llm.User) {
			m.Content[len(m.Content)-1].Cache = ephemeral
			marked++
		}
	}
}

func text(s string) wireBlock {
	if strings.TrimSpace(s) == "" {
		s = noContent
	}
	return wireBlock{Type: "text", Text: s}
}

// blocks are the content of one turn.
func (s shape) blocks(m llm.Message) []wireBlock {
	if m.Role == llm.ToolRole {
		return []wireBlock{{Type: "tool_result", CallID: m.CallID, Content: text(m.Content).Text}}
	}
	said := []wireBlock{text(m.Content)}
	if httpx.Blank(m.Content) && len(m.Calls) > 0 {
		said = nil
	}
	calls := map[string]*wireBlock{}
	for _, c := range m.Calls {
		calls[c.ID] = &wireBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage(httpx.Arguments(c.Arguments))}
	}
	var out []wireBlock
	var own []keptBlock
	if data := m.Reasoning.Of(s.from); data != nil && s.Reasoning != llm.ReasoningNone && json.Unmarshal(data, &own) == nil {
		for _, b := range own {
			switch {
			case b.Thinking != nil:
				out = append(out, wireBlock{raw: b.Thinking})
			case b.Text:
				out, said = append(out, said...), nil
			case calls[b.Call] != nil:
				out = append(out, said...) // no text may stand behind a call
				out = append(out, *calls[b.Call])
				said = nil
				delete(calls, b.Call)
			}
		}
	}
	out = append(out, said...)
	for _, c := range m.Calls {
		if calls[c.ID] != nil {
			out = append(out, *calls[c.ID])
		}
	}
	return out
}
