package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent/internal/freeport"
	"agent/mcp"

	"github.com/google/go-cmp/cmp"
	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// remote is a real server over HTTP whose calls can be intercepted.
type remote struct {
	*httptest.Server
	real       http.Handler
	calls      atomic.Int32                        // tools/call requests that came in
	sessions   atomic.Int32                        // initialize requests that came in
	intercept  func(http.ResponseWriter, int) bool // handles the n-th call itself
	badHeaders atomic.Int32
}

func startRemote(t *testing.T, intercept func(w http.ResponseWriter, call int) bool) *remote {
	t.Helper()
	return startRemoteAt(t, "127.0.0.1:0", intercept)
}

func startRemoteAt(t *testing.T, address string, intercept func(w http.ResponseWriter, call int) bool) *remote {
	t.Helper()
	s := server.NewMCPServer("remote", "1")
	s.AddTool(protocol.NewToolWithRawSchema("echo", "", json.RawMessage(rawSchema)), func(_ context.Context, r protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		return protocol.NewToolResultText(string(r.Params.RawArguments)), nil
	})
	r := &remote{real: server.NewStreamableHTTPServer(s), intercept: intercept}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	r.Server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: r}}
	r.Start()
	t.Cleanup(r.Close)
	return r
}

func (r *remote) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	request.Body = io.NopCloser(bytes.NewReader(body))
	if request.Header.Get("Authorization") != "Bearer hunter2hunter2" {
		r.badHeaders.Add(1)
	}
	switch {
	case bytes.Contains(body, []byte(`"initialize"`)):
		r.sessions.Add(1)
	case bytes.Contains(body, []byte(`"tools/call"`)):
		if r.intercept != nil && r.intercept(w, int(r.calls.Add(1))) {
			return
		}
	}
	r.real.ServeHTTP(w, request)
}

func (r *remote) config() mcp.ServerConfig {
	return mcp.ServerConfig{
		Name: "remote", URL: r.URL + "/mcp?key=hunter2hunter2", Timeout: 5 * time.Second,
		Headers: map[string]string{"Authorization": "Bearer hunter2hunter2"},
	}
}

func TestHTTPServer(t *testing.T) {
	r := startRemote(t, nil)
	session, _ := start(t, r.config())
	list := session.List(t.Context())
	want := []mcp.Server{{Name: "remote", Tools: []mcp.Tool{{Name: "echo", Schema: list[0].Tools[0].Schema, Destructive: true, OpenWorld: true}}}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if got := string(list[0].Tools[0].Schema); !strings.Contains(got, `"oneOf"`) || !strings.Contains(got, `"x-vendor"`) {
		t.Errorf("schema %s", got)
	}
	got, err := session.Call(t.Context(), "remote", "echo", json.RawMessage(`{"a":1}`))
	if err != nil || got.Text != `{"a":1}` {
		t.Errorf("got %v, %v", got, err)
	}
	if n := r.badHeaders.Load(); n != 0 {
		t.Errorf("%d requests without the configured header", n)
	}
}

func TestHTTPSessionIsOpenedAgainOnce(t *testing.T) {
	t.Run("404", func(t *testing.T) { testLostSession(t, func(w http.ResponseWriter) { http.NotFound(w, nil) }) })
	t.Run("400", func(t *testing.T) { // what servers made with the TypeScript SDK say after a restart
		testLostSession(t, func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
		})
	})
}

func testLostSession(t *testing.T, lose func(http.ResponseWriter)) {
	r := startRemote(t, func(w http.ResponseWriter, call int) bool {
		lost := call == 1 || call == 3 || call == 4
		if lost {
			lose(w)
		}
		return lost
	})
	session, _ := start(t, r.config())
	if got, err := session.Call(t.Context(), "remote", "echo", nil); err != nil || got.Text != "{}" {
		t.Errorf("got %v, %v", got, err)
	}
	_, err := session.Call(t.Context(), "remote", "echo", nil)
	if got, ok := errors.AsType[*mcp.Error](err); !ok || got.Kind != mcp.NotStarted || got.Message != "the server has ended the session" {
		t.Errorf("got %v", err)
	}
	if calls, sessions := r.calls.Load(), r.sessions.Load(); calls != 4 || sessions != 3 {
		t.Errorf("%d calls in %d sessions", calls, sessions)
	}
}

