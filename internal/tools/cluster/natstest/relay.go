package natstest

import (
	"strings"
	"testing"

	"agent/internal/relay"
)

// Relay stands between clients and a server that is alone: of others a client would learn.
// url is its address for clients.
func (s *Servers) Relay(t testing.TB) (r *relay.Relay, url string) {
	t.Helper()
	const scheme = "nats://"
	r, err := relay.New(strings.TrimPrefix(s.URLs()[0], scheme))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, scheme + r.Addr()
}
