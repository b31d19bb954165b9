package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
)

// Session is the pool as one context sees it. It is safe for concurrent use.
type Session struct {
	pool    *Pool
	servers []*slot // in the order of the configuration
	own     []*slot // those to close with the session

	workspace string
	local     func(context.Context) (Local, error) // nil: nothing
	whole     bool                                 // also what the model does not see
}

// List starts the servers that do not run, in parallel, and returns what they
// offer, in the order of the configuration. Tools are in their server's order
// and stay as they were when the server started. A server that failed has Err
// set and no tools; so has one that was not ready when ctx ended. If no server
// offers a tool, all have Err set and are required. For the model, a server for
// the agent alone is in the list only if it failed and is required.
func (s *Session) List(ctx context.Context) []Server { return s.list(ctx, true) }

// Start is List without what [ServerConfig.About] says, which may take a while to look up.
func (s *Session) Start(ctx context.Context) []Server { return s.list(ctx, false) }

// WarmUp begins to start the servers that the next List waits for. One that fails then
// is started again by it.
func (s *Session) WarmUp() {
	for _, one := range s.servers {
		if s.shows(one) || one.config.Required {
			_, _, _ = one.join()
		}
	}
}

func (s *Session) list(ctx context.Context, about bool) []Server {
	list := make([]Server, len(s.servers))
	var all sync.WaitGroup
	for i, one := range s.servers {
		all.Go(func() { list[i] = one.describe(ctx, s.whole, about) })
	}
	all.Wait()
	var shown []Server
	for i, one := range list {
		if s.shows(s.servers[i]) || one.Err != "" {
			shown = append(shown, one)
		}
	}
	if len(shown) == 0 {
		shown = list
	}
	requireTools(shown)
	return shown
}

func (s *Session) shows(one *slot) bool { return s.whole || !one.config.AgentOnly }

// requireTools makes all servers required if none offers a tool: without tools there is no work.
func requireTools(list []Server) {
	if slices.ContainsFunc(list, func(s Server) bool { return len(s.Tools) > 0 }) {
		return
	}
	for i := range list {
		list[i].Required = true
		if list[i].Err == "" {
			list[i].Err = "it offers no tool"
		}
	}
}

// Call calls a tool and returns its result, a *Error, or the error of ctx. It
// starts the server if it does not run. args is a JSON object; empty and null mean {}.
func (s *Session) Call(ctx context.Context, server, tool string, args json.RawMessage) (Result, error) {
	i := slices.IndexFunc(s.servers, func(one *slot) bool { return one.config.Name == server })
	if i < 0 || !s.shows(s.servers[i]) {
		return Result{}, &Error{Kind: UnknownTool, Server: server, Tool: tool, Message: "there is no server of this name"}
	}
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	if args[0] != '{' || !json.Valid(args) {
		return Result{}, &Error{Kind: Refused, Server: server, Tool: tool, Message: "the arguments are not a JSON object"}
	}
	return s.servers[i].call(ctx, tool, args, s.whole)
}

// Close ends the servers that were started for this session.
func (s *Session) Close() error {
	closeSlots(s.own)
	s.pool.forget(s)
	return nil
}
