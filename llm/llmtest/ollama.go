package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"agent/llm"
)

// ollamaMessage is a message of Ollama's chat API, in requests and answers.
type ollamaMessage struct {
	Role     string       `json:"role"`
	Content  string       `json:"content"`
	Thinking string       `json:"thinking,omitempty"`
	Calls    []ollamaCall `json:"tool_calls,omitempty"`
	Name     string       `json:"tool_name,omitempty"`
	CallID   string       `json:"tool_call_id,omitempty"`
}

type ollamaCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// parseOllama reads the body of POST /api/chat into the same Request.
func parseOllama(body []byte, h http.Header) (Request, error) {
	var w struct {
		wireRequest
		Messages  []ollamaMessage `json:"messages"`
		Stream    *bool           `json:"stream"`
		Format    json.RawMessage `json:"format"`
		KeepAlive string          `json:"keep_alive"`
		Options   struct {
			NumCtx int `json:"num_ctx"`
		} `json:"options"`
	}
	r := Request{API: llm.APINative, Raw: body, Header: h}
	if err := json.Unmarshal(body, &w); err != nil {
		return r, err
	}
	r.Model, r.NumCtx, r.KeepAlive = w.Model, w.Options.NumCtx, w.KeepAlive
	switch format := string(w.Format); {
	case format == "" || format == "null" || format == `""`:
	case format == `"json"`:
		r.JSON = true
	case format[0] == '{':
		r.Schema = w.Format
	default:
		return r, fmt.Errorf("invalid format: %s; expected \"json\" or a valid JSON Schema object", format)
	}
	r.Stream = w.Stream == nil || *w.Stream
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	for _, m := range w.Messages {
		wire, err := m.wire()
		if err != nil {
			return r, err
		}
		msg, err := wire.message()
		if err != nil {
			return r, err
		}
		w.wireRequest.Messages = append(w.wireRequest.Messages, wire)
		r.Messages = append(r.Messages, msg)
	}
	return r, check(w.wireRequest, r)
}

func (m ollamaMessage) wire() (wireMessage, error) {
	out := wireMessage{Role: m.Role, Content: json.RawMessage(marshal(m.Content)), ToolCallID: m.CallID, Name: m.Name}
	for _, c := range m.Calls {
		if !bytes.HasPrefix(c.Function.Arguments, []byte("{")) {
			return out, fmt.Errorf("json: cannot unmarshal %.20s into Go struct field ChatRequest.messages.tool_calls.function.arguments", c.Function.Arguments)
		}
		out.ToolCalls = append(out.ToolCalls, wireCall{ID: c.ID, Type: "function",
			Function: wireFunction{Name: c.Function.Name, Arguments: string(c.Function.Arguments)}})
	}
	return out, nil
}

// ollamaAnswer is a line of a stream or a whole answer.
type ollamaAnswer struct {
	Model      string        `json:"model"`
	CreatedAt  string        `json:"created_at"`
	Message    ollamaMessage `json:"message"`
	Done       bool          `json:"done"`
	DoneReason string        `json:"done_reason,omitempty"`
	Prompt     int           `json:"prompt_eval_count,omitempty"`
	Cached     int           `json:"prompt_eval_cached_count,omitempty"`
	Completion int           `json:"eval_count,omitempty"`
}

func ollamaChunk(r Request, m ollamaMessage) ollamaAnswer {
	m.Role = "assistant"
	return ollamaAnswer{Model: r.Model, CreatedAt: "2026-11-27T00:00:00Z", Message: m}
}

// end marks the last line. Ollama knows stop and length only.
func (a ollamaAnswer) end(reply Reply) ollamaAnswer {
	a.Done, a.DoneReason = true, reply.Finish
	if a.DoneReason == "tool_calls" {
		a.DoneReason = "stop"
	}
	if !reply.NoUsage {
		a.Prompt, a.Cached, a.Completion = reply.Usage.Prompt, reply.Usage.Cached, reply.Usage.Completion
	}
	return a
}

func (a ollamaAnswer) line() string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // arguments come as the script wrote them
	if err := e.Encode(a); err != nil {
		panic("llmtest: " + err.Error()) // arguments that are no JSON
	}
	return b.String()
}

func ollamaCalls(reply Reply) []ollamaCall {
	out := make([]ollamaCall, len(reply.Calls))
	for i, c := range reply.Calls {
		out[i].ID, out[i].Function.Index, out[i].Function.Name = c.ID, i, c.Name
		out[i].Function.Arguments = json.RawMessage(c.Arguments)
		if c.Arguments == "" {
			out[i].Function.Arguments = json.RawMessage("{}")
		}
	}
	return out
}

// ollamaEvents are the lines of a stream: thinking, text, a line for each call, the end.
func ollamaEvents(reply Reply, r Request) []string {
	var out []string
	for _, p := range pieces(reply.Reasoning) {
		out = append(out, ollamaChunk(r, ollamaMessage{Thinking: p}).line())
	}
	for _, p := range pieces(reply.Text) {
		out = append(out, ollamaChunk(r, ollamaMessage{Content: p}).line())
	}
	for _, c := range ollamaCalls(reply) {
		out = append(out, ollamaChunk(r, ollamaMessage{Calls: []ollamaCall{c}}).line())
	}
	return append(out, ollamaChunk(r, ollamaMessage{}).end(reply).line())
}

func ollamaWhole(reply Reply, r Request) string {
	m := ollamaMessage{Content: reply.Text, Thinking: reply.Reasoning, Calls: ollamaCalls(reply)}
	return ollamaChunk(r, m).end(reply).line()
}

func ollamaTags(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, marshal(map[string]any{"models": []any{map[string]any{"name": Model + ":latest", "model": Model + ":latest"}}}))
}

// ollamaShow describes the one model.
func ollamaShow(w http.ResponseWriter, req *http.Request) {
	var asked struct {
		Model string `json:"model"`
	}
	w.Header().Set("Content-Type", "application/json")
	if json.NewDecoder(req.Body).Decode(&asked) != nil || asked.Model != Model && asked.Model != Model+":latest" {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, marshal(map[string]string{"error": fmt.Sprintf("model '%s' not found", asked.Model)}))
		return
	}
	io.WriteString(w, marshal(map[string]any{
		"capabilities": []string{"completion", "tools"},
		"model_info":   map[string]any{"general.architecture": "script", "script.context_length": Window},
	}))
}
