// Package openai calls servers that speak the chat-completions API: OpenAI, LM
// Studio, llama.cpp, vLLM, OpenRouter and many others.
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
//   - Nothing is sent twice, with one exception: a server that refuses an optional
//     field (stream_options, response_format) with 400 gets the request once more
//     without it, and the field is left out from then on.
//   - At most 32 MiB of an answer are read, counted after decompression.
//   - The key goes to the configured host only. Redirects to another one are
//     refused, so are link-local and metadata addresses, at the time of dialing,
//     and plain http to anything but loopback unless AllowHTTP is set.
//   - Errors are [*llm.Error] or the error of the caller's context. Their messages
//     are one line of at most 500 characters without the key.
package openai

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"agent/llm"
)

// Defaults of [Config].
const (
	DefaultTimeout     = 10 * time.Minute
	DefaultIdleTimeout = 5 * time.Minute // local servers are silent while they write a long call
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
	Transport   http.RoundTripper // nil: proxies from the environment, and the address checks described above
}

// Provider is an [llm.Provider]. It may be used by several goroutines.
type Provider struct {
	config   Config
	endpoint string
	client   *http.Client

	noUsage  atomic.Bool // the server refuses stream_options
	noFormat atomic.Bool // the server refuses response_format
}

var _ llm.Provider = (*Provider)(nil)

// New checks the configuration; it does not connect. Errors never hold the key.
func New(c Config) (*Provider, error) {
	u, err := parseBase(c.BaseURL, c.AllowHTTP)
	if err != nil {
		return nil, err
	}
	c.APIKey = strings.TrimSpace(c.APIKey)
	if strings.ContainsFunc(c.APIKey, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, errors.New("the API key of the model server holds characters that no header can carry")
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.IdleTimeout <= 0 {
		c.IdleTimeout = DefaultIdleTimeout
	}
	if c.Transport == nil {
		c.Transport = newTransport(u.Scheme == "http" && !c.AllowHTTP)
	}
	return &Provider{
		config:   c,
		endpoint: u.JoinPath("chat", "completions").String(),
		client:   &http.Client{Transport: c.Transport, CheckRedirect: sameOrigin},
	}, nil
}

// Close drops idle connections.
func (p *Provider) Close() { p.client.CloseIdleConnections() }

// Complete implements [llm.Provider].
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	for {
		f := p.features()
		reply, err := p.once(ctx, r, f)
		if err == nil || !p.withdraw(f, r, err) {
			return reply, err
		}
	}
}

// features are the optional fields of one request.
type features struct {
	stream, usage, format bool
}

func (p *Provider) features() features {
	stream := !p.config.NoStream
	return features{stream: stream, usage: stream && !p.noUsage.Load(), format: !p.noFormat.Load()}
}

// withdraw says whether err is the refusal of an optional field that was sent,
// and leaves the field out from now on.
func (p *Provider) withdraw(sent features, r llm.Request, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	switch {
	case sent.usage && mentions(e.Message, "stream_options", "include_usage"):
		p.noUsage.Store(true)
	case sent.format && r.JSON && mentions(e.Message, "response_format", "json_object"):
		p.noFormat.Store(true)
	default:
		return false
	}
	return true
}

// parseBase accepts what the key may be sent to.
func parseBase(base string, allowHTTP bool) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return nil, errors.New("the base URL of the model server is not a URL like https://host/v1") // base may hold a password
	}
	switch {
	case u.User != nil:
		return nil, errors.New("the base URL of the model server holds a user name or password")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the base URL of the model server has a query or a fragment")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("the base URL of the model server is neither https nor http")
	case u.Scheme == "http" && !allowHTTP && !isLoopback(u.Hostname()):
		return nil, errors.New("the base URL of the model server is http to another machine; use https, or allow http")
	}
	if reason := forbiddenHost(u.Hostname()); reason != "" {
		return nil, errors.New("the base URL of the model server is " + reason)
	}
	return u, nil
}
