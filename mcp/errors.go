package mcp

import (
	"errors"
	"maps"
	"slices"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"agent/internal/lazyregexp"
)

// errSessionLost means that an HTTP server has forgotten us: nothing happened.
var errSessionLost = errors.New("the server has ended the session")

// unknownTool matches what servers say with the code for invalid parameters.
var unknownTool = lazyregexp.New(`(?i)(^|: )(unknown tool|no such tool|tool\b.{0,200}\bnot found)`)

// lostSession matches what HTTP servers say in an error of the protocol, with
// status 400, in place of the 404 that the protocol demands.
var lostSession = lazyregexp.New(`(?i)\b((no valid|invalid|unknown|missing) session|session (id )?(is |was |has )?(not found|unknown|expired|invalid|terminated))\b`)

// endsSession tells whether a refusal means that the server has forgotten us.
func (c *connection) endsSession(details *protocol.JSONRPCErrorDetails) bool {
	if c.process != nil || details.Code == protocol.INVALID_PARAMS || !lostSession.MatchString(details.Message) {
		return false
	}
	c.lost.Store(true)
	return true
}

// refusal makes an *Error of a JSON-RPC error.
func refusal(details *protocol.JSONRPCErrorDetails) *Error {
	e := &Error{Kind: Refused, Message: details.Message}
	if e.Message == "" {
		e.Message = "the server gave no reason"
	}
	if details.Code == protocol.METHOD_NOT_FOUND ||
		(details.Code == protocol.INVALID_PARAMS && unknownTool.MatchString(details.Message)) {
		e.Kind = UnknownTool
	}
	return e
}

// minSecret is the length from which a configured value may be a secret;
// replacing shorter ones would garble messages.
const minSecret = 8

// redact replaces the configured values of environment and headers, whole and
// word by word ("Bearer xyz").
func (c ServerConfig) redact(s string) string {
	values := slices.Concat(slices.Collect(maps.Values(c.Env)), slices.Collect(maps.Values(c.Headers)))
	for _, value := range values {
		for _, word := range append([]string{value}, strings.Fields(value)...) {
			if len(word) >= minSecret {
				s = strings.ReplaceAll(s, word, "[redacted]")
			}
		}
	}
	return s
}
