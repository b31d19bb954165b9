package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	maxBody      = 16 << 20
	maxRedirects = 5
)

// refused is a request that this package did not let out.
type refused struct{ reason string }

func (r *refused) Error() string { return r.reason }

var errTooLarge = errors.New("the answer is larger than 16 MiB")

// checkURL reads the API's base. Errors do not repeat it: it may hold a password.
func checkURL(s string, allowHTTP bool) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Host == "", u.Opaque != "":
		return nil, errors.New("github: the API URL must look like https://api.github.com")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("github: the API URL must have no user, query or fragment")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("github: the API URL must begin with https://")
	case u.Scheme == "http" && !allowHTTP && !loopback(u.Hostname()):
		return nil, fmt.Errorf("github: http to %s would send the token unencrypted", u.Host)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || (err == nil && address.Unmap().IsLoopback())
}

// guard adds the token, keeps requests on the host, and bounds answers in time
// and size. It reads the whole answer itself: the library leaves the bodies of
// errors unclosed, which would hold timers and connections.
type guard struct {
	next    http.RoundTripper
	base    *url.URL
	token   string
	timeout time.Duration
}

func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != g.base.Scheme || r.URL.Host != g.base.Host {
		return nil, &refused{"a request to another host was refused"}
	}
	ctx, cancel := context.WithTimeout(r.Context(), g.timeout)
	defer cancel()
	r = r.Clone(ctx)
	r.Header.Set("Authorization", "Bearer "+g.token)
	response, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if len(body) > maxBody {
		body, err = nil, errTooLarge
	}
	if err != nil && response.StatusCode < http.StatusBadRequest { // of a refusal the status is enough
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// checkRedirect follows reads on the same host. A redirected write was not
// done, and where it would go is another place than the one that was meant.
func checkRedirect(r *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case first.Method != http.MethodGet && first.Method != http.MethodHead:
		return &refused{"the write was answered with a redirect: the project may have moved"}
	case r.URL.Host != first.URL.Host || r.URL.Scheme != first.URL.Scheme:
		return &refused{"a redirect to another host was refused"}
	case len(via) > maxRedirects:
		return &refused{"too many redirects"}
	}
	return nil
}

// newTransport is Go's default, which takes the proxy from the environment,
// with a check of the address that is really dialled.
func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dialer := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: checkAddress}
	t.DialContext = dialer.DialContext
	return t
}

// checkAddress refuses addresses where only a trick would lead: those of
// cloud metadata services, and the unspecified one.
func checkAddress(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return &refused{"not an address"}
	}
	a := ap.Addr().Unmap().WithZone("")
	if a.IsLinkLocalUnicast() || a.IsUnspecified() || a.IsMulticast() || a == metadata {
		return &refused{"the host's address is link-local or unspecified"}
	}
	return nil
}

var metadata = netip.MustParseAddr("fd00:ec2::254")
