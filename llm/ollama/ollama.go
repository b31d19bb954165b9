// Package ollama calls Ollama over its native API.
//
// The compatible API under /v1 would do but for one thing: it takes no window,
// and cuts a longer prompt without a word. Here each request asks for the window
// it needs (num_ctx) and for an error instead of a cut (truncate and shift are
// false; servers too old to know them ignore them, and a cut is found by
// [llm.PromptCut]).
//
// What holds for every call:
//   - A reply is returned only after a line with done:true. Everything else is an
//     error with the text so far in Partial.
//   - Nothing is sent twice, but for one exception: a server that takes no schema
//     (before 0.5) gets the request once more without it, and none from then on.
//   - Limits, addresses and errors are as package httpx says.
//   - A model that is not there is [llm.NotFound] with the command that pulls it.
//   - What a model thought goes back to it, and to no other.
//   - Finish reasons are stop, length, and tool_calls for a stop with calls.
//   - Arguments are objects on the wire. Calls without an id, from older servers,
//     get one that is unique within the conversation.
package ollama

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"agent/llm"
	"agent/llm/httpx"
)

// DefaultKeepAlive is longer than Ollama's own five minutes: a test run between
// two calls must not cost loading the model again.
const DefaultKeepAlive = 30 * time.Minute

// window says what to change if a server cuts prompts all the same.
const window = "lower llm.ollama.context_length to what the model and its memory allow, or update Ollama"

// Config describes one server.
type Config struct {
	BaseURL     string            // as http://127.0.0.1:11434; an ending /v1 is left out
	APIKey      string            // for servers behind a proxy; usually empty
	Model       string            // for requests that name none
	KeepAlive   time.Duration     // how long the model stays loaded after a call; 0 means DefaultKeepAlive
	Timeout     time.Duration     // of a whole call; 0 means httpx.DefaultTimeout
	IdleTimeout time.Duration     // of silence after the answer has begun; 0 means httpx.DefaultIdleTimeout
	AllowHTTP   bool              // plain http to other hosts than loopback
	Transport   http.RoundTripper // nil: proxies from the environment, and the address checks of package httpx
}

// Provider is an [llm.Provider]. It may be used by several goroutines.
type Provider struct {
	config Config
	client *httpx.Client
	host   string

	noSchema atomic.Bool // the server refuses a schema for a format

	orders llm.Orders
	turns  llm.Encodings
	tools  llm.ToolEncoding
}

var (
	_ llm.Provider = (*Provider)(nil)
	_ llm.Checker  = (*Provider)(nil)
)

// New checks the configuration; it does not connect.
func New(c Config) (*Provider, error) {
	client, err := httpx.New(httpx.Config{
		BaseURL: strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1"), APIKey: c.APIKey,
		Timeout: c.Timeout, IdleTimeout: c.IdleTimeout, AllowHTTP: c.AllowHTTP, Transport: c.Transport,
	})
	if err != nil {
		return nil, err
	}
	if c.KeepAlive <= 0 {
		c.KeepAlive = DefaultKeepAlive
	}
	return &Provider{config: c, client: client, host: httpx.Host(c.BaseURL)}, nil
}

// Close drops idle connections.
func (p *Provider) Close() { p.client.Close() }

// Complete implements [llm.Provider].
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if r.Model == "" {
		r.Model = p.config.Model
	}
	schema := len(r.Schema) > 0 && !p.noSchema.Load()
	reply, err := p.once(ctx, r, schema)
	if schema && refusesSchema(err) {
		p.noSchema.Store(true)
		reply, err = p.once(ctx, r, false)
	}
	return reply, err
}

// refusesSchema says whether err is the complaint of a server about a format that is an object.
func refusesSchema(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.Status == http.StatusBadRequest && httpx.Mentions(e.Message, ".format", "invalid format", "json schema", "grammar")
}

func (p *Provider) once(ctx context.Context, r llm.Request, schema bool) (llm.Reply, error) {
	from := p.host + " " + r.Model
	body, err := p.body(r, schema, from)
	if err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.Invalid, Message: "the request cannot be encoded", Err: err}
	}
	out := httpx.Request{URL: p.client.URL("api", "chat"), Body: body, Accept: "application/x-ndjson, application/json", Tools: len(r.Tools) > 0}
	reply, err := p.client.Do(ctx, out, func(in *httpx.Answer) (llm.Reply, error) { return read(in, turns(r)) })
	if err == nil {
		err = httpx.CheckPrompt(r, reply.Usage, window)
	}
	if err != nil {
		return llm.Reply{}, p.explain(err, r)
	}
	if reply.Opaque != nil {
		reply.Opaque.From = from
	}
	reply.API, reply.Shape = llm.APINative, r.Shape
	return reply, nil
}

// explain adds the shape, and the command that gets a model that is not there.
func (p *Provider) explain(err error, r llm.Request) error {
	var e *llm.Error
	if !errors.As(err, &e) {
		return err
	}
	e.Shape = r.Shape
	if e.Kind == llm.NotFound && httpx.Mentions(e.Message, "model") {
		e.Message = p.client.Line(fmt.Sprintf("the model is not on the server; get it with: ollama pull %s (%s)", r.Model, e.Message))
	}
	return err
}

func turns(r llm.Request) int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == llm.Assistant {
			n++
		}
	}
	return n
}
