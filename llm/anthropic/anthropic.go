// Package anthropic calls Anthropic's Messages API.
//
// What holds for every call:
//   - A reply is returned only after the end of the message. Everything else is an
//     error with the text so far in Partial.
//   - Thinking goes back as it came, with its signatures, to the model that it came
//     from and to no other. Nothing asks for thinking: a model thinks as it is set up to.
//   - The conversation is marked for the cache of prompts at three places: behind the
//     system message, where the request before ended, and at the end.
//   - Tools stay in requests whose reply may not call one; tool_choice says so. The
//     cached beginning is the same then.
//   - Nothing is sent twice, with one exception: a model that writes fewer tokens than
//     were asked for gets the request once more with its own limit, which is kept.
//   - All else, as limits, addresses and errors, is as package httpx says.
package anthropic

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"agent/internal/lazyregexp"
	"agent/llm"
	"agent/llm/httpx"
)

// version is that of the API. https://docs.anthropic.com/en/api/versioning
const version = "2023-06-01"

// maxTokens is how much an answer may have: a quarter of the window, and no more than
// every model of today writes. https://docs.anthropic.com/en/docs/about-claude/models/overview
const maxTokens = 32_000

// Config describes one server.
type Config struct {
	BaseURL     string            // as https://api.anthropic.com; an ending /v1 is left out
	APIKey      string            // may be empty for a gateway on loopback
	Model       string            // for requests that name none
	Timeout     time.Duration     // of a whole call; 0 means httpx.DefaultTimeout
	IdleTimeout time.Duration     // of silence after the answer has begun; 0 means httpx.DefaultIdleTimeout
	AllowHTTP   bool              // plain http to other hosts than loopback
	NoStream    bool              // ask for the answer in one piece
	Transport   http.RoundTripper // nil: proxies from the environment, and the address checks of package httpx
}

// Provider is an [llm.Provider]. It may be used by several goroutines.
type Provider struct {
	config Config
	client *httpx.Client
	host   string
	limits sync.Map // name of a model → step that says how many tokens it writes at most
}

var (
	_ llm.Provider = (*Provider)(nil)
	_ llm.Checker  = (*Provider)(nil)
)

// New checks the configuration; it does not connect. Errors never hold the key.
func New(c Config) (*Provider, error) {
	base := strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1")
	client, err := httpx.New(httpx.Config{
		BaseURL: base, APIKey: c.APIKey, KeyHeader: "x-api-key", Header: map[string]string{"anthropic-version": version},
		Timeout: c.Timeout, IdleTimeout: c.IdleTimeout, AllowHTTP: c.AllowHTTP, Transport: c.Transport,
	})
	if err != nil {
		return nil, err
	}
	return &Provider{config: c, client: client, host: httpx.Host(base)}, nil
}

// Close drops idle connections.
func (p *Provider) Close() { p.client.Close() }

// Complete implements [llm.Provider].
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if r.Model == "" {
		r.Model = p.config.Model
	}
	reply, err := p.once(ctx, r)
	if limit := tokensAllowed(err); limit > 0 {
		p.limits.Store(r.Model, limitStep+strconv.Itoa(limit))
		return p.once(ctx, r)
	}
	return reply, err
}

func (p *Provider) once(ctx context.Context, r llm.Request) (llm.Reply, error) {
	s := p.shape(r)
	out := httpx.Request{URL: p.client.URL("v1", "messages"), Tools: len(r.Tools) > 0}
	if s.stream {
		out.Accept = "text/event-stream, application/json"
	}
	var err error
	if out.Body, err = s.body(r); err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.Invalid, Message: "the request cannot be encoded", Err: err}
	}
	reply, err := p.client.Do(ctx, out, read)
	if err == nil {
		err = httpx.CheckPrompt(r, reply.Usage, "lower llm.anthropic.context_length")
	}
	if err != nil {
		var e *llm.Error
		if errors.As(err, &e) {
			e.Shape = s.steps
		}
		return llm.Reply{}, err
	}
	if reply.Opaque != nil {
		reply.Opaque.From = s.from
	}
	reply.API, reply.Shape = llm.APIMessages, s.steps
	return reply, nil
}

// limitStep begins the step that says how many tokens a model writes at most.
const limitStep = "max_tokens="

// shape is how one request is written.
type shape struct {
	llm.Profile
	steps  []string
	stream bool
	from   string // who may read what is opaque
	limit  int    // tokens of the answer
}

func (p *Provider) shape(r llm.Request) shape {
	s := shape{
		Profile: llm.ProfileNamed("anthropic").With(r.Shape...), steps: append([]string(nil), r.Shape...),
		stream: !p.config.NoStream, from: p.host + " " + r.Model, limit: maxTokens,
	}
	if own, ok := p.limits.Load(r.Model); ok {
		s.steps = append(s.steps, own.(string))
	}
	if r.ContextLength > 0 {
		s.limit = min(s.limit, r.ContextLength/4)
	}
	for _, step := range s.steps {
		if n, err := strconv.Atoi(strings.TrimPrefix(step, limitStep)); err == nil && strings.HasPrefix(step, limitStep) {
			s.limit = min(s.limit, n)
		}
	}
	return s
}

var tooMany = lazyregexp.New(`max_tokens: \d+ > (\d+)`)

// tokensAllowed is the limit that a refusal of max_tokens names, 0 if err is none.
func tokensAllowed(err error) int {
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest {
		return 0
	}
	found := tooMany.FindStringSubmatch(e.Message)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1]) // digits
	return n
}
