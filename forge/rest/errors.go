package rest

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"agent/forge"
)

const (
	longestWait = 15 * time.Minute
	defaultWait = time.Minute // where no time is named
	longestText = 300         // characters of a foreign message
)

// Mode is what an unclear end means for a call.
type Mode forge.ErrorKind

// The modes.
const (
	Reading = Mode(forge.Transient)
	Writing = Mode(forge.Ambiguous)
)

// Invalid is a call that never can be done.
func Invalid(op, message string) error {
	return &forge.Error{Kind: forge.Invalid, Op: op, Message: message}
}

// Unreadable is a call whose answer says nothing.
func Unreadable(op string, m Mode) error {
	return &forge.Error{Kind: forge.ErrorKind(m), Op: op, Message: "the answer cannot be read"}
}

// Kind is the kind of a forge error, "" of all others.
func Kind(err error) forge.ErrorKind {
	var e *forge.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// Hidden is the answer that an item was not found as one that may pass, after a
// second look that failed with second, or that saw the item (nil). A failure of
// the second look that has a class of its own says more.
func Hidden(notFound, second error) error {
	if k := Kind(second); k != "" && k != forge.NotFound && k != forge.Forbidden {
		return second
	}
	var e *forge.Error
	if !errors.As(notFound, &e) {
		return notFound
	}
	hidden := *e
	hidden.Kind = forge.Hidden
	hidden.Message += "; the item cannot be seen now, and may be again"
	return &hidden
}

// Wait is how long a refusal asks to wait, between a second and a quarter of
// an hour. The time of reset, in Unix seconds, is text from a header or "". It
// counts from the answer's own date: the clocks may differ.
func Wait(h http.Header, reset string) time.Duration { return min(UntilReset(h, reset), longestWait) }

// UntilReset is [Wait] without its bound.
func UntilReset(h http.Header, reset string) time.Duration {
	d := defaultWait
	if seconds, err := strconv.ParseInt(h.Get("Retry-After"), 10, 32); err == nil {
		d = time.Duration(seconds) * time.Second
	} else if at, err := strconv.ParseInt(reset, 10, 64); err == nil {
		if now, err := http.ParseTime(h.Get("Date")); err == nil { // else our clock says nothing about it
			d = time.Unix(at, 0).Sub(now)
		}
	}
	return max(d, time.Second)
}

// Unanswered classifies a call that got no whole answer. What certainly did
// not arrive is [forge.Transient], what was not sent at all [forge.Invalid].
func Unanswered(op string, m Mode, err error, secrets ...string) error {
	e := &forge.Error{Op: op, Kind: forge.ErrorKind(m), Err: err}
	var stopped *refused
	var network *net.OpError
	var certificate *tls.CertificateVerificationError
	var timeout net.Error
	switch {
	case errors.As(err, &stopped):
		e.Kind, e.Message = cmp.Or(stopped.kind, forge.Invalid), stopped.reason
	case errors.As(err, &certificate):
		e.Kind, e.Message = forge.Certificate, "the server's certificate is not trusted: "+Line(certificate.Err.Error(), secrets...)
	case errors.As(err, &network) && (network.Op == "dial" || network.Op == "proxyconnect"):
		e.Kind, e.Message = forge.Transient, "no connection: "+Line(network.Err.Error(), secrets...)
	case errors.Is(err, errTooLarge):
		e.Message = errTooLarge.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Message = "no answer in time"
	default:
		e.Message = "the connection broke: " + Line(cause(err).Error(), secrets...)
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

// Line makes foreign text one short line without the secrets.
func Line(s string, secrets ...string) string {
	for _, secret := range secrets {
		s = strings.ReplaceAll(s, secret, "[token]")
	}
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
