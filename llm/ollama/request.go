package ollama

import (
	"encoding/json"

	"agent/llm"
	"agent/llm/httpx"
)

// noContent stands for an empty content, which templates turn into a missing turn.
const noContent = "(empty)"

// The body of POST /api/chat is an object with the model, "messages", and the members of
// wireTail. Equal requests give equal bytes.
type wireTail struct {
	Tools     json.RawMessage `json:"tools,omitempty"`
	Format    json.RawMessage `json:"format,omitempty"` // "json" or a schema
	Stream    bool            `json:"stream"`
	KeepAlive string          `json:"keep_alive"`
	Truncate  bool            `json:"truncate"`
	Shift     bool            `json:"shift"`
	Options   wireOptions     `json:"options"`
}

type wireOptions struct {
	NumCtx int `json:"num_ctx,omitempty"`
}

type wireMessage struct {
	Role     string     `json:"role"`
	Content  string     `json:"content"`
	Thinking string     `json:"thinking,omitempty"`
	Calls    []wireCall `json:"tool_calls,omitempty"`
	ToolName string     `json:"tool_name,omitempty"`
	CallID   string     `json:"tool_call_id,omitempty"` // servers that do not know it go by the order
}

type wireCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type wireTool struct {
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// kept is what goes back with a reply: the next request is to hold what the model
// thought before its calls. https://docs.ollama.com/capabilities/streaming
type kept struct {
	Thinking string `json:"thinking"`
}

// body takes the order of roles, which Ollama's templates do not mind, and
// whether thoughts go back from the steps that the conversation took.
func (p *Provider) body(r llm.Request, schema bool, from string) ([][]byte, error) {
	shape := llm.Profile{}.With(r.Shape...)
	out := wireTail{Stream: true, KeepAlive: p.config.KeepAlive.String(), Options: wireOptions{r.ContextLength}}
	switch {
	case len(r.Schema) > 0 && schema:
		out.Format = r.Schema
	case r.JSON:
		out.Format = json.RawMessage(`"json"`)
	}
	var err error
	if len(r.Tools) > 0 {
		if out.Tools, err = p.tools.Of("", r.Tools, encodeTools); err != nil {
			return nil, err
		}
	}
	tail, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	model, err := json.Marshal(r.Model)
	if err != nil {
		return nil, err
	}
	ordered, thread := p.orders.Of(shape, r)
	turns, err := p.turns.Of(from+"\n"+string(shape.Reasoning), thread, ordered, llm.Listed(func(m llm.Message) ([]byte, error) {
		return json.Marshal(message(m, from, shape.Reasoning))
	}))
	if err != nil {
		return nil, err
	}
	return [][]byte{[]byte(`{"model":`), model, []byte(`,"messages":[`), turns, httpx.EndArray(tail)}, nil
}

func encodeTools(all []llm.Tool) ([]byte, error) {
	var out []wireTool
	for _, t := range all {
		out = append(out, wireTool{"function", wireFunction{t.Name, t.Description, httpx.Schema(t)}})
	}
	return json.Marshal(out)
}

func message(m llm.Message, from string, reasoning llm.Reasoning) wireMessage {
	out := wireMessage{Role: string(m.Role), Content: m.Content, CallID: m.CallID}
	var own kept
	if data := m.Reasoning.Of(from); data != nil && reasoning != llm.ReasoningNone && json.Unmarshal(data, &own) == nil {
		out.Thinking = own.Thinking
	}
	if m.Role == llm.ToolRole {
		out.ToolName = m.Name
	}
	for i, c := range m.Calls {
		w := wireCall{ID: c.ID}
		w.Function.Index, w.Function.Name = i, c.Name
		w.Function.Arguments = json.RawMessage(httpx.Arguments(c.Arguments))
		out.Calls = append(out.Calls, w)
	}
	if out.Content == "" && len(out.Calls) == 0 {
		out.Content = noContent
	}
	return out
}
