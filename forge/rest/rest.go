// Package rest is what the adapters of forges with a REST API share: where
// requests may go, the distance between writes, and what a failure means.
//
// Invariants: the token goes to the configured host only, and no request at
// all goes elsewhere; redirects are followed for reads, on the same host;
// answers are bounded in time and size; nothing is retried; no error holds the
// token or a URL.
//
// Errors of the requests' own are [*forge.Error], see [Unanswered].
package rest

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// CheckURL reads an API's base, without a slash at the end. Errors begin with
// forge and show example; they do not repeat s, which may hold a password.
func CheckURL(forge, example, s string, allowHTTP bool) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Host == "", u.Opaque != "":
		return nil, errors.New(forge + ": the API URL must look like " + example)
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, errors.New(forge + ": the API URL must have no user, query or fragment")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New(forge + ": the API URL must begin with https://")
	case u.Scheme == "http" && !allowHTTP && !loopback(u.Hostname()):
		return nil, fmt.Errorf("%s: http to %s would send the token unencrypted", forge, u.Host)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || (err == nil && address.Unmap().IsLoopback())
}
