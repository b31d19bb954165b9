package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	defaultTimeout = 120 * time.Second // of a call
	startTimeout   = 30 * time.Second  // until the tools are known
	maxDeaths      = 3                 // then the server stays off
	backOff        = time.Second       // before the second restart
	longLife       = 10 * time.Minute  // a server that lived so long starts with a clean record
)

// slot is the place of one server: it is started when it is needed and
// started again when it has died.
type slot struct {
	config  ServerConfig
	options Options
	fault   string // why it can never start
	frozen  frozen
	life    context.Context
	stop    context.CancelFunc

	mu       sync.Mutex
	current  *connection
	starting *attempt
	deaths   int
	last     string // why it died or did not start
}

// attempt is one start, shared by all who wait for it.
type attempt struct {
	done       chan struct{}
	connection *connection
	err        error
}

func newSlot(c ServerConfig, o Options) *slot {
	s := &slot{config: c, options: o}
	s.life, s.stop = context.WithCancel(context.Background())
	return s
}

func brokenSlot(c ServerConfig, fault string) *slot {
	s := newSlot(c, Options{})
	s.fault = fault
	return s
}

// describe starts the server if needed and says what it offers, to the model or as
// a whole. What the model sees nothing of is started only if it is required. What is said
// About it is looked up meanwhile.
func (s *slot) describe(ctx context.Context, whole, about bool) (server Server) {
	server = Server{Name: s.config.Name, Prompt: s.config.SystemPrompt, Required: s.config.Required}
	if s.config.About != nil && about {
		local, err := s.config.openLocal(ctx)
		if err != nil {
			server.Err, server.Local = s.message(err), true
			return server
		}
		text := make(chan string, 1)
		go func() { text <- s.config.About(ctx, local) }()
		defer func() { server.Prompt = strings.TrimSpace(server.Prompt + "\n\n" + <-text) }()
	}
	unseen := s.config.AgentOnly && !whole
	if unseen && !s.config.Required {
		return server
	}
	c, err := s.connect(ctx)
	if err != nil {
		server.Err = s.message(err)
		_, server.Temporary = errors.AsType[temporaryError](err)
		return server
	}
	for _, tool := range c.tools {
		if !unseen && s.allows(tool.Name, whole) {
			server.Tools = append(server.Tools, tool)
		}
	}
	return server
}

func (s *slot) allows(tool string, whole bool) bool {
	return whole || len(s.config.Allow) == 0 || slices.Contains(s.config.Allow, tool)
}

// call runs a tool. A lost HTTP session is opened again once, since its server
// has refused the call without looking at it.
func (s *slot) call(ctx context.Context, tool string, args json.RawMessage, whole bool) (Result, error) {
	result, err := s.callOnce(ctx, tool, args, whole)
	if errors.Is(err, errSessionLost) {
		result, err = s.callOnce(ctx, tool, args, whole)
	}
	if err == nil || (ctx.Err() != nil && errors.Is(err, ctx.Err())) {
		return result, err
	}
	known, ok := errors.AsType[*Error](err)
	if !ok {
		known = &Error{Kind: NotStarted, Message: err.Error()}
	}
	return Result{}, &Error{Kind: known.Kind, Server: s.config.Name, Tool: tool, Message: s.message(errors.New(known.Message))}
}

func (s *slot) callOnce(ctx context.Context, tool string, args json.RawMessage, whole bool) (Result, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return Result{}, err
	}
	known := func(t Tool) bool { return t.Name == tool }
	if !s.allows(tool, whole) || !slices.ContainsFunc(c.tools, known) {
		return Result{}, &Error{Kind: UnknownTool, Message: "there is no tool of this name"}
	}
	timeout := s.config.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	return c.call(ctx, timeout, tool, args)
}

// connect returns a running server, starting it if needed.
func (s *slot) connect(ctx context.Context) (*connection, error) {
	a, c, err := s.join()
	if a == nil {
		return c, err
	}
	select {
	case <-a.done:
		return a.connection, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// join returns the running server, or the start to wait for, or why there is none.
func (s *slot) join() (*attempt, *connection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.fault != "":
		return nil, nil, errors.New(s.fault)
	case s.life.Err() != nil:
		return nil, nil, errClosed
	case s.starting != nil:
		return s.starting, nil, nil
	case s.current != nil && s.current.alive():
		return nil, s.current, nil
	}
	dead := s.current
	s.current = nil
	s.bury(dead)
	if s.deaths >= maxDeaths {
		return nil, nil, fmt.Errorf("it failed %d times and stays off; the last time: %s", s.deaths, s.last)
	}
	s.starting = &attempt{done: make(chan struct{})}
	go s.start(s.starting, dead, s.deaths)
	return s.starting, nil, nil
}

func (s *slot) bury(dead *connection) {
	if dead == nil || dead.lost.Load() {
		return
	}
	if time.Since(dead.since) > longLife {
		s.deaths = 0
	}
	s.deaths++
	s.last = dead.reason()
}

// start makes one attempt, after the predecessor is gone.
func (s *slot) start(a *attempt, dead *connection, deaths int) {
	if dead != nil {
		dead.close()
	}
	if deaths > 1 {
		pause(s.life, backOff)
	}
	config, err := s.config.withLocal(s.life) // what that takes does not count
	if a.err = err; err == nil {
		ctx, cancel := context.WithTimeout(s.life, startTimeout)
		defer cancel()
		a.connection, a.err = connect(ctx, config, s.options)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting = nil
	s.current = a.connection
	if a.err != nil {
		s.deaths++
		s.last = a.err.Error()
	}
	close(a.done)
}

// retry lets a server that stays off be started again.
func (s *slot) retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaths = 0
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// close ends the server and waits until it is gone.
func (s *slot) close() {
	s.stop()
	s.mu.Lock()
	a := s.starting
	s.mu.Unlock()
	if a != nil {
		<-a.done
	}
	s.mu.Lock()
	c := s.current
	s.mu.Unlock()
	if c != nil {
		c.close()
	}
}

// message is an error's text as one line without the secrets of the configuration.
func (s *slot) message(err error) string {
	return oneLine(s.config.redact(err.Error()))
}
