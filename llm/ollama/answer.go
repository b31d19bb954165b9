package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"agent/llm"
	"agent/llm/httpx"
)

// wireAnswer is a line of a stream, or a whole answer.
type wireAnswer struct {
	Model      string          `json:"model"`
	Message    wireMessage     `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Prompt     int             `json:"prompt_eval_count"`        // cached tokens included; absent if zero
	Cached     int             `json:"prompt_eval_cached_count"` // newer servers
	Completion int             `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

// answer grows from lines.
type answer struct {
	text, reasoning strings.Builder
	calls           []llm.ToolCall
	raw             bytes.Buffer
	turn            int // number of answers before this one
}

// read takes lines until one says done.
func read(in *httpx.Answer, turn int) (llm.Reply, error) {
	a := answer{turn: turn}
	for {
		data, err := a.next(in)
		if err != nil {
			return llm.Reply{}, err
		}
		var w wireAnswer
		if json.Unmarshal(data, &w) != nil {
			return llm.Reply{}, in.Unreadable(data, a.text.String())
		}
		if httpx.Present(w.Error) {
			return llm.Reply{}, in.Reported(data, a.text.String())
		}
		a.add(w, data)
		if w.Done {
			in.Drain()
			return a.reply(in, w)
		}
	}
}

// next is the next line that is not blank. An object over several lines, as
// proxies may make of it, counts as one.
func (a *answer) next(in *httpx.Answer) ([]byte, error) {
	for {
		line, err := in.Line()
		data := bytes.TrimSpace(line)
		switch {
		case json.Valid(data) && (err == nil || err == io.EOF):
			return data, nil
		case err == io.EOF && len(data) > 0 && a.raw.Len() == 0:
			return nil, in.Unreadable(data, "") // no line at all: a page, a text
		case err != nil:
			return nil, in.Broken(err, a.text.String())
		case len(data) > 0:
			return a.whole(in, line)
		}
	}
}

func (a *answer) whole(in *httpx.Answer, line []byte) ([]byte, error) {
	rest, err := in.All()
	if err != nil {
		return nil, err
	}
	data := slices.Concat(line, []byte("\n"), rest)
	if !json.Valid(data) {
		return nil, in.Unreadable(data, a.text.String())
	}
	return data, nil
}

func (a *answer) add(w wireAnswer, data []byte) {
	if a.raw.Len() > 0 {
		a.raw.WriteByte('\n')
	}
	a.raw.Write(data)
	a.text.WriteString(w.Message.Content)
	a.reasoning.WriteString(w.Message.Thinking)
	for _, c := range w.Message.Calls {
		call := llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: arguments(c.Function.Arguments)}
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d_%d", a.turn, len(a.calls))
		}
		a.calls = append(a.calls, call)
	}
}

// arguments are an object; some servers that imitate Ollama send its text.
func arguments(raw json.RawMessage) string {
	var text string
	var b bytes.Buffer
	switch {
	case !httpx.Present(raw):
		return "{}"
	case json.Unmarshal(raw, &text) == nil && !httpx.Blank(text):
		return text
	case json.Compact(&b, raw) == nil:
		return b.String()
	}
	return string(raw)
}

func (a *answer) reply(in *httpx.Answer, w wireAnswer) (llm.Reply, error) {
	r := llm.Reply{
		Text: a.text.String(), Reasoning: a.reasoning.String(), Calls: a.calls, FinishReason: w.DoneReason, Model: w.Model,
		Usage: httpx.Usage(llm.Usage{Prompt: w.Prompt, Completion: w.Completion, Cached: w.Cached}), Raw: a.raw.Bytes(),
	}
	if r.FinishReason == "" {
		r.FinishReason = "stop" // older servers say done only
	}
	if r.FinishReason == "stop" && len(r.Calls) > 0 {
		r.FinishReason = "tool_calls"
	}
	if r.Reasoning != "" {
		data, err := json.Marshal(kept{r.Reasoning})
		if err != nil {
			return llm.Reply{}, in.Unreadable(a.raw.Bytes(), r.Text)
		}
		r.Opaque = &llm.Opaque{Data: data}
	}
	if err := in.Cancelled(); err != nil {
		return llm.Reply{}, err
	}
	return r, in.NotEmpty(r)
}
