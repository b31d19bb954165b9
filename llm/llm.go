// Package llm is the port to language models: one stateless call.
//
// The history of a conversation belongs to the log, not to a client. A
// [Request] carries all of it, its canonical form is a fixed byte string, and
// the SHA-256 of that form is recorded with the intent of each call, so that a
// replay can prove that it rebuilds the same request. Providers live in
// sub-packages and differ only in how they speak to their servers.
package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Role is who speaks.
type Role string

// The roles of a conversation.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one turn. A tool message answers the call named by CallID.
type Message struct {
	Role    Role       `json:"role"`
	Content string     `json:"content"`
	Calls   []ToolCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
	Name    string     `json:"name,omitempty"` // tool name of a tool message

	Reasoning *Opaque `json:"reasoning,omitempty"` // of the reply that this turn was
}

// Opaque is what a server wants back with a reply and nobody else can read:
// reasoning, or a signature of it. Only the adapter that made it looks into it, and
// only for the server and the model that it came from.
type Opaque struct {
	From string          `json:"from"` // host and model
	Data json.RawMessage `json:"data"`
}

// Of is the data if it came from there, else nil.
func (o *Opaque) Of(from string) json.RawMessage {
	if o == nil || o.From != from {
		return nil
	}
	return o.Data
}

// ToolCall is a call that the model asks for. Arguments is what the model sent,
// normally a JSON object, and is not validated here.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tool is offered to the model. Schema is a JSON Schema object.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// Request is one call to a model.
type Request struct {
	Model         string    `json:"model"`
	ContextLength int       `json:"context_length"` // tokens; window to ask for where the provider takes one
	Messages      []Message `json:"messages"`
	Tools         []Tool    `json:"tools,omitempty"`
	JSON          bool      `json:"json,omitempty"` // the reply must be a JSON object, where the provider can ask for it

	// Schema is a JSON Schema that the reply must fit, where the provider can ask
	// for it; it stands before JSON, which is what is asked for where it cannot.
	// The model may not be able to call tools then.
	Schema json.RawMessage `json:"schema,omitempty"`

	Provider string   `json:"provider,omitempty"` // which of several providers is asked; empty: the only one
	Profile  string   `json:"profile,omitempty"`  // shape of requests, of [Profiles]; empty: the adapter's own choice
	Shape    []string `json:"shape,omitempty"`    // steps away from the profile that this conversation took

	// Kept are tools that may not be called in this reply, and that the conversation
	// was told of. Some servers want to be told again.
	Kept []Tool `json:"-"`

	// Weights of the messages and of the tools, if the caller knows them. A
	// conversation is sent again and again, and grows at its end only.
	Weights    []Weight `json:"-"`
	ToolWeight Weight   `json:"-"`

	// Thread is what the messages are the beginning of, which must not be changed then;
	// nil if the caller does not know it.
	Thread *Thread `json:"-"`
}

// Thread is the identity of turns that are added to at their end and never changed: of
// two requests with the same one, the shorter is the beginning of the longer.
type Thread struct{ _ byte } // of a size, so that each has an address of its own

// Canonical is the byte string that stands for the request in the log.
func (r Request) Canonical() []byte { return canonical(r) }

// Usage is what the provider says it counted, in tokens. Known is false when it said nothing usable.
type Usage struct {
	Prompt     int
	Completion int
	Cached     int
	Reasoning  int
	Known      bool
}

// Reply is a whole answer: providers return one only when the server gave a finish reason.
type Reply struct {
	Text         string
	Reasoning    string
	Calls        []ToolCall
	FinishReason string // stop | tool_calls | length | content_filter, or else as the provider says
	Usage        Usage
	Model        string   // as the provider names it
	API          string   // one of the API constants: which API of the server was used
	Raw          []byte   // body as received (for streams: the data lines joined by newlines)
	Opaque       *Opaque  // what the server wants back with this reply
	Shape        []string // steps away from the profile that the request took
}

// The values of Reply.API.
const (
	APIChat      = "chat"      // chat completions
	APIResponses = "responses" // OpenAI's Responses API
	APIMessages  = "messages"  // Anthropic's Messages API
	APINative    = "native"    // the server's own, as Ollama's /api/chat
)

// Provider talks to one server.
type Provider interface {
	// Complete sends one request and waits for the whole reply. It never
	// retries. Every error is an *Error, or ctx's own error.
	Complete(ctx context.Context, r Request) (Reply, error)
}

// Info is what a server says of itself and of the configured model.
type Info struct {
	Reachable    bool     // it answered, whatever it said
	ModelPresent bool     // the model is there, or any model if none is configured
	Tools        *bool    // whether the model takes tools; nil if the server does not say
	Context      int      // the model's window in tokens; 0 if the server does not say
	Models       []string // names of all models, as the server orders them
}

// Checker is a provider that can describe its server without asking the model anything.
type Checker interface {
	// Check returns an *Error, or ctx's own error, unless the server is
	// reachable and has the model. Info holds what was found out all the same.
	Check(ctx context.Context) (Info, error)
}

// Kind says what an error means for the caller.
type Kind string

// The kinds of error. Each stands for what the caller can do about it. What no
// class names is Invalid, which is never final: a person decides.
const (
	Transient       Kind = "transient"        // network, 5xx, cut stream, HTML, a model that loads or crashed: try again
	RateLimited     Kind = "rate_limited"     // 429, or 503 with Retry-After: wait, then try again
	Quota           Kind = "quota"            // the account is empty: a person must pay
	Auth            Kind = "auth"             // the key is wrong or may not: a person must act
	NotFound        Kind = "not_found"        // model or path absent: a person must act
	ToolsRefused    Kind = "tools_refused"    // the server does not take tools for this model
	ContextOverflow Kind = "context_overflow" // the prompt is longer than the window: send less
	MalformedCall   Kind = "malformed_call"   // the server could not read the model's tool call: correct the model
	Filtered        Kind = "filtered"         // a content filter refused the prompt: a person must act
	Empty           Kind = "empty"            // an answer without text and calls: correct the model
	Truncated       Kind = "truncated"        // the server has cut the prompt (see PromptCut): a person must change a window
	Timeout         Kind = "timeout"          // no answer in time: try again
	Invalid         Kind = "invalid"          // any other refusal: a person must look
)

// RefusesAll reports whether a server would refuse every other task as well: the key, the
// account or the model is not what it takes.
func (k Kind) RefusesAll() bool { return k == Auth || k == Quota || k == NotFound }

// Error is a failed call. Message is one line, safe to show, and holds no secret.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status, 0 if none
	Message    string        // what the server or the network said, at most 500 characters
	RetryAfter time.Duration // as the server asked, 0 if it did not
	Window     int           // of ContextOverflow: tokens that the server says a prompt may have, 0 if it does not say
	Partial    string        // text that arrived before the stream was cut
	Shape      []string      // steps away from the profile that the request took
	Usage      Usage         // of an answer that was whole and is of no use: it is paid for
	Err        error
}

func (e *Error) Error() string {
	if e.Status != 0 && !strings.HasPrefix(e.Message, fmt.Sprintf("HTTP %d", e.Status)) {
		return fmt.Sprintf("model call failed (%s, HTTP %d): %s", e.Kind, e.Status, e.Message)
	}
	return fmt.Sprintf("model call failed (%s): %s", e.Kind, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }
