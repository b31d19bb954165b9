package httpx

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

var (
	errRedirect  = errors.New("the server redirects to another host; the key is not sent there")
	errLoops     = errors.New("the server redirects too often")
	errForbidden = errors.New("the server's address is refused")
)

const maxRedirects = 3

// newTransport dials only where a model server may be. With onlyLoopback, a
// name that passed for loopback must also resolve to it. Proxies come from the
// environment, and never stand before loopback.
func newTransport(onlyLoopback bool) *http.Transport {
	d := &net.Dialer{
		Timeout: 30 * time.Second,
		Control: func(_, address string, _ syscall.RawConn) error { return checkAddress(address, onlyLoopback) },
	}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := d.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return conn{c}, nil
		},
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    15 * time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConns:           4,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// conn gives the pieces of a body to the system as they are. Else each request is copied
// through a buffer of its own.
type conn struct{ net.Conn }

// ReadFrom implements io.ReaderFrom, which net/http calls with a body that is limited to
// its length.
func (c conn) ReadFrom(r io.Reader) (int64, error) {
	if limited, ok := r.(*io.LimitedReader); ok {
		if body, ok := limited.R.(io.WriterTo); ok {
			n, err := body.WriteTo(c.Conn)
			limited.N -= n
			return n, err
		}
	}
	return io.Copy(c.Conn, r)
}

// sameOrigin lets redirects stay on scheme, host and port of the first request.
func sameOrigin(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	if next.URL.Scheme != first.Scheme || !strings.EqualFold(next.URL.Host, first.Host) || next.URL.User != nil {
		return errRedirect
	}
	if len(via) > maxRedirects {
		return errLoops
	}
	return nil
}

// checkAddress sees the resolved address just before connect, so a name that
// changes its mind after a check gains nothing.
func checkAddress(address string, onlyLoopback bool) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return errForbidden
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || forbidden(ip) || onlyLoopback && !ip.Unmap().IsLoopback() {
		return errForbidden
	}
	return nil
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// forbiddenHost says why a host given as a literal address is refused, or nothing.
func forbiddenHost(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil && forbidden(ip) {
		return "a link-local, metadata or unspecified address"
	}
	return ""
}

// Metadata services outside of the link-local ranges.
var metadata = []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200")}

// Prefixes of IPv6 that carry an IPv4 address, with the byte where it begins.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("::/96"), 12},
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
}

func forbidden(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if ip.IsLoopback() {
		return false
	}
	if ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast() {
		return true
	}
	for _, m := range metadata {
		if ip == m {
			return true
		}
	}
	for _, c := range carriers {
		if c.prefix.Contains(ip) {
			b := ip.As16()
			return forbidden(netip.AddrFrom4([4]byte(b[c.at : c.at+4])))
		}
	}
	return ip.Is4() && ip.As4()[0] == 0 // all of 0.0.0.0/8 is this machine
}
