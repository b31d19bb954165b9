package anthropic

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"agent/llm"
	"agent/llm/httpx"
)

// wireAnswer is a whole answer, or what an event of a stream holds of one.
type wireAnswer struct {
	Type    string            `json:"type"`
	Model   string            `json:"model"`
	Content []json.RawMessage `json:"content"`
	Stop    string            `json:"stop_reason"`
	Usage   wireUsage         `json:"usage"`
	Error   json.RawMessage   `json:"error"`
}

type wireEvent struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message wireAnswer      `json:"message"`
	Block   json.RawMessage `json:"content_block"`
	Delta   struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		JSON      string `json:"partial_json"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		Stop      string `json:"stop_reason"`
	} `json:"delta"`
	Usage wireUsage `json:"usage"`
}

// wireUsage counts the prompt in three parts.
type wireUsage struct {
	Input   *int `json:"input_tokens"`
	Read    *int `json:"cache_read_input_tokens"`
	Created *int `json:"cache_creation_input_tokens"`
	Output  *int `json:"output_tokens"`
}

// with takes the numbers of a later event, which are totals.
func (u wireUsage) with(later wireUsage) wireUsage {
	for _, pair := range []struct{ old, now **int }{{&u.Input, &later.Input}, {&u.Read, &later.Read}, {&u.Created, &later.Created}, {&u.Output, &later.Output}} {
		if *pair.now != nil {
			*pair.old = *pair.now
		}
	}
	return u
}

func (u wireUsage) usage() llm.Usage {
	if u.Input == nil || u.Output == nil {
		return llm.Usage{}
	}
	read, created := value(u.Read), value(u.Created)
	return httpx.Usage(llm.Usage{Prompt: *u.Input + read + created, Cached: read, Completion: *u.Output})
}

func value(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// read makes a reply of an answer.
func read(in *httpx.Answer) (llm.Reply, error) {
	stream, err := in.IsStream()
	if err != nil {
		return llm.Reply{}, err
	}
	if stream {
		return readStream(in)
	}
	data, err := in.All()
	if err != nil {
		return llm.Reply{}, err
	}
	var w wireAnswer
	if json.Unmarshal(data, &w) != nil {
		return llm.Reply{}, in.Unreadable(data, "")
	}
	if httpx.Present(w.Error) || w.Content == nil {
		return llm.Reply{}, in.Reported(data, "")
	}
	return finish(in, w, data)
}

func readStream(in *httpx.Answer) (llm.Reply, error) {
	s := sink{in: in, blocks: map[int]*block{}}
	broken, failure := in.Events(&s)
	switch {
	case failure != nil:
		return llm.Reply{}, failure
	case in.Cancelled() != nil:
		return llm.Reply{}, in.Cancelled()
	case s.ended || s.stop != "":
		return s.reply()
	case broken != nil:
		return llm.Reply{}, broken
	}
	return llm.Reply{}, in.Cut(s.Partial())
}

// sink puts a stream together to a whole answer.
type sink struct {
	in     *httpx.Answer
	model  string
	blocks map[int]*block
	stop   string
	usage  wireUsage
	ended  bool
	lines  bytes.Buffer
}

// block grows from deltas.
type block struct {
	fields                     map[string]any
	text, input, thought, sign strings.Builder
}

// Partial implements httpx.Sink.
func (s *sink) Partial() string {
	var all strings.Builder
	for _, i := range slices.Sorted(maps.Keys(s.blocks)) {
		all.WriteString(s.blocks[i].text.String())
	}
	return all.String()
}

// Event implements httpx.Sink.
func (s *sink) Event(data []byte, isError bool) (bool, error) {
	var e wireEvent
	if json.Unmarshal(data, &e) != nil {
		return false, s.in.Unreadable(data, s.Partial())
	}
	if isError || e.Type == "error" {
		return false, s.in.Reported(data, s.Partial())
	}
	if s.lines.Len() > 0 {
		s.lines.WriteByte('\n')
	}
	s.lines.Write(data)
	switch e.Type {
	case "message_start":
		s.model, s.usage = e.Message.Model, e.Message.Usage
	case "content_block_start":
		b := &block{}
		if json.Unmarshal(e.Block, &b.fields) != nil {
			return false, s.in.Unreadable(data, s.Partial())
		}
		s.blocks[e.Index] = b
	case "content_block_delta":
		if b := s.blocks[e.Index]; b != nil {
			b.text.WriteString(e.Delta.Text)
			b.input.WriteString(e.Delta.JSON)
			b.thought.WriteString(e.Delta.Thinking)
			b.sign.WriteString(e.Delta.Signature)
		}
	case "message_delta":
		s.stop, s.usage = e.Delta.Stop, s.usage.with(e.Usage)
	case "message_stop":
		s.ended = true
		return true, nil
	}
	return false, nil
}

func (s *sink) reply() (llm.Reply, error) {
	w := wireAnswer{Model: s.model, Stop: s.stop, Usage: s.usage}
	for _, i := range slices.Sorted(maps.Keys(s.blocks)) {
		data, err := s.blocks[i].whole()
		if err != nil {
			return llm.Reply{}, s.in.Unreadable([]byte(s.blocks[i].input.String()), s.Partial())
		}
		w.Content = append(w.Content, data)
	}
	return finish(s.in, w, s.lines.Bytes())
}

// whole is the block as an answer in one piece would hold it.
func (b *block) whole() (json.RawMessage, error) {
	for key, grown := range map[string]string{"text": b.text.String(), "thinking": b.thought.String(), "signature": b.sign.String()} {
		if grown != "" {
			first, _ := b.fields[key].(string)
			b.fields[key] = first + grown
		}
	}
	if b.input.Len() > 0 {
		b.fields["input"] = json.RawMessage(httpx.Arguments(b.input.String()))
	}
	return json.Marshal(b.fields)
}

// finish makes a reply of a whole answer.
func finish(in *httpx.Answer, w wireAnswer, raw []byte) (llm.Reply, error) {
	r := llm.Reply{Model: w.Model, Usage: w.Usage.usage(), Raw: raw, FinishReason: finishes(w.Stop)}
	var said, thought strings.Builder
	var own []keptBlock
	thinks := false
	for _, data := range w.Content {
		var b struct {
			Type     string          `json:"type"`
			Text     string          `json:"text"`
			Thinking string          `json:"thinking"`
			Sign     string          `json:"signature"`
			ID       string          `json:"id"`
			Name     string          `json:"name"`
			Input    json.RawMessage `json:"input"`
		}
		if json.Unmarshal(data, &b) != nil {
			return llm.Reply{}, in.Unreadable(data, said.String())
		}
		switch b.Type {
		case "text":
			said.WriteString(b.Text)
			own = append(own, keptBlock{Text: true})
		case "thinking", "redacted_thinking":
			thought.WriteString(b.Thinking)
			if b.Sign != "" || b.Type != "thinking" { // else it cannot go back
				own, thinks = append(own, keptBlock{Thinking: data}), true
			}
		case "tool_use":
			r.Calls = append(r.Calls, llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: httpx.Arguments(string(b.Input))})
			own = append(own, keptBlock{Call: b.ID})
		}
	}
	r.Text, r.Reasoning = said.String(), thought.String()
	if thinks {
		data, err := json.Marshal(own)
		if err != nil {
			return llm.Reply{}, in.Unreadable(raw, r.Text)
		}
		r.Opaque = &llm.Opaque{Data: data}
	}
	if w.Stop == "" {
		return llm.Reply{}, in.Cut(r.Text)
	}
	return r, in.NotEmpty(r)
}

// finishes says it in the words of chat completions, which the callers know.
func finishes(stop string) string {
	switch stop {
	case "end_turn", "stop_sequence", "pause_turn":
		return "stop"
	case "tool_use":
		return "tool_calls"
	case "max_tokens", "model_context_window_exceeded":
		return "length"
	case "refusal":
		return "content_filter"
	}
	return stop
}
