package mcp

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
)

// dial prepares a streamable HTTP connection; nothing is sent yet.
func (c *connection) dial(config ServerConfig) error {
	base := http.DefaultTransport.(*http.Transport).Clone()
	httpClient := &http.Client{Transport: limited{base}, CheckRedirect: sameHost}
	t, err := transport.NewStreamableHTTP(config.URL,
		transport.WithHTTPBasicClient(httpClient),
		transport.WithHTTPHeaders(config.Headers),
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler))) // its errors carry the URL
	if err != nil {
		return errors.New("its url is malformed")
	}
	c.idle = base.CloseIdleConnections
	c.client = client.NewClient(captureHTTP{captureTransport{Interface: t}}, client.WithProtocolVersion(protocolVersion))
	return nil
}

// sameHost keeps the configured headers from other hosts.
func sameHost(next *http.Request, via []*http.Request) error {
	if next.URL.Host != via[0].URL.Host || next.URL.Scheme != via[0].URL.Scheme || len(via) > 3 {
		return errors.New("it redirects to another host")
	}
	return nil
}

// limited bounds the bodies of answers.
type limited struct {
	next http.RoundTripper
}

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusForbidden {
		return nil, forbidden(response)
	}
	if err == nil {
		response.Body = &limitedBody{ReadCloser: response.Body, left: maxLine}
	}
	return response, err
}

// errForbidden is a server's 403: the connection is well, the right is missing.
type errForbidden struct{ says string }

func (e *errForbidden) Error() string {
	return "the server refuses access (403 Forbidden); check the headers and the rights of its token" + e.says
}

// forbidden takes the beginning of the server's words.
func forbidden(r *http.Response) error {
	defer r.Body.Close()
	data, _ := io.ReadAll(io.LimitReader(r.Body, 300)) // what cannot be read is not said
	if words := strings.Join(strings.Fields(strings.ToValidUTF8(string(data), "")), " "); words != "" {
		return &errForbidden{": " + words}
	}
	return &errForbidden{}
}

type limitedBody struct {
	io.ReadCloser
	left int64
}

var errBodyTooLong = fmt.Errorf("its answer is longer than %d MiB", maxLine>>20)

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return 0, errBodyTooLong
	}
	return n, err
}

// httpError says what a failed call may have done.
func (c *connection) httpError(err error) error {
	var dial *net.OpError
	var refused *errForbidden
	switch {
	case errors.As(err, &refused):
		return &Error{Kind: Refused, Message: refused.Error()}
	case errors.Is(err, transport.ErrSessionTerminated):
		c.lost.Store(true)
		return errSessionLost
	case errors.Is(err, transport.ErrAuthorizationRequired):
		return &Error{Kind: Refused, Message: httpCause(err)}
	case errors.As(err, &dial) && dial.Op == "dial":
		return &Error{Kind: NotStarted, Message: "the server cannot be reached: " + dial.Err.Error()}
	default:
		return &Error{Kind: Died, Message: "the connection broke in the call: " + httpCause(err)}
	}
}

// httpCause drops what wraps an error: it names the URL, which may hold a secret.
func httpCause(err error) string {
	var wrapped *url.Error
	var broken *transport.Error
	switch {
	case errors.As(err, &wrapped):
		return wrapped.Err.Error()
	case errors.As(err, &broken):
		return broken.Err.Error()
	default:
		return err.Error()
	}
}
