package llm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"sync"
)

// A conversation is sent again and again, and grows at its end only. So what was made of
// its turns is kept, and each turn is encoded and hashed once. What is kept is found by the
// thread of the conversation, or by the turns themselves: it says nothing that they do not.

// mostKept is how many conversations are kept at once, which bounds the memory.
const mostKept = 4

// kept is what was made of the turns of one conversation in one form.
type kept struct {
	form   string
	thread *Thread // that turns are the beginning of, if it is known
	turns  []Message
	ends   []int     // where the encoding of each turn ends
	bytes  []byte    // the encodings; what was given away is never written to again
	sum    hash.Hash // of the same bytes, if only that is wanted
}

// conversations keeps those that were used last, the latest first.
type conversations struct {
	mu   sync.Mutex
	list []*kept
}

// of finds the conversation that turns continue, or begins one. Up to lost turns at the
// end of what is kept may have become others. The caller holds mu.
func (c *conversations) of(form string, thread *Thread, turns []Message, lost int) *kept {
	for i, k := range c.list {
		if k.form != form {
			continue
		}
		n := k.common(thread, turns)
		if n == 0 || n < len(k.turns)-lost {
			continue
		}
		if n < len(k.turns) {
			k.turns, k.ends, k.bytes = k.turns[:n], k.ends[:n], slices.Clip(k.bytes[:k.ends[n-1]])
		}
		copy(c.list[1:i+1], c.list[:i])
		c.list[0], k.thread = k, thread
		return k
	}
	k := &kept{form: form, thread: thread}
	c.list = slices.Insert(c.list[:min(len(c.list), mostKept-1)], 0, k)
	return k
}

// common is how many turns at the beginning are the same.
func (k *kept) common(thread *Thread, turns []Message) int {
	most := min(len(k.turns), len(turns))
	if thread != nil && thread == k.thread {
		return most
	}
	for n := range most {
		if !k.turns[n].same(&turns[n]) {
			return n
		}
	}
	return most
}

func (m *Message) same(o *Message) bool {
	return m.Role == o.Role && m.Content == o.Content && m.CallID == o.CallID && m.Name == o.Name &&
		slices.Equal(m.Calls, o.Calls) && m.Reasoning.same(o.Reasoning)
}

func (o *Opaque) same(p *Opaque) bool {
	return o == p || o != nil && p != nil && o.From == p.From && bytes.Equal(o.Data, p.Data)
}

// Encodings keeps how an adapter encodes turns. Its zero value is ready.
type Encodings struct{ kept conversations }

// Of is the encoding of turns, which must not be changed, and begin thread if it is not
// nil. form names all else that the encoding depends on. encode appends the last of the
// turns to what the others are encoded as.
func (e *Encodings) Of(form string, thread *Thread, turns []Message, encode func(dst []byte, turns []Message) ([]byte, error)) ([]byte, error) {
	e.kept.mu.Lock()
	defer e.kept.mu.Unlock()
	k := e.kept.of(form, thread, turns, 2)
	for n := len(k.turns) + 1; n <= len(turns); n++ {
		longer, err := encode(k.bytes, turns[:n])
		if err != nil {
			return nil, err
		}
		k.bytes, k.turns, k.ends = longer, append(k.turns, turns[n-1]), append(k.ends, len(longer))
	}
	return slices.Clip(k.bytes), nil
}

// Listed encodes turns with commas between them, as a JSON array has them.
func Listed(encode func(Message) ([]byte, error)) func([]byte, []Message) ([]byte, error) {
	return func(dst []byte, turns []Message) ([]byte, error) {
		data, err := encode(turns[len(turns)-1])
		if len(turns) > 1 {
			dst = append(dst, ',')
		}
		return append(dst, data...), err
	}
}

// ToolEncoding keeps how the tools were encoded that were offered last. Its zero value is ready.
type ToolEncoding struct {
	mu    sync.Mutex
	form  string
	tools []Tool
	data  []byte
}

// Of is the encoding of tools, which must not be changed. form names all else that it
// depends on.
func (t *ToolEncoding) Of(form string, tools []Tool, encode func([]Tool) ([]byte, error)) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.data != nil && t.form == form && slices.EqualFunc(t.tools, tools, Tool.same) {
		return t.data, nil
	}
	data, err := encode(tools)
	if err == nil {
		t.form, t.tools, t.data = form, tools, slices.Clip(data)
	}
	return data, err
}

func (t Tool) same(o Tool) bool {
	return t.Name == o.Name && t.Description == o.Description && bytes.Equal(t.Schema, o.Schema)
}

var (
	hashed  conversations
	offered ToolEncoding
)

// Hash is the hex SHA-256 of Canonical, which is not made for it.
func (r Request) Hash() string {
	head := canonical(struct {
		Model         string `json:"model"`
		ContextLength int    `json:"context_length"`
	}{r.Model, r.ContextLength})
	sum := hashed.sum(string(head[:len(head)-1])+`,"messages":[`, r.Thread, r.Messages)
	sum.Write([]byte{']'})
	if len(r.Tools) > 0 {
		tools, _ := offered.Of("", r.Tools, func(all []Tool) ([]byte, error) { return canonical(all), nil })
		sum.Write([]byte(`,"tools":`))
		sum.Write(tools)
	}
	rest := r // without what was hashed already
	rest.Model, rest.ContextLength, rest.Messages, rest.Tools = "", 0, []Message{}, nil
	sum.Write(bytes.TrimPrefix(canonical(rest), []byte(`{"model":"","context_length":0,"messages":[]`)))
	return hex.EncodeToString(sum.Sum(nil))
}

// sum is the hash of head and turns, to which the caller may write more.
func (c *conversations) sum(head string, thread *Thread, turns []Message) hash.Hash {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.of(head, thread, turns, 0)
	if k.sum == nil {
		k.sum = sha256.New()
		k.sum.Write([]byte(head))
	}
	for _, m := range turns[len(k.turns):] {
		if len(k.turns) > 0 {
			k.sum.Write([]byte{','})
		}
		k.sum.Write(canonical(m))
		k.turns = append(k.turns, m)
	}
	clone, err := k.sum.(hash.Cloner).Clone()
	if err != nil {
		panic(fmt.Sprintf("llm: SHA-256 cannot be cloned: %v", err))
	}
	return clone
}

// canonical encodes a part of a request.
func canonical(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // only a schema that is not JSON can fail: those of tools are checked at listing, those of replies are ours
		panic(fmt.Sprintf("llm: request cannot be encoded: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
