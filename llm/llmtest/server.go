// Package llmtest is a model server that follows a script, streaming or not, for
// tests and demonstrations: OpenAI with chat completions and the Responses API,
// LM Studio, or Ollama with its native API, by [Mode].
//
// It answers requests for an answer and for a description of its one model on a
// loopback address. Requests are validated as the real API does it, so that a client
// which sends an empty tool result or forgets one gets a 400 here too. Replies
// can be anything a network brings: errors, pages of proxies, streams that are
// cut or fall silent.
//
// State is only the list of requests. A [Script] that looks at the conversation
// alone ([Turns]) is not disturbed by clients that die and ask again.
package llmtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Model is the name that GET /v1/models lists. Requests may name any model.
const Model = "scripted"

// maxBody bounds a request: more is a fault of the client.
const maxBody = 64 << 20

// Server is a running server.
type Server struct {
	mode     Mode
	dialect  Dialect
	script   Script
	listener net.Listener
	http     *http.Server
	served   chan struct{}
	closing  chan struct{}
	once     sync.Once

	turn sync.Mutex // held while the script runs

	mu       sync.Mutex
	requests []Request
	cached   map[[32]byte]bool // beginnings of prompts that were marked, of Anthropic
	refused  []string
	arrived  chan struct{} // closed and renewed at each request
}

// New starts a server on a free loopback port. It panics if there is none. At
// most one mode counts.
func New(script Script, mode ...Mode) *Server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("llmtest: " + err.Error())
	}
	return Serve(l, script, mode...)
}

// Serve starts a server on l, which it owns from then on.
func Serve(l net.Listener, script Script, mode ...Mode) *Server {
	d := Dialect{}
	if len(mode) > 0 {
		d.Mode = mode[0]
	}
	return serve(l, script, d)
}

func serve(l net.Listener, script Script, d Dialect) *Server {
	s := &Server{
		script: script, listener: l, mode: d.Mode, dialect: d,
		served: make(chan struct{}), closing: make(chan struct{}), arrived: make(chan struct{}),
	}
	s.http = &http.Server{Handler: s.routes()}
	go func() {
		defer close(s.served)
		s.http.Serve(l) // always ends with an error: http.ErrServerClosed
	}()
	return s
}

// URL is the base URL for clients of the mode: "/v1" is included, but for Ollama.
func (s *Server) URL() string {
	base := "http://" + s.listener.Addr().String()
	if s.mode == Ollama || s.mode == Anthropic || s.dialect.Azure {
		return base
	}
	return base + cmp.Or(s.dialect.Base, "/v1")
}

// Requests are the requests for an answer that arrived so far, valid ones only.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Refused are the words of the refusals of requests that were not valid, so far.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.refused...)
}

// Forget drops the requests that were seen: a server that runs for hours would keep all.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

func (s *Server) note(refusal error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = append(s.refused, refusal.Error())
}

// Await returns when n requests for an answer have arrived, or with ctx's error.
func (s *Server) Await(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		have, arrived := len(s.requests), s.arrived
		s.mu.Unlock()
		if have >= n {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close drops all connections and waits until the listener has ended. It may be called twice.
func (s *Server) Close() {
	s.once.Do(func() { close(s.closing) })
	s.http.Close()
	<-s.served
}

func (s *Server) serve(parse func([]byte, http.Header) (Request, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		body := bytes.NewBuffer(make([]byte, 0, min(max(req.ContentLength, 0), maxBody)+bytes.MinRead))
		if _, err := body.ReadFrom(http.MaxBytesReader(w, req.Body, maxBody)); err != nil {
			return // the client left
		}
		r, err := parse(body.Bytes(), req.Header.Clone())
		if err == nil {
			err = s.dialect.check(body.Bytes(), req.Header, req.URL.RawQuery)
		}
		if err != nil {
			s.note(err)
			status := http.StatusBadRequest
			if strict := (*refusal)(nil); errors.As(err, &strict) {
				status = strict.status
			}
			s.answer(w, req, r, Error(status, "invalid_request_error", err.Error()))
			return
		}
		s.answer(w, req, r, s.dialect.with(s.next(r), r.Turns()))
	}
}

func (s *Server) next(r Request) Reply {
	s.turn.Lock()
	defer s.turn.Unlock()
	return s.script(s.record(r), r)
}

func (s *Server) record(r Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	close(s.arrived)
	s.arrived = make(chan struct{})
	return len(s.requests) - 1
}

func models(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, marshal(map[string]any{"object": "list", "data": []any{
		map[string]any{"id": Model, "object": "model", "created": 0, "owned_by": "llmtest"},
	}}))
}

// marshal panics on values that JSON has no form for: those come from scripts.
func marshal(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // as the servers do it
	if err := e.Encode(v); err != nil {
		panic("llmtest: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
