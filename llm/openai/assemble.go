package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"agent/llm"
	"agent/llm/httpx"
)

// assembly grows an answer from chunks, or from one whole body.
type assembly struct {
	model         string
	text, refusal strings.Builder
	reasoning     strings.Builder
	details       details
	calls         []*partCall
	byIndex       map[int]*partCall // the newest call of each index
	finish        string
	usage         llm.Usage
	lines         bytes.Buffer
}

type partCall struct {
	id, name  string
	arguments strings.Builder
	extra     json.RawMessage
}

func (a *assembly) raw(data []byte) {
	if a.lines.Len() > 0 {
		a.lines.WriteByte('\n')
	}
	a.lines.Write(data)
}

func (a *assembly) add(w wireAnswer) {
	if a.model == "" {
		a.model = w.Model
	}
	if httpx.Present(w.Usage) {
		a.usage = usage(w.Usage)
	}
	for _, c := range w.Choices {
		if c.Index != 0 {
			continue // we asked for one choice
		}
		if c.Delta != nil {
			a.turn(*c.Delta, a.part)
		}
		if c.Message != nil {
			a.turn(*c.Message, a.whole)
		}
		if c.FinishReason != "" {
			a.finish = c.FinishReason
		}
	}
}

func (a *assembly) turn(t wireTurn, call func(wireCall)) {
	a.text.WriteString(string(t.Content))
	a.refusal.WriteString(string(t.Refusal))
	if t.ReasoningContent != "" { // some servers send both names with the same text
		a.reasoning.WriteString(string(t.ReasoningContent))
	} else {
		a.reasoning.WriteString(string(t.Reasoning))
	}
	a.details.add(t.Details)
	for _, c := range t.ToolCalls {
		call(c)
	}
}

// whole takes a call that came in one piece.
func (a *assembly) whole(c wireCall) { a.open(c).extend(c) }

// part adds a delta to the call it belongs to.
func (a *assembly) part(c wireCall) { a.find(c).extend(c) }

// find goes by index. Without one, a name or a new id begins a call. Some
// servers send several whole calls under one index: then the id tells.
func (a *assembly) find(c wireCall) *partCall {
	var p *partCall
	if c.Index != nil {
		p = a.byIndex[*c.Index]
	} else if n := len(a.calls); n > 0 {
		p = a.calls[n-1]
		if c.ID == "" && c.Function.Name != "" {
			return a.open(c)
		}
	}
	if p == nil || c.ID != "" && p.id != "" && c.ID != p.id && c.Function.Name != "" {
		return a.open(c)
	}
	return p
}

func (a *assembly) open(c wireCall) *partCall {
	p := &partCall{}
	a.calls = append(a.calls, p)
	if c.Index != nil {
		if a.byIndex == nil {
			a.byIndex = map[int]*partCall{}
		}
		a.byIndex[*c.Index] = p
	}
	return p
}

func (p *partCall) extend(c wireCall) {
	if p.id == "" {
		p.id = c.ID
	}
	if p.name != c.Function.Name { // some servers repeat the name in every delta
		p.name += c.Function.Name
	}
	p.arguments.WriteString(string(c.Function.Arguments))
	if httpx.Present(c.Extra) {
		p.extra = c.Extra
	}
}

func (a *assembly) reply() llm.Reply {
	r := llm.Reply{
		Text: a.text.String(), Reasoning: a.reasoning.String(), FinishReason: a.finish,
		Usage: a.usage, Model: a.model, Raw: a.lines.Bytes(),
	}
	if r.Text == "" {
		r.Text = a.refusal.String()
	}
	back := kept{Details: a.details.whole()}
	for i, p := range a.calls {
		c := llm.ToolCall{ID: p.id, Name: p.name, Arguments: p.arguments.String()}
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d", i)
		}
		if httpx.Blank(c.Arguments) {
			c.Arguments = "{}"
		}
		r.Calls = append(r.Calls, c)
		if p.extra != nil {
			if back.Calls == nil {
				back.Calls = map[string]json.RawMessage{}
			}
			back.Calls[c.ID] = p.extra
		}
	}
	r.Opaque = opaque(back)
	return r
}

// usage is unknown if a number is missing, negative or absurd.
func usage(raw json.RawMessage) llm.Usage {
	var w struct {
		Prompt     *int `json:"prompt_tokens"`
		Completion *int `json:"completion_tokens"`
		CacheHit   int  `json:"prompt_cache_hit_tokens"` // DeepSeek
		In         struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Out struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	if json.Unmarshal(raw, &w) != nil || w.Prompt == nil || w.Completion == nil || min(w.In.Cached, w.CacheHit) < 0 {
		return llm.Usage{}
	}
	return httpx.Usage(llm.Usage{
		Prompt: *w.Prompt, Completion: *w.Completion, Cached: max(w.In.Cached, w.CacheHit), Reasoning: w.Out.Reasoning,
	})
}
