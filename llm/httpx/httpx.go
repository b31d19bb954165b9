// Package httpx is what the providers of package llm share in speaking to
// their servers: where requests may go, how much and how long is read, and what
// a failure means.
//
// What holds for every call:
//   - Nothing is sent twice.
//   - At most 32 MiB of an answer are read, counted after decompression, unless
//     its reader allows more ([Answer.Allow]).
//   - The key goes to the configured host only. Redirects to another one are
//     refused, so are link-local and metadata addresses, at the time of dialing,
//     and plain http to anything but loopback unless AllowHTTP is set.
//   - Errors are [*llm.Error] or the error of the caller's context. Their messages
//     are one line of at most 500 characters without the key.
package httpx

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Defaults of [Config].
const (
	DefaultTimeout     = 10 * time.Minute
	DefaultIdleTimeout = 5 * time.Minute // local servers are silent while they write a long call
)

// Config describes one server.
type Config struct {
	BaseURL     string            // no user, query or fragment
	APIKey      string            // sent as bearer token; may be empty for local servers
	KeyHeader   string            // the key is sent in this header instead
	Header      map[string]string // sent with every request
	Query       string            // added to every address, encoded
	Timeout     time.Duration     // of a whole call; 0 means DefaultTimeout
	IdleTimeout time.Duration     // of silence after the answer has begun; 0 means DefaultIdleTimeout
	AllowHTTP   bool              // plain http to other hosts than loopback
	Transport   http.RoundTripper // nil: proxies from the environment, and the address checks described above
}

// Client calls one server. It may be used by several goroutines.
type Client struct {
	config Config
	base   *url.URL
	http   *http.Client
}

// New checks the configuration; it does not connect. Errors never hold the key.
func New(c Config) (*Client, error) {
	u, err := parseBase(c.BaseURL, c.AllowHTTP)
	if err != nil {
		return nil, err
	}
	c.APIKey = strings.TrimSpace(c.APIKey)
	if strings.ContainsFunc(c.APIKey, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, errors.New("the API key of the model server holds characters that no header can carry")
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.IdleTimeout <= 0 {
		c.IdleTimeout = DefaultIdleTimeout
	}
	if c.Transport == nil {
		c.Transport = newTransport(u.Scheme == "http" && !c.AllowHTTP)
	}
	return &Client{config: c, base: u, http: &http.Client{Transport: c.Transport, CheckRedirect: sameOrigin}}, nil
}

// URL is the base URL with path elements added.
func (c *Client) URL(elem ...string) string {
	u := c.base.JoinPath(elem...)
	u.RawQuery = c.config.Query
	return u.String()
}

// Host is the name of the host in an address, "" if it has none.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// RootURL is URL from the root of the server instead of the path of the base URL.
func (c *Client) RootURL(elem ...string) string {
	root := *c.base
	root.Path, root.RawPath = "/", ""
	return root.JoinPath(elem...).String()
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// parseBase accepts what the key may be sent to.
func parseBase(base string, allowHTTP bool) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return nil, errors.New("the base URL of the model server is not a URL like https://host/v1") // base may hold a password
	}
	switch {
	case u.User != nil:
		return nil, errors.New("the base URL of the model server holds a user name or password")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the base URL of the model server has a query or a fragment")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("the base URL of the model server is neither https nor http")
	case u.Scheme == "http" && !allowHTTP && !isLoopback(u.Hostname()):
		return nil, errors.New("the base URL of the model server is http to another machine; use https, or allow http")
	}
	if reason := forbiddenHost(u.Hostname()); reason != "" {
		return nil, errors.New("the base URL of the model server is " + reason)
	}
	return u, nil
}