func TestHTTPErrors(t *testing.T) {
	var stolen atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen.Add(int32(len(r.Header.Get("Authorization"))))
	}))
	defer thief.Close()
	for name, c := range map[string]struct {
		intercept func(w http.ResponseWriter, call int) bool
		kind      mcp.ErrorKind
		message   string
	}{
		"unauthorized": {func(w http.ResponseWriter, _ int) bool { w.WriteHeader(401); return true }, mcp.Refused, "authorization required"},
		"forbidden": {func(w http.ResponseWriter, _ int) bool {
			http.Error(w, "no scope for\nhunter2hunter2", http.StatusForbidden)
			return true
		}, mcp.Refused, "the server refuses access (403 Forbidden); check the headers and the rights of its token: no scope for [redacted]"},
		"redirect": {func(w http.ResponseWriter, _ int) bool {
			w.Header().Set("Location", thief.URL)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		}, mcp.Died, "it redirects to another host"},
		"html": {func(w http.ResponseWriter, _ int) bool {
			_, _ = io.WriteString(w, "<html>")
			return true
		}, mcp.Died, "unexpected content type"},
		"bad gateway": {func(w http.ResponseWriter, _ int) bool {
			http.Error(w, "no hunter2hunter2", http.StatusBadGateway)
			return true
		}, mcp.Died, "status 502: no [redacted]"},
		"endless": {func(w http.ResponseWriter, _ int) bool {
			w.Header().Set("Content-Type", "application/json")
			for range 20 {
				_, _ = w.Write(bytes.Repeat([]byte(" "), 1<<20))
			}
			return true
		}, mcp.Died, "longer than 16 MiB"},
		"hangs up": {func(w http.ResponseWriter, _ int) bool { panic(http.ErrAbortHandler) }, mcp.Died, "the connection broke in the call: EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			r := startRemote(t, c.intercept)
			session, _ := start(t, r.config())
			_, err := session.Call(t.Context(), "remote", "echo", nil)
			got, ok := errors.AsType[*mcp.Error](err)
			if !ok || got.Kind != c.kind || !strings.Contains(got.Message, c.message) {
				t.Errorf("got %v, want %s with %q", err, c.kind, c.message)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a secret in %q", err)
			}
		})
	}
	if stolen.Load() != 0 {
		t.Error("another host has got the header")
	}
}

func TestHTTPServerThatIsDown(t *testing.T) {
	r := startRemote(t, nil)
	config := r.config()
	session, _ := start(t, config)
	session.List(t.Context())
	r.Close()
	_, _ = session.Call(t.Context(), "remote", "echo", nil) // may find a connection that is just being closed
	_, err := session.Call(t.Context(), "remote", "echo", nil)
	if got, ok := errors.AsType[*mcp.Error](err); !ok || got.Kind != mcp.NotStarted || !strings.Contains(got.Message, "connection refused") {
		t.Errorf("got %v", err)
	}
	later, _ := start(t, config)
	if got := later.List(t.Context())[0].Err; !strings.Contains(got, "connection refused") || strings.Contains(got, "hunter2") {
		t.Errorf("got %q", got)
	}
}

func TestHTTPTimeout(t *testing.T) {
	release := make(chan struct{})
	r := startRemote(t, func(http.ResponseWriter, int) bool { <-release; return true })
	config := r.config()
	config.Timeout = 200 * time.Millisecond
	session, _ := start(t, config)
	_, err := session.Call(t.Context(), "remote", "echo", nil)
	close(release)
	if got, ok := errors.AsType[*mcp.Error](err); !ok || got.Kind != mcp.TimedOut {
		t.Errorf("got %v", err)
	}
}

func TestHTTPServerThatWasRestarted(t *testing.T) {
	ports, err := freeport.Find(1)
	if err != nil {
		t.Fatal(err)
	}
	r := startRemoteAt(t, freeport.Address(ports[0]), nil)
	session, _ := start(t, r.config())
	session.List(t.Context())
	r.Close()
	again := startRemoteAt(t, freeport.Address(ports[0]), nil)
	for range 2 { // the first may find a connection of before
		if got, err := session.Call(t.Context(), "remote", "echo", nil); err == nil && got.Text == "{}" {
			return
		}
	}
	t.Errorf("%d sessions at the new server", again.sessions.Load())
}

func TestSeveralServersAtOnce(t *testing.T) {
	one, two := startRemote(t, nil), startRemote(t, nil)
	second := two.config()
	second.Name = "second"
	dead := one.config()
	dead.Name, dead.URL = "dead", "http://127.0.0.1:1/"
	session, _ := start(t, one.config(), second, dead, fake("stdio", "normal"), boxed("boxed", "normal"))
	var failed []string
	for _, s := range session.List(t.Context()) {
		if s.Err != "" {
			failed = append(failed, s.Name)
		}
	}
	if diff := cmp.Diff([]string{"dead"}, failed); diff != "" {
		t.Error(diff)
	}
	var all sync.WaitGroup
	for _, server := range []string{"remote", "second", "stdio", "boxed"} {
		for i := range 10 {
			all.Go(func() {
				args := json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))
				if got, err := session.Call(t.Context(), server, "echo", args); err != nil || got.Text != string(args) {
					t.Errorf("%s: %v, %v", server, got, err)
				}
			})
		}
	}
	all.Wait()
}
