package rest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent/internal/lease"
)

func TestAddresses(t *testing.T) {
	for address, refused := range map[string]bool{
		"127.0.0.1:80": false, "[::1]:80": false, "10.0.0.1:443": false, "140.82.112.3:443": false, "[2001:db8::1]:443": false,
		"169.254.169.254:80": true, "[::ffff:169.254.169.254]:80": true, "0.0.0.0:80": true, "[::]:80": true,
		"[fe80::1%eth0]:80": true, "[fd00:ec2::254]:80": true, "224.0.0.1:80": true, "host:80": true,
	} {
		if err := checkAddress("tcp", address, nil); (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestTransport(t *testing.T) {
	own := NewTransport()
	if own.Proxy == nil {
		t.Error("the proxy of the environment is not used")
	}
	if own.TLSClientConfig != nil && own.TLSClientConfig.InsecureSkipVerify {
		t.Error("certificates are not checked")
	}
}

// A write whose lease ends while it is on its way to the connection is not acted on.
func TestWriteAfterTheLease(t *testing.T) {
	for _, held := range []bool{true, false} {
		var done atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err == nil {
				done.Add(1)
			}
		}))
		base, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		left := time.Minute
		transport := NewTransport()
		dial := transport.DialContext
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if !held {
				left = 0 // the process sleeps here
			}
			return dial(ctx, network, address)
		}
		guard := &Guard{Next: transport, Base: base, Sign: func(http.Header) {}, Timeout: time.Minute}
		ctx := lease.With(t.Context(), func() time.Duration { return left })
		r, err := http.NewRequestWithContext(ctx, http.MethodPatch, server.URL, strings.NewReader("the body"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = guard.RoundTrip(r)
		transport.CloseIdleConnections()
		server.Close()
		if (err == nil) != held || (done.Load() == 1) != held || !held && !errors.Is(err, context.Canceled) {
			t.Errorf("held: %v, done: %d times (%v)", held, done.Load(), err)
		}
	}
}

// A connection that is given up is reset: what lies in the system's hands is not sent later.
func TestGivenUpConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			defer conn.Close()
			_, _ = conn.Read(make([]byte, 1<<10))
			cancel()
			_, err = io.Copy(io.Discard, conn)
		}
		ended <- err
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.Addr().String(), strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	if response, err := NewTransport().RoundTrip(r); err == nil {
		response.Body.Close()
		t.Fatal("an answer")
	}
	if err := <-ended; err == nil {
		t.Error("the connection ended as if all had been sent")
	}
}

// The time of a reset counts from the answer's own date, never from our clock.
func TestWait(t *testing.T) {
	for _, ahead := range []time.Duration{-24 * time.Hour, -6 * time.Minute, 0, 6 * time.Minute, 24 * time.Hour} {
		theirs := time.Now().Add(ahead).Truncate(time.Second)
		for _, tt := range []struct {
			after, reset string
			dated        bool
			want         time.Duration
		}{
			{"", strconv.FormatInt(theirs.Unix()+90, 10), true, 90 * time.Second},
			{"", strconv.FormatInt(theirs.Unix()+90, 10), false, defaultWait},
			{"", strconv.FormatInt(theirs.Unix()-5, 10), true, time.Second},
			{"7", strconv.FormatInt(theirs.Unix()+90, 10), true, 7 * time.Second},
			{"", "", true, defaultWait},
		} {
			h := http.Header{}
			if tt.after != "" {
				h.Set("Retry-After", tt.after)
			}
			if tt.dated {
				h.Set("Date", theirs.UTC().Format(http.TimeFormat))
			}
			if got := Wait(h, tt.reset); got != tt.want {
				t.Errorf("clock %v, %+v: %v", ahead, tt, got)
			}
		}
	}
}
