// Package lmstudio calls LM Studio over its OpenAI-compatible API, minding what
// it does differently.
//
//   - tool_choice is the string "auto", and a response_format is sent only with a
//     schema: it knows neither objects for the first nor json_object for the second.
//   - Its errors are texts, {"error":"…"}, and are shown.
//   - It takes no window per request: a cut prompt ([llm.PromptCut]) is an error
//     that says how to load the model with a larger one.
//
// All else is as package openai says; the Responses API is not used.
package lmstudio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"agent/llm"
	"agent/llm/httpx"
	"agent/llm/openai"
)

// window says what to change if the server cuts prompts.
const window = "load the model with that window (lms load MODEL --context-length N), or lower llm.lmstudio.context_length"

// profile is what LM Studio wants whatever the model is.
const profile = "lmstudio"

// Config describes one server.
type Config struct {
	BaseURL     string            // as http://127.0.0.1:1234/v1
	APIKey      string            // usually empty
	Model       string            // for requests that name none; empty: the one that is loaded
	Timeout     time.Duration     // of a whole call; 0 means httpx.DefaultTimeout
	IdleTimeout time.Duration     // of silence after the answer has begun; 0 means httpx.DefaultIdleTimeout
	AllowHTTP   bool              // plain http to other hosts than loopback
	Transport   http.RoundTripper // nil: proxies from the environment, and the address checks of package httpx
}

// Provider is an [llm.Provider]. It may be used by several goroutines.
type Provider struct {
	config Config
	chat   *openai.Provider
	client *httpx.Client // for what only LM Studio's own API tells
}

var (
	_ llm.Provider = (*Provider)(nil)
	_ llm.Checker  = (*Provider)(nil)
)

// New checks the configuration; it does not connect.
func New(c Config) (*Provider, error) {
	client, err := httpx.New(httpx.Config{
		BaseURL: c.BaseURL, APIKey: c.APIKey, Timeout: c.Timeout, IdleTimeout: c.IdleTimeout, AllowHTTP: c.AllowHTTP, Transport: c.Transport,
	})
	if err != nil {
		return nil, err
	}
	chat, err := openai.New(openai.Config{
		BaseURL: c.BaseURL, APIKey: c.APIKey, Model: c.Model, Timeout: c.Timeout, IdleTimeout: c.IdleTimeout,
		AllowHTTP: c.AllowHTTP, Transport: c.Transport,
		Profile: profile, NoResponses: true, Window: window,
	})
	if err != nil {
		return nil, err
	}
	return &Provider{config: c, chat: chat, client: client}, nil
}

// Close drops idle connections.
func (p *Provider) Close() {
	p.chat.Close()
	p.client.Close()
}

// Complete implements [llm.Provider].
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	reply, err := p.chat.Complete(ctx, r)
	if err != nil {
		return llm.Reply{}, p.explain(err)
	}
	return reply, nil
}

// explain adds the commands that get a model that is not there.
func (p *Provider) explain(err error) error {
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.NotFound || !httpx.Mentions(e.Message, "model") {
		return err
	}
	name := p.config.Model
	if name == "" {
		name = "MODEL"
	}
	e.Message = p.client.Line(fmt.Sprintf("the model is not loaded; lms get %s downloads it, lms load %s loads it (%s)", name, name, e.Message))
	return err
}
