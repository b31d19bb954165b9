package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"agent/forge"
	"agent/internal/lease"
)

// The bounds of one call.
const (
	MaxBody      = 16 << 20 // bytes of one answer
	MaxList      = 64 << 20 // bytes of all pages of one list
	MaxRedirects = 5
)

// refused is a request that this package did not let out.
type refused struct {
	reason string
	kind   forge.ErrorKind // zero: Invalid
}

func (r *refused) Error() string { return r.reason }

var errTooLarge = errors.New("the answer is larger than 16 MiB")

// Guard adds the token, keeps requests on the host, and bounds answers in time
// and size. It reads the whole answer itself: libraries leave the bodies of
// errors unclosed, which would hold timers and connections.
type Guard struct {
	Next    http.RoundTripper
	Base    *url.URL
	Sign    func(http.Header) // adds the token
	Timeout time.Duration     // of one request with its answer
}

// Client is a client that sends through g.
func (g *Guard) Client() *http.Client {
	return &http.Client{Transport: g, CheckRedirect: checkRedirect}
}

// RoundTrip sends one request.
func (g *Guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != g.Base.Scheme || r.URL.Host != g.Base.Host {
		return nil, &refused{reason: "a request to another host was refused"}
	}
	ctx, cancel := context.WithTimeout(r.Context(), g.Timeout)
	defer cancel()
	r = r.Clone(ctx)
	g.Sign(r.Header)
	if err := lease.Check(ctx); err != nil {
		return nil, err
	}
	if lease.Held(ctx) && r.Body != nil && r.Body != http.NoBody {
		r.Body = &leased{ctx, r.Body}
		if again := r.GetBody; again != nil {
			r.GetBody = func() (io.ReadCloser, error) {
				body, err := again()
				return &leased{ctx, body}, err
			}
		}
	}
	response, err := g.Next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, MaxBody+1))
	if len(body) > MaxBody {
		body, err = nil, errTooLarge
	}
	if err != nil && response.StatusCode < http.StatusBadRequest { // of a refusal the status is enough
		return nil, err
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, nil
}

// leased is a body that breaks off once the effect may not begin any more, as after a connection took long. A
// request without its whole body is not acted on.
type leased struct {
	ctx context.Context
	io.ReadCloser
}

func (l *leased) Read(p []byte) (int, error) {
	if err := lease.Check(l.ctx); err != nil {
		return 0, err
	}
	return l.ReadCloser.Read(p)
}

// checkRedirect follows reads on the same host. A redirected write was not
// done, and where it would go is another place than the one that was meant.
func checkRedirect(r *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case first.Method != http.MethodGet && first.Method != http.MethodHead:
		return &refused{"the write was answered with a redirect: the project may have moved", forge.Moved}
	case r.URL.Host != first.URL.Host || r.URL.Scheme != first.URL.Scheme:
		return &refused{reason: "a redirect to another host was refused"}
	case len(via) > MaxRedirects:
		return &refused{reason: "too many redirects"}
	}
	return nil
}

// NewTransport is Go's default, which takes the proxy from the environment,
// with a check of the address that is really dialled. What was not sent when a connection is closed, or its
// process is killed, is never sent: the system would go on to send it when the network works again.
func NewTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dialer := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: checkAddress}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if tcp, ok := conn.(*net.TCPConn); ok {
			err = errors.Join(err, tcp.SetLinger(0))
		}
		return conn, err
	}
	return t
}

// checkAddress refuses addresses where only a trick would lead: those of
// cloud metadata services, and the unspecified one.
func checkAddress(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return &refused{reason: "not an address"}
	}
	a := ap.Addr().Unmap().WithZone("")
	if a.IsLinkLocalUnicast() || a.IsUnspecified() || a.IsMulticast() || a == metadata {
		return &refused{reason: "the host's address is link-local or unspecified"}
	}
	return nil
}

var metadata = netip.MustParseAddr("fd00:ec2::254")
