package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"agent/internal/lazyregexp"
)

// metadata are the addresses where clouds hand out credentials that are not link-local.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("100.100.100.200"),
	netip.MustParseAddr("168.63.129.16"),
}

// oddNumber is a last label that resolvers may read as part of an IPv4 address.
var oddNumber = lazyregexp.New(`^(0[xX][0-9a-fA-F]*|[0-9]+)$`)

// Loopback tells whether a URL points to this machine itself.
func Loopback(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// BadURL says what is wrong with the address of a server, "" if nothing. It is
// the first gate only: whoever dials must look at the addresses once more.
func BadURL(raw string, allowHTTP bool) string {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return "must not be empty"
	case !strings.Contains(raw, "://"):
		return "does not begin with https:// (or http://)"
	case err != nil:
		return "is not a URL"
	case u.Scheme != "https" && u.Scheme != "http":
		return "must begin with https://"
	case u.User != nil:
		return "must not hold a user name or password"
	case u.Hostname() == "":
		return "has no host"
	case u.RawQuery != "" || u.Fragment != "":
		return "must not hold ? or #"
	case forbiddenHost(u.Hostname()):
		return "points to a link-local, metadata or unspecified address"
	case u.Scheme == "http" && !allowHTTP && !Loopback(raw):
		return "http is for this machine only: use https, or set allow_http"
	}
	return ""
}

func forbiddenHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	ip, err := netip.ParseAddr(host)
	if err != nil {
		last := host[strings.LastIndexByte(host, '.')+1:]
		return host == "metadata" || host == "metadata.google.internal" || last == "" || oddNumber.MatchString(last)
	}
	ip = embedded(ip.WithZone("").Unmap())
	return ip.IsUnspecified() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || slices.Contains(metadata, ip) ||
		ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}) || ip.Is4() && ip.As4()[0] == 0
}

// embedded is the IPv4 address inside an IPv6 address of a translator (NAT64, 6to4).
func embedded(ip netip.Addr) netip.Addr {
	b := ip.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(ip):
		return netip.AddrFrom4([4]byte(b[12:16]))
	case netip.MustParsePrefix("2002::/16").Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip
}
