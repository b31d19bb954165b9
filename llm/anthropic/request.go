package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"agent/llm"
	"agent/llm/httpx"
)

// noContent stands for a blank content, which the API refuses.
const noContent = "(empty)"

// The body of POST /v1/messages is an object with the members of wireHead, "messages", and
// those of wireTail. What stays the same stands first.
type wireHead struct {
	Model     string          `json:"model"`
	MaxTokens int             `json:"max_tokens"`
	Tools     json.RawMessage `json:"tools,omitempty"`
	System    []wireBlock     `json:"system,omitempty"`
}

type wireTail struct {
	Choice   *wireChoice   `json:"tool_choice,omitempty"`
	Thinking *wireThinking `json:"thinking,omitempty"`
	Stream   bool          `json:"stream,omitempty"`
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

// ephemeral marks a breakpoint of the cache.
var ephemeral = &wireChoice{"ephemeral"}

// body is what is sent, and what it says of thinking. Equal requests of equal shape give
// equal bytes.
func (p *Provider) body(r llm.Request, s shape) ([][]byte, *wireThinking, error) {
	head, tail := wireHead{Model: r.Model, MaxTokens: s.limit}, wireTail{Stream: s.stream}
	turns, thread := p.orders.Of(s.Profile, r)
	for len(turns) > 0 && turns[0].Role == llm.System {
		head.System = append(head.System, text(turns[0].Content))
		turns = turns[1:]
	}
	if n := len(head.System); n > 0 {
		head.System[n-1].Cache = ephemeral
	}
	tools := r.Tools
	if len(tools) == 0 && len(r.Kept) > 0 {
		tools, tail.Choice = r.Kept, &wireChoice{"none"}
	}
	var err error
	if len(tools) > 0 {
		if head.Tools, err = p.tools.Of("", tools, encodeTools); err != nil {
			return nil, nil, err
		}
	}
	before, latest, err := p.messages(turns, thread, s)
	if err != nil {
		return nil, nil, err
	}
	tail.Thinking = s.thinking(latest)
	mark(latest)
	body := make([][]byte, 3)
	for i, part := range []any{head, latest, tail} {
		if body[i], err = json.Marshal(part); err != nil {
			return nil, nil, err
		}
	}
	first := body[0]
	pieces := [][]byte{first[:len(first)-1], []byte(`,"messages":[`), before, body[1][1 : len(body[1])-1], httpx.EndArray(body[2])}
	if before != nil {
		pieces = slices.Insert(pieces, 3, []byte("]},"))
	}
	return pieces, tail.Thinking, nil
}

func encodeTools(all []llm.Tool) ([]byte, error) {
	var out []wireTool
	for _, t := range all {
		out = append(out, wireTool{t.Name, t.Description, httpx.Schema(t)})
	}
	return json.Marshal(out)
}

// roleOf is what the API calls the side that a turn is of. Results of tools and what a
// user says after them are one message.
func roleOf(m llm.Message) string {
	if m.Role == llm.Assistant {
		return string(llm.Assistant)
	}
	return string(llm.User)
}

// mostMarked is how many messages at the end may look otherwise in the next request: two of
// the user have marks, and between them are answers.
const mostMarked = 4

// messages are the latest ones, and the encoding of those before, of which the last is open.
func (p *Provider) messages(turns []llm.Message, thread *llm.Thread, s shape) (before []byte, latest []wireMessage, err error) {
	begin := len(turns)
	for n := 0; begin > 0; begin-- {
		if begin == len(turns) || roleOf(turns[begin]) != roleOf(turns[begin-1]) {
			if n++; n > mostMarked {
				break
			}
		}
	}
	latest = []wireMessage{}
	for i, m := range turns[begin:] {
		if i > 0 && roleOf(turns[begin+i-1]) == roleOf(m) {
			last := &latest[len(latest)-1]
			last.Content = append(last.Content, s.blocks(m)...)
			continue
		}
		latest = append(latest, wireMessage{roleOf(m), s.blocks(m)})
	}
	if begin == 0 {
		return nil, latest, nil
	}
	before, err = p.turns.Of(s.from+"\n"+string(s.Reasoning), thread, turns[:begin], s.encodeTurn)
	return before, latest, err
}

// encodeTurn leaves the message of the turn open for the next one.
func (s shape) encodeTurn(dst []byte, turns []llm.Message) ([]byte, error) {
	n := len(turns) - 1
	blocks, err := json.Marshal(s.blocks(turns[n]))
	if err != nil {
		return nil, err
	}
	switch {
	case n == 0:
		dst = append(dst, `{"role":"`+roleOf(turns[n])+`","content":[`...)
	case roleOf(turns[n-1]) != roleOf(turns[n]):
		dst = append(dst, `]},{"role":"`+roleOf(turns[n])+`","content":[`...)
	default:
		dst = append(dst, ',')
	}
	return append(dst, blocks[1:len(blocks)-1]...), nil
}

// mark sets the breakpoints of the cache. The one where the request before ended is
// there because a search for what is cached looks at twenty blocks only.
// https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
func mark(messages []wireMessage) {
	marked := 0
	for i := len(messages) - 1; i >= 0 && marked < 2; i-- {
		if m := messages[i]; m.Role == string(llm.User) {
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
