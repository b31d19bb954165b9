package github

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/google/go-github/v89/github"

	"agent/forge"
)

const (
	longestWait = 15 * time.Minute
	defaultWait = time.Minute // after a secondary limit that names no time
	longestText = 300         // characters of a foreign message
)

// mode is what an unclear end means for a call.
type mode forge.ErrorKind

const (
	reading = mode(forge.Transient)
	writing = mode(forge.Ambiguous)
)

func invalid(op, message string) error {
	return &forge.Error{Kind: forge.Invalid, Op: op, Message: message}
}

func unreadable(op string, m mode) error {
	return &forge.Error{Kind: forge.ErrorKind(m), Op: op, Message: "the answer cannot be read"}
}

// kind is the kind of a forge error, "" of all others.
func kind(err error) forge.ErrorKind {
	var e *forge.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// classify turns what a call returned into an error of the port, or nil.
func (c *Client) classify(ctx context.Context, op string, m mode, response *github.Response, err error) error {
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
		e := unreadable(op, m).(*forge.Error)
		e.Status, e.Err = response.StatusCode, err
		return e
	}
	return c.unanswered(op, m, err)
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
func (c *Client) refusal(op string, m mode, r *http.Response, message string) error {
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

// wait is how long the answer asks to wait. Its reset time counts from its own
// date: the clocks may differ.
func wait(h http.Header) time.Duration {
	d := defaultWait
	if seconds, err := strconv.ParseInt(h.Get("Retry-After"), 10, 32); err == nil {
		d = time.Duration(seconds) * time.Second
	} else if reset, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil && h.Get("X-Ratelimit-Remaining") == "0" {
		now, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		d = time.Unix(reset, 0).Sub(now)
	}
	return min(max(d, time.Second), longestWait)
}

// unanswered classifies a call that got no whole answer.
func (c *Client) unanswered(op string, m mode, err error) error {
	e := &forge.Error{Op: op, Kind: forge.ErrorKind(m), Err: err}
	var stopped *refused
	var network *net.OpError
	var certificate *tls.CertificateVerificationError
	var timeout net.Error
	switch {
	case errors.As(err, &stopped):
		e.Kind, e.Message = forge.Invalid, stopped.reason
	case errors.Is(err, github.ErrPathForbidden):
		e.Kind, e.Message = forge.Invalid, "the name cannot stand in a path"
	case errors.As(err, &certificate):
		e.Kind, e.Message = forge.Transient, "the server's certificate is not valid"
	case errors.As(err, &network) && (network.Op == "dial" || network.Op == "proxyconnect"):
		e.Kind, e.Message = forge.Transient, "no connection: "+c.line(network.Err.Error())
	case errors.Is(err, errTooLarge):
		e.Message = errTooLarge.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Message = "no answer in time"
	default:
		e.Message = "the connection broke: " + c.line(cause(err).Error())
	}
	return e
}

// cause is the innermost error: the outer ones repeat the URL.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// line makes foreign text one short line without the token.
func (c *Client) line(s string) string {
	s = strings.ReplaceAll(s, c.cfg.Token, "[token]")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if runes := []rune(s); len(runes) > longestText {
		s = string(runes[:longestText]) + "…"
	}
	return strings.TrimSpace(s)
}

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
