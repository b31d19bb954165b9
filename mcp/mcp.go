// Package mcp is the port to tool servers that speak the Model Context Protocol.
//
// A [Pool] starts servers lazily and keeps each running for the whole process,
// shared by tasks; a server whose command or environment mentions {workspace}
// is started once per context. Servers get an environment built from an
// allow-list, never ours, and die with us.
//
// A server is not trusted: its lines, results, descriptions, schemas and
// standard error are bounded, it may ask nothing of us but a ping, links in its
// results are not followed, and its tools stay as they were when it started.
// Each server runs under a supervisor, this executable again (see internal/supervise),
// which kills all that the server has started when the server or we die, and
// puts it into a sandbox if it is to have one (internal/sandbox). A dead
// server is started again at the next call; after three deaths it stays off.
//
// A [Session] is one context's view. What went wrong with a call is an [Error],
// whose kind says whether the call may have had its effect; a call is never
// repeated, except one that an HTTP server refused because it had lost the session.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// ServerConfig is one entry of mcp_servers.
type ServerConfig struct {
	Name         string            // mcp_server_name
	Command      []string          // argv; "agent" as first word means this executable; {workspace} is replaced
	Env          map[string]string // added to the allow-list; {workspace} is replaced
	SystemPrompt string            // text for the model's system prompt
	Allow        []string          // tool names offered to the model; empty means all
	Timeout      time.Duration     // of one call
	Sandbox      string            // auto | required | off; empty means off
	Network      string            // on | off, of the sandbox; empty means on
	Write        []string          // trees that the sandbox lets it change, beside the workspace
	Read         []string          // trees and files that the sandbox lets it read, beside toolchains
	URL          string            // streamable HTTP instead of a command
	Headers      map[string]string
	Required     bool // without it nothing is worked on
	AgentOnly    bool // the model sees nothing of it

	// About adds to SystemPrompt, when the tools are listed, what has to be looked up. nil: nothing.
	About func(context.Context, Local) string

	workspace string // that {workspace} was replaced by
	opened    func(context.Context) (Local, error)
	local     Local
}

// Local is what the servers of one workspace get beside it, if they have a sandbox.
type Local struct {
	Caches string            // directory in which tools keep what they download and compile, to be written; "" for none
	Env    map[string]string // tells tools of it
	Image  Image             // in which the built-in server and its commands run
	Note   string            // for the model, about the image
}

// Image is the unpacked file system of a container image. The zero value is none: the machine's own is used.
type Image struct {
	Name string   // as the configuration or the repository has it
	ID   string   // of its content, such as sha256:…
	Dir  string   // its root
	Env  []string // its variables, NAME=value
}

// Tool is a tool as its server describes it. The hints default to the worst case, as MCP says.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // input schema as received
	ReadOnly    bool
	Idempotent  bool
	Destructive bool
	OpenWorld   bool
}

// Server is what one server offers now.
type Server struct {
	Name   string
	Prompt string // ServerConfig.SystemPrompt and About
	Tools  []Tool
	Err    string // why it offers nothing; one line
	Local  bool   // Err is about what this workspace gets, such as a container image: others are not concerned

	Temporary bool // Err may pass: the server was killed, as where memory is short, or was too slow
	Required  bool // without it nothing is worked on
}

// Result is the answer to one call.
type Result struct {
	Text    string // text parts joined by newlines; other parts as one-line notes ("[image image/png 12 KiB]")
	IsError bool   // the tool says that it failed

	// Of the built-in server history alone: the earlier contexts whose words may
	// be in it, and the lowest trust of these, see projections.Lineage.
	Sources []string
	Trust   string
}

// ErrorKind says what is known about a call without a result.
type ErrorKind string

// The kinds of error.
const (
	UnknownTool ErrorKind = "unknown_tool" // nothing happened
	Refused     ErrorKind = "refused"      // the server refused the call (a JSON-RPC error): nothing happened as far as it says
	NotStarted  ErrorKind = "not_started"  // the server is not running: nothing happened
	TimedOut    ErrorKind = "timeout"      // it may or may not have happened
	Died        ErrorKind = "died"         // the server died in the call: it may or may not have happened
)

// Error is a call without a result. Message is one line and holds no secret.
type Error struct {
	Kind    ErrorKind
	Server  string
	Tool    string
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s/%s: %s (%s)", e.Server, e.Tool, e.Message, e.Kind)
}
