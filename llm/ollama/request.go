package ollama

import (
	"encoding/json"
	"time"

	"agent/llm"
	"agent/llm/httpx"
)

// noContent stands for an empty content, which templates turn into a missing turn.
const noContent = "(empty)"

// wireRequest is the body of POST /api/chat. Equal requests give equal bytes.
type wireRequest struct {
	Model     string          `json:"model"`
	Messages  []wireMessage   `json:"messages"`
	Tools     []wireTool      `json:"tools,omitempty"`
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

// request takes the order of roles, which Ollama's templates do not mind, and
// whether thoughts go back from the steps that the conversation took.
func request(r llm.Request, keepAlive time.Duration, schema bool, from string) wireRequest {
	shape := llm.Profile{}.With(r.Shape...)
	out := wireRequest{Model: r.Model, Stream: true, KeepAlive: keepAlive.String(), Options: wireOptions{r.ContextLength}}
	switch {
	case len(r.Schema) > 0 && schema:
		out.Format = r.Schema
	case r.JSON:
		out.Format = json.RawMessage(`"json"`)
	}
	for _, m := range shape.Messages(r.Messages) {
		out.Messages = append(out.Messages, message(m, from, shape.Reasoning))
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, wireTool{"function", wireFunction{t.Name, t.Description, httpx.Schema(t)}})
	}
	return out
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
