// Package openai calls servers that speak the chat-completions API: OpenAI, LM
// Studio, llama.cpp, vLLM, OpenRouter and many others; and OpenAI's Responses
// API for the models that take tools only there.
//
// Requests are built from the types of github.com/sashabaranov/go-openai, so
// their JSON is that library's and the same for the same [llm.Request]. Sending
// and reading are done here: the library loses the text of errors that are bare
// strings, takes a stream that breaks off for a whole answer, fails on
// arguments sent as an object, drops `reasoning`, refuses some models by name,
// and has no limits of size or time.
//
// What holds for every call:
//   - A reply is returned only if the server gave a finish reason. Everything
//     else is an error with the text so far in Partial.
//   - Nothing is sent twice, with two exceptions. A server that refuses an optional
//     field (stream_options, response_format, or the schema in that) with 400 gets the request once more
//     without it, and the field is left out from then on. A server that wants the
//     Responses API for a model gets the request there, from then on at once.
//   - An answer to a prompt that the server has cut is an error ([llm.PromptCut]).
//   - All else, as limits, addresses and errors, is as package httpx says. Of
//     streams of the Responses API, which bring everything up to four times,
//     128 MiB are read.
package openai

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"agent/llm"
	"agent/llm/httpx"
)

// Defaults of [Config].
const (
	DefaultTimeout     = httpx.DefaultTimeout
	DefaultIdleTimeout = httpx.DefaultIdleTimeout
)

// Config describes one server.
type Config struct {
	BaseURL     string            // up to and including /v1; no user, query or fragment
	APIKey      string            // may be empty for local servers
	Model       string            // for requests that name none
	Timeout     time.Duration     // of a whole call; 0 means DefaultTimeout
	IdleTimeout time.Duration     // of silence after the answer has begun; 0 means DefaultIdleTimeout
	AllowHTTP   bool              // plain http to other hosts than loopback
	NoStream    bool              // ask for the answer in one piece
	NoFormat    bool              // never ask for just any JSON object; a schema is sent all the same
	NoResponses bool              // never use the Responses API
	ToolChoice  string            // sent with tools, if not empty
	Window      string            // what to change if the server cuts prompts; default: a text for any server
	Transport   http.RoundTripper // nil: proxies from the environment, and the address checks of package httpx
}

// Provider is an [llm.Provider]. It may be used by several goroutines.
type Provider struct {
	config Config
	client *httpx.Client

	noUsage  atomic.Bool // the server refuses stream_options
	noFormat atomic.Bool // the server refuses json_object for a response_format
	noSchema atomic.Bool // the server refuses json_schema for it
	apis     sync.Map    // name of a model → name of the API that it was found to need
}

var (
	_ llm.Provider = (*Provider)(nil)
	_ llm.Checker  = (*Provider)(nil)
)

// New checks the configuration; it does not connect. Errors never hold the key.
func New(c Config) (*Provider, error) {
	client, err := httpx.New(httpx.Config{
		BaseURL: c.BaseURL, APIKey: c.APIKey, Timeout: c.Timeout, IdleTimeout: c.IdleTimeout,
		AllowHTTP: c.AllowHTTP, Transport: c.Transport,
	})
	if err != nil {
		return nil, err
	}
	if c.Window == "" {
		c.Window = "make the server's own window as large, or lower llm.openai.context_length"
	}
	p := &Provider{config: c, client: client}
	p.noFormat.Store(c.NoFormat)
	return p, nil
}

// Close drops idle connections.
func (p *Provider) Close() { p.client.Close() }

// Complete implements [llm.Provider].
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if r.Model == "" {
		r.Model = p.config.Model
	}
	api := p.api(r)
	reply, err := p.call(ctx, r, api)
	if p.config.NoResponses || !wrongAPI(api, err) {
		return reply, err
	}
	other := otherThan(api)
	second, failure := p.call(ctx, r, other)
	if wrongAPI(other, failure) {
		return reply, err // it has neither: the first complaint is the one to show
	}
	p.apis.Store(r.Model, other)
	return second, failure
}

// call sends r over one API, again without an option that the server refuses.
func (p *Provider) call(ctx context.Context, r llm.Request, api string) (llm.Reply, error) {
	for {
		f := p.features()
		reply, err := p.once(ctx, r, api, f)
		if err == nil || !p.withdraw(f, r, err) {
			return reply, err
		}
	}
}

func (p *Provider) once(ctx context.Context, r llm.Request, api string, f features) (llm.Reply, error) {
	out := httpx.Request{URL: p.client.URL("chat", "completions"), Tools: len(r.Tools) > 0}
	body, read := chatBody, readChat
	if api == llm.APIResponses {
		out.URL = p.client.URL("responses")
		body, read = responsesBody, readResponses
	}
	if f.stream {
		out.Accept = "text/event-stream, application/json"
	}
	var err error
	if out.Body, err = body(r, f); err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.Invalid, Message: "the request cannot be encoded", Err: err}
	}
	reply, err := p.client.Do(ctx, out, read)
	if err == nil {
		err = httpx.CheckPrompt(r, reply.Usage, p.config.Window)
	}
	if err != nil {
		return llm.Reply{}, err
	}
	reply.API = api
	return reply, nil
}
