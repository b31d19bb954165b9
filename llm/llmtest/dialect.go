package llmtest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	"agent/llm"
)

// Dialect is a strict server: it refuses whatever its rules name, and answers as
// the real one does, with what must come back.
type Dialect struct {
	Name    string
	Mode    Mode
	Model   string // for requests
	Profile string // of package llm; empty: the adapter finds out by itself
	Rules   []Rule
	IDs     func(turn, i int) string // of calls; nil: call_<turn>_<index>
	Gives   Gives
	Flat    bool   // errors are texts
	Listed  bool   // refusals of fields are lists, and errors have no object around them
	Azure   bool   // addresses are those of deployments
	Base    string // path of the API; default: /v1
	Thinks  int    // tokens of thinking that the configuration asks for
	Mute    bool   // refusals do not say what they are about
}

// Rule is one thing that a server refuses. Check gives the words of the refusal,
// or nothing. Source is where that is documented or reported.
type Rule struct {
	Name   string
	Source string
	Status int // 0: 400
	Check  func(Sent) string
}

// Gives is what an answer holds beside words and calls.
type Gives string

// What answers hold.
const (
	GivesNothing    Gives = ""
	GivesReasoning  Gives = "reasoning"  // reasoning_content, or thinking of Ollama, made from the ids of the calls
	GivesDetails    Gives = "details"    // reasoning_details with a signature
	GivesSignatures Gives = "signatures" // extra_content in the first call
	GivesEncrypted  Gives = "encrypted"  // reasoning items of the Responses API
	GivesThinking   Gives = "thinking"   // thinking blocks of the Messages API
)

// Sent is a request as a rule looks at it.
type Sent struct {
	Body     map[string]any
	Turns    []Turn
	Header   http.Header
	Query    string
	HasCalls bool
}

// Turn is one message, whatever it holds.
type Turn struct {
	Role, Text string
	HasText    bool
	Calls      []SentCall
	Fields     map[string]any
}

// SentCall is a call of an earlier turn.
type SentCall struct {
	ID     string
	Fields map[string]any
}

// NewStrict starts a server that speaks a dialect.
func NewStrict(script Script, d Dialect) *Server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("llmtest: " + err.Error())
	}
	return serve(l, script, d)
}

// DialectNamed panics if there is none: names are written in tests.
func DialectNamed(name string) Dialect {
	for _, d := range Dialects {
		if d.Name == name {
			return d
		}
	}
	panic("llmtest: no dialect " + name)
}

// refusal is an error with the status of its own.
type refusal struct {
	status int
	words  string
}

func (r *refusal) Error() string { return r.words }

// check applies the rules to a body of chat completions.
func (d Dialect) check(body []byte, h http.Header, query string) error {
	if len(d.Rules) == 0 {
		return nil
	}
	s := Sent{Header: h, Query: query}
	if err := json.Unmarshal(body, &s.Body); err != nil {
		return err
	}
	list, _ := s.Body["messages"].([]any)
	for _, item := range list {
		t := turnOf(item)
		s.HasCalls = s.HasCalls || len(t.Calls) > 0
		s.Turns = append(s.Turns, t)
	}
	for _, rule := range d.Rules {
		if words := rule.Check(s); words != "" {
			if d.Mute && rule.Status != http.StatusUnauthorized {
				return &refusal{http.StatusBadRequest, "Bad Request"}
			}
			return &refusal{max(rule.Status, http.StatusBadRequest), words}
		}
	}
	return nil
}

func turnOf(item any) Turn {
	fields, _ := item.(map[string]any)
	t := Turn{Fields: fields}
	t.Role, _ = fields["role"].(string)
	t.Text, t.HasText = fields["content"].(string)
	calls, _ := fields["tool_calls"].([]any)
	for _, c := range calls {
		f, _ := c.(map[string]any)
		id, _ := f["id"].(string)
		t.Calls = append(t.Calls, SentCall{id, f})
	}
	return t
}

// with completes an answer by what the dialect gives.
func (d Dialect) with(reply Reply, turn int) Reply {
	if reply.Body != "" || reply.Status >= http.StatusBadRequest {
		return reply
	}
	calls := append([]llm.ToolCall(nil), reply.Calls...)
	for i := range calls {
		if calls[i].ID == "" && d.IDs != nil {
			calls[i].ID = d.IDs(turn, i)
		} else if calls[i].ID == "" {
			calls[i].ID = fmt.Sprintf("call_%d_%d", turn, i)
		}
	}
	reply.Calls = calls
	key := "words"
	if len(calls) > 0 {
		key = calls[0].ID
	}
	switch d.Gives {
	case GivesNothing:
	case GivesReasoning:
		reply.Reasoning = reasoningFor(key)
	case GivesDetails:
		reply.Details = fmt.Sprintf(`{"type":"reasoning.text","text":%q,"signature":%q,"format":"anthropic-claude-v1","index":0}`, reasoningFor(key), signatureFor(key))
	case GivesSignatures:
		reply.Signature = signatureFor(key)
	case GivesEncrypted, GivesThinking:
		reply.Reasoning, reply.Signature = reasoningFor(key), signatureFor(key)
	}
	return reply
}

// What is given is made of the id of the first call, so that a server without a
// memory can tell what it gave.
const reasoningBegins = "I think of "

func reasoningFor(id string) string { return reasoningBegins + id + "." }
func signatureFor(id string) string { return "c2lnbmVk" + id }
