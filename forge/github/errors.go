package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v89/github"

	"agent/forge"
	"agent/forge/rest"
)

// What an unclear end means for a call.
const (
	reading = rest.Reading
	writing = rest.Writing
)

// The names of this package for what every adapter needs.
var (
	invalid    = rest.Invalid
	unreadable = rest.Unreadable
	kind       = rest.Kind
	named      = rest.Named
	joined     = rest.Joined
	flat       = rest.Flat
)

// classify turns what a call returned into an error of the port, or nil.
func (c *Client) classify(ctx context.Context, op string, m rest.Mode, response *github.Response, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if status, message := answer(err); status != nil {
		return c.refusal(op, m, status, message)
	}
	if response != nil && response.Response != nil && response.StatusCode/100 == 2 {
		c.forget(response)
		e := unreadable(op, m).(*forge.Error)
		e.Status, e.Err = response.StatusCode, err
		return e
	}
	return c.unanswered(op, m, err)
}

// forget drops an answer that was of no use from the cache.
func (c *Client) forget(r *github.Response) {
	if r != nil {
		c.answers.Forget(r.Response)
	}
}

// answer takes the server's refusal out of the library's errors.
func answer(err error) (*http.Response, string) {
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	var factor *github.TwoFactorAuthError
	var other *github.ErrorResponse
	var redirection *github.RedirectionError
	switch {
	case errors.As(err, &primary):
		return primary.Response, primary.Message
	case errors.As(err, &secondary):
		return secondary.Response, secondary.Message + " (secondary rate limit)"
	case errors.As(err, &factor):
		return factor.Response, factor.Message
	case errors.As(err, &other):
		return other.Response, details(other)
	case errors.As(err, &redirection):
		return redirection.Response, "redirect without a place to go"
	}
	return nil, ""
}

func details(e *github.ErrorResponse) string {
	text := e.Message
	for _, d := range e.Errors {
		part := d.Message
		if part == "" {
			part = strings.TrimSpace(d.Field + " " + d.Code)
		}
		text += "; " + part
	}
	return text
}

// refusal classifies an answer that is no success.
func (c *Client) refusal(op string, m rest.Mode, r *http.Response, message string) error {
	e := &forge.Error{Op: op, Status: r.StatusCode, Message: c.line(message), Kind: forge.Invalid}
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(r.StatusCode))
	}
	switch {
	case limited(r, message):
		e.Kind, e.RetryAfter = forge.RateLimited, wait(r.Header)
	case r.StatusCode >= 500, r.StatusCode == http.StatusAccepted:
		e.Kind = forge.ErrorKind(m)
	case r.StatusCode == http.StatusUnauthorized:
		e.Kind = forge.Auth
	case r.StatusCode == http.StatusForbidden:
		e.Kind = forge.Forbidden
	case r.StatusCode == http.StatusNotFound, r.StatusCode == http.StatusGone:
		e.Kind = forge.NotFound
	}
	return e
}

func limited(r *http.Response, message string) bool {
	if r.StatusCode == http.StatusTooManyRequests {
		return true
	}
	message = strings.ToLower(message)
	return r.StatusCode == http.StatusForbidden && (r.Header.Get("X-Ratelimit-Remaining") == "0" ||
		r.Header.Get("Retry-After") != "" || strings.Contains(message, "rate limit") || strings.Contains(message, "abuse"))
}

func wait(h http.Header) time.Duration {
	reset := ""
	if h.Get("X-Ratelimit-Remaining") == "0" {
		reset = h.Get("X-Ratelimit-Reset")
	}
	return rest.Wait(h, reset)
}

// unanswered classifies a call that got no whole answer.
func (c *Client) unanswered(op string, m rest.Mode, err error) error {
	if errors.Is(err, github.ErrPathForbidden) {
		return invalid(op, "the name cannot stand in a path")
	}
	var tokenless *tokenError
	if errors.As(err, &tokenless) {
		return &forge.Error{Op: op, Kind: tokenless.kind, Status: tokenless.status, Message: c.line(tokenless.message),
			RetryAfter: tokenless.retryAfter}
	}
	return rest.Unanswered(op, m, err, c.tokens.secrets()...)
}

func (c *Client) line(s string) string { return rest.Line(s, c.tokens.secrets()...) }

func alreadyExists(err error) bool {
	var e *github.ErrorResponse
	if !errors.As(err, &e) {
		return false
	}
	for _, d := range e.Errors {
		if d.Code == "already_exists" {
			return true
		}
	}
	return false
}
