package github

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent/forge"
	"agent/forge/forgetest"
	"agent/forge/rest"
)

// TestRedirects: reads follow on the same host, nothing leaves it, writes never follow (T16).
func TestRedirects(t *testing.T) {
	var reached atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer thief.Close()
	for _, status := range []int{301, 302, 307, 308} {
		s := stage(t)
		s.AddComment("o/r", 1, "ann", "x")
		c := connect(t, s, nil)
		redirect := func(to string) {
			s.Fault(forgetest.Fault{Path: "/repos/o/r/issues/1/comments", Kind: forgetest.Answer, Status: status, Header: http.Header{"Location": {to}}})
		}
		read := func() error {
			_, err := c.Comments(context.Background(), issueKey(s, 1), time.Time{})
			return err
		}
		redirect(thief.URL + "/api/v3/repos/o/r/issues/1/comments")
		if err := read(); kind(err) != forge.Invalid {
			t.Errorf("%d, read, other host: %v", status, err)
		}
		redirect("https://" + s.Host() + "/api/v3/repos/o/r/issues/1/comments")
		if err := read(); kind(err) != forge.Invalid {
			t.Errorf("%d, read, other scheme: %v", status, err)
		}
		redirect(s.URL() + "/repos/o/r/issues/1/comments")
		if err := read(); err != nil {
			t.Errorf("%d, read, same host: %v", status, err)
		}
		redirect(s.URL() + "/repos/o/r/issues/1/comments")
		if err := post(c, issueKey(s, 1)); kind(err) != forge.Moved {
			t.Errorf("%d, write: %v", status, err)
		}
		if n := len(s.Comments("o/r", 1)); n != 1 {
			t.Errorf("%d, write: %d comments", status, n)
		}
	}
	if reached.Load() != 0 {
		t.Errorf("%d requests reached the other host", reached.Load())
	}
}

// TestMoved: a repository that has another name is not taken for an issue that is in
// another repository now. Nothing is written at the old address.
func TestMoved(t *testing.T) {
	s := stage(t)
	c := connect(t, s, nil)
	old := issueKey(s, 1)
	s.RenameRepository("o/r", "o/new")
	want := old
	want.Project = "o/new"
	var moved *forge.Error
	if _, err := c.Task(context.Background(), old); !errors.As(err, &moved) || moved.Kind != forge.Moved || moved.To != want || moved.Transferred {
		t.Errorf("renamed: %+v", err)
	}
	if err := post(c, old); kind(err) != forge.Moved {
		t.Errorf("write: %v", err)
	}
	if err := post(c, want); err != nil || len(s.Comments("o/new", 1)) != 1 {
		t.Errorf("at the new address: %v", err)
	}
	s.AddRepository("o/other", forgetest.Repository{})
	s.AddIssue("o/other", "t", "b", "alice")
	n := s.TransferIssue("o/new", 1, "o/other")
	if err := post(c, want); kind(err) != forge.Moved {
		t.Errorf("write: %v", err)
	}
	to := forge.TaskKey{Host: old.Host, Project: "o/other", Kind: old.Kind, Number: n}
	if _, err := c.Task(context.Background(), want); !errors.As(err, &moved) || moved.To != to || !moved.Transferred {
		t.Errorf("transferred: %+v", err)
	}
}

func TestRedirectLoop(t *testing.T) {
	s := stage(t)
	s.Fault(forgetest.Fault{Path: ".*/comments", Kind: forgetest.Answer, Times: -1, Status: 302,
		Header: http.Header{"Location": {s.URL() + "/repos/o/r/issues/1/comments"}}})
	if err := comments(connect(t, s, nil), issueKey(s, 1)); kind(err) != forge.Invalid {
		t.Errorf("error %v", err)
	}
	if n := len(s.Requests()); n > 2*rest.MaxRedirects {
		t.Errorf("%d requests", n)
	}
}

// TestMetadataAddress dials through the whole client: no packet leaves for a link-local address.
func TestMetadataAddress(t *testing.T) {
	direct := rest.NewTransport()
	direct.Proxy = nil // a proxy would be dialled instead
	c, err := New(Config{APIURL: "http://169.254.169.254", Token: token, Owner: "o", AllowHTTP: true, Transport: direct})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Me(context.Background()); kind(err) != forge.Invalid {
		t.Errorf("error %v", err)
	}
}

func TestBadCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = discard
	server.StartTLS()
	defer server.Close()
	c, err := New(Config{APIURL: server.URL, Token: token, Owner: "o"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	key := forge.TaskKey{Host: server.Listener.Addr().String(), Project: "o/r", Kind: forge.GitHubIssue, Number: 1}
	if err := post(c, key); kind(err) != forge.Certificate || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("error %v: nothing was sent, and nothing will be", err)
	}
}

// TestTruncated: a body that is shorter than announced.
func TestTruncated(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"id":1,"body":"x"`))
	}), ErrorLog: discard}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	c, err := New(Config{APIURL: "http://" + listener.Addr().String(), Token: token, Owner: "o"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	key := forge.TaskKey{Host: listener.Addr().String(), Project: "o/r", Kind: forge.GitHubIssue, Number: 1}
	if err := post(c, key); kind(err) != forge.Ambiguous {
		t.Errorf("write: %v", err)
	}
	if err := comments(c, key); kind(err) != forge.Transient {
		t.Errorf("read: %v", err)
	}
}

func TestWriteInterval(t *testing.T) {
	const interval = 30 * time.Millisecond
	s := stage(t)
	var mu sync.Mutex
	var sent []time.Time
	c := connect(t, s, func(cfg *Config) {
		cfg.WriteInterval = interval
		cfg.Transport = trip(func(*http.Request) {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, time.Now())
		})
	})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := post(c, issueKey(s, 1)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if len(sent) != 4 {
		t.Fatalf("%d writes", len(sent))
	}
	// A lower bound cannot fail by slowness. It spans all, since one start may be noted late.
	if d := sent[3].Sub(sent[0]); d < 2*interval {
		t.Errorf("four writes within %v", d)
	}
}

func TestWaitingForTurn(t *testing.T) {
	s := stage(t)
	c := connect(t, s, func(cfg *Config) { cfg.WriteInterval = time.Hour })
	if err := post(c, issueKey(s, 1)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := c.PostComment(ctx, issueKey(s, 1), "x"); err != context.DeadlineExceeded {
		t.Errorf("error %v", err)
	}
	if n := len(s.Comments("o/r", 1)); n != 1 {
		t.Errorf("%d comments", n)
	}
}
