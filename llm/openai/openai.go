// Package openai calls servers that speak the chat-completions API: OpenAI, LM
// Studio, llama.cpp, vLLM, OpenRouter and many others; and OpenAI's Responses
// API for the models that take tools only there.
//
// Sending and reading are done here and not by a library: the known ones lose the
// text of errors that are bare strings, take a stream that breaks off for a whole
// answer, fail on arguments sent as an object, drop what must go back with a reply,
// and have no limits of size or time.
//
// What holds for every call:
//   - A reply is returned only if the server gave a finish reason. Everything
//     else is an error with the text so far in Partial.
//   - The bytes of a request are a pure function of the [llm.Request], the profile
//     of the server ([llm.Profiles]) and the steps away from it.
//   - Nothing is sent twice, with two exceptions. A refusal that names what the
//     server does not take leads to one step away from the profile, and to the same
//     request in its new shape; the step is kept for the model until the program ends,
//     and told in [llm.Reply.Shape]. A server that wants the Responses API for a model
//     gets the request there, from then on at once.
//   - An answer to a prompt that the server has cut is an error ([llm.PromptCut]).
//   - All else, as limits, addresses and errors, is as package httpx says. Of
//     streams of the Responses API, which bring everything up to four times,
//     128 MiB are read.
package openai

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
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
	NoResponses bool              // never use the Responses API
	API         string            // llm.APIResponses: always use the Responses API
	APIVersion  string            // of Azure: BaseURL is that of the resource, and Model names a deployment
	Auth        string            // "api-key": the key is sent in that header, not as a bearer token
	Profile     string            // name of the profile; empty or "auto": what fits host and model
	Window      string            // what to change if the server cuts prompts; default: a text for any server
	Transport   http.RoundTripper // nil: proxies from the environment, and the address checks of package httpx
}

// Provider is an [llm.Provider]. It may be used by several goroutines.
type Provider struct {
	config Config
	client *httpx.Client

	host string
	apis sync.Map // name of a model → name of the API that it was found to need

	orders llm.Orders

	turns llm.Encodings    // of chats
	tools llm.ToolEncoding // the same

	input      llm.Encodings // of the Responses API
	inputTools llm.ToolEncoding

	mu      sync.Mutex
	learned map[string][]string // name of a model → steps away from its profile
}

var (
	_ llm.Provider = (*Provider)(nil)
	_ llm.Checker  = (*Provider)(nil)
)

// New checks the configuration; it does not connect. Errors never hold the key.
func New(c Config) (*Provider, error) {
	base := httpx.Config{
		BaseURL: c.BaseURL, APIKey: c.APIKey, Timeout: c.Timeout, IdleTimeout: c.IdleTimeout,
		AllowHTTP: c.AllowHTTP, Transport: c.Transport,
	}
	if c.Auth == AuthKey {
		base.KeyHeader = AuthKey
	}
	if c.APIVersion != "" {
		base.Query = url.Values{"api-version": {c.APIVersion}}.Encode()
	}
	client, err := httpx.New(base)
	if err != nil {
		return nil, err
	}
	if c.Window == "" {
		c.Window = "make the server's own window as large, or lower llm.openai.context_length"
	}
	return &Provider{config: c, client: client, host: httpx.Host(c.BaseURL), learned: map[string][]string{}}, nil
}

// AuthKey is the header that Azure takes a key in.
const AuthKey = "api-key"

// Close drops idle connections.
func (p *Provider) Close() { p.client.Close() }

// Complete implements [llm.Provider].
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if r.Model == "" {
		r.Model = p.config.Model
	}
	api := p.api(r)
	reply, err := p.call(ctx, r, api)
	if p.config.NoResponses || p.config.API != "" || !wrongAPI(api, err) {
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

// call sends r over one API, again in another shape if the server says what it refuses.
func (p *Provider) call(ctx context.Context, r llm.Request, api string) (llm.Reply, error) {
	for {
		s := p.shape(r)
		reply, err := p.once(ctx, r, api, s)
		if err == nil {
			p.learn(r.Model, r.Shape...)
			reply.API, reply.Shape = api, s.steps
			return reply, nil
		}
		if step := refused(s, r, err); step == "" || !p.learn(r.Model, step) {
			return llm.Reply{}, withShape(err, s.steps)
		}
	}
}

func (p *Provider) once(ctx context.Context, r llm.Request, api string, s shape) (llm.Reply, error) {
	out := httpx.Request{URL: p.url(r.Model, "chat", "completions"), Tools: len(r.Tools) > 0}
	body, read := p.chatBody, readChat
	if api == llm.APIResponses {
		out.URL = p.url("", "responses")
		body, read = p.responsesBody, readResponses
	}
	if s.stream {
		out.Accept = "text/event-stream, application/json"
	}
	var err error
	if out.Body, err = body(r, s); err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.Invalid, Message: "the request cannot be encoded", Err: err}
	}
	reply, err := p.client.Do(ctx, out, read)
	if err == nil {
		err = httpx.CheckPrompt(r, reply.Usage, p.config.Window)
	}
	if err != nil {
		return llm.Reply{}, err
	}
	reply.Opaque = s.keep(reply.Opaque, reply.Reasoning)
	return reply, nil
}

// url is an address of the API. With a version of Azure's API, the model is a
// deployment with addresses of its own.
func (p *Provider) url(deployment string, elem ...string) string {
	switch {
	case p.config.APIVersion == "" || strings.Contains(p.config.BaseURL, "/openai"):
		return p.client.URL(elem...)
	case deployment == "":
		return p.client.URL(append([]string{"openai"}, elem...)...)
	}
	return p.client.URL(append([]string{"openai", "deployments", deployment}, elem...)...)
}
