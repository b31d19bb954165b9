// Package anthropic calls Anthropic's Messages API.
//
// What holds for every call:
//   - A reply is returned only after the end of the message. Everything else is an
//     error with the text so far in Partial.
//   - Thinking goes back as it came, with its signatures, to the model that it came
//     from and to no other. Unless the configuration asks for it, a model thinks as it
//     is set up to. Newer models refuse thoughts that stood behind another beginning,
//     as after a compaction; the server is then told to leave those out.
//   - The conversation is marked for the cache of prompts at three places: behind the
//     system message, where the request before ended, and at the end.
//   - Tools stay in requests whose reply may not call one; tool_choice says so. The
//     cached beginning is the same then.
//   - Nothing is sent twice, with one exception: a refusal that names what the model
//     does not take leads to one step away from the first shape, and to the same request
//     again. The step is kept for the model, and told in [llm.Reply.Shape].
//   - All else, as limits, addresses and errors, is as package httpx says.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

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
	Thinking    int               // tokens of thinking to ask for; 0: as the model is set up to
	NoStream    bool              // ask for the answer in one piece
	Transport   http.RoundTripper // nil: proxies from the environment, and the address checks of package httpx
}

// Provider is an [llm.Provider]. It may be used by several goroutines.
type Provider struct {
	config Config
	client *httpx.Client
	host   string

	orders llm.Orders
	turns  llm.Encodings // of all messages but the latest
	tools  llm.ToolEncoding

	mu      sync.Mutex
	learned map[string][]string // name of a model → steps away from the first shape
}

var (
	_ llm.Provider = (*Provider)(nil)
	_ llm.Checker  = (*Provider)(nil)
)

// New checks the configuration; it does not connect. Errors never hold the key.
func New(c Config) (*Provider, error) {
	if c.Thinking > 0 && c.Thinking < leastBudget {
		return nil, fmt.Errorf("llm.anthropic.thinking_tokens must be 0 or at least %d", leastBudget)
	}
	base := strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1")
	client, err := httpx.New(httpx.Config{
		BaseURL: base, APIKey: c.APIKey, KeyHeader: "x-api-key", Header: map[string]string{"anthropic-version": version},
		Timeout: c.Timeout, IdleTimeout: c.IdleTimeout, AllowHTTP: c.AllowHTTP, Transport: c.Transport,
	})
	if err != nil {
		return nil, err
	}
	return &Provider{config: c, client: client, host: httpx.Host(base), learned: map[string][]string{}}, nil
}

// Close drops idle connections.
func (p *Provider) Close() { p.client.Close() }

// Complete implements [llm.Provider].
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if r.Model == "" {
		r.Model = p.config.Model
	}
	for {
		s := p.shape(r)
		reply, err := p.once(ctx, r, s)
		step := refused(s, err)
		if step == "" {
			return reply, err
		}
		p.learn(r.Model, step)
	}
}

func (p *Provider) once(ctx context.Context, r llm.Request, s shape) (llm.Reply, error) {
	out := httpx.Request{URL: p.client.URL("v1", "messages"), Tools: len(r.Tools) > 0}
	if s.stream {
		out.Accept = "text/event-stream, application/json"
	}
	var thinking *wireThinking
	var err error
	if out.Body, thinking, err = p.body(r, s); err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.Invalid, Message: "the request cannot be encoded", Err: err}
	}
	if thinking != nil && thinking.Binding != nil {
		out.Header = map[string]string{"anthropic-beta": dropping}
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
