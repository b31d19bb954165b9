package suite

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"agent/forge"
	"agent/forge/forgetest"
)

const commentPath = ".*/(comments|notes)"

// failure says what a write and a read make of a fault, and whether the write was stored.
type failure struct {
	name        string
	fault       forgetest.Fault
	write, read forge.ErrorKind
	stored      int
	wait        time.Duration
}

func answer(status int, body string) forgetest.Fault {
	return forgetest.Fault{Kind: forgetest.Answer, Status: status, Body: body}
}

func page(status int) forgetest.Fault {
	f := answer(status, "<html><h1>log in</h1></html>")
	f.Header = http.Header{"Content-Type": {"text/html"}}
	return f
}

var failures = []failure{
	{"500 after storing", forgetest.Fault{Kind: forgetest.Store500}, forge.Ambiguous, forge.Transient, 1, 0},
	{"502 page after storing", forgetest.Fault{Kind: forgetest.Store502HTML}, forge.Ambiguous, forge.Transient, 1, 0},
	{"dropped after storing", forgetest.Fault{Kind: forgetest.StoreDrop, Times: -1}, forge.Ambiguous, forge.Transient, 1, 0},
	{"broken JSON after storing", forgetest.Fault{Kind: forgetest.StoreGarbled}, forge.Ambiguous, forge.Transient, 1, 0},
	{"slow after storing", forgetest.Fault{Kind: forgetest.StoreSlow, Delay: time.Minute}, forge.Ambiguous, forge.Transient, 1, 0},
	{"dropped", forgetest.Fault{Kind: forgetest.Drop, Times: -1}, forge.Ambiguous, forge.Transient, 0, 0},
	{"secondary limit", forgetest.Fault{Kind: forgetest.Secondary}, forge.RateLimited, forge.RateLimited, 0, time.Minute},
	{"secondary limit with time", forgetest.Fault{Kind: forgetest.Secondary, RetryAfter: 7 * time.Second}, forge.RateLimited, forge.RateLimited, 0, 7 * time.Second},
	{"limit of a day", forgetest.Fault{Kind: forgetest.TooMany, RetryAfter: 24 * time.Hour}, forge.RateLimited, forge.RateLimited, 0, 15 * time.Minute},
	{"primary limit", forgetest.Fault{Kind: forgetest.Primary, RetryAfter: 90 * time.Second}, forge.RateLimited, forge.RateLimited, 0, 90 * time.Second},
	{"429", forgetest.Fault{Kind: forgetest.TooMany, RetryAfter: 3 * time.Second}, forge.RateLimited, forge.RateLimited, 0, 3 * time.Second},
	{"401", forgetest.Fault{Kind: forgetest.Unauthorized}, forge.Auth, forge.Auth, 0, 0},
	{"403", answer(403, `{"message":"403 Forbidden"}`), forge.Forbidden, forge.Forbidden, 0, 0},
	{"404", answer(404, `{"message":"404 Not Found"}`), forge.NotFound, forge.NotFound, 0, 0},
	{"410", answer(410, `{"message":"gone"}`), forge.NotFound, forge.NotFound, 0, 0},
	{"422", answer(422, `{"message":["odd"]}`), forge.Invalid, forge.Invalid, 0, 0},
	{"400 page", page(400), forge.Invalid, forge.Invalid, 0, 0},
	{"503", answer(503, ""), forge.Ambiguous, forge.Transient, 0, 0},
	{"page instead of JSON", page(200), forge.Ambiguous, forge.Transient, 0, 0},
	{"empty 200", answer(200, ""), forge.Ambiguous, forge.Transient, 0, 0},
	{"null", answer(200, "null"), forge.Ambiguous, forge.Transient, 0, 0},
	{"wrong shape", answer(200, `"text"`), forge.Ambiguous, forge.Transient, 0, 0},
	{"empty object", answer(201, `{}`), forge.Ambiguous, forge.Transient, 0, 0},
	{"304 unasked", answer(304, ""), forge.Invalid, forge.Invalid, 0, 0},
	{"the token and a line break in the message", answer(403, `{"message":"a\n\u001b[31m`+Token+`"}`), forge.Forbidden, forge.Forbidden, 0, 0},
}

func faults(t *testing.T, w *world) {
	stored := 0
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			client := w.Client
			if f.fault.Delay > 0 {
				client = w.dial(t, 150*time.Millisecond)
			}
			f.fault.Path = commentPath
			w.Server.Fault(f.fault)
			before := w.writes()
			_, err := client.PostComment(background(), w.Key, f.name)
			f.check(t, "write", err, f.write)
			if n := w.writes() - before; n != 1 {
				t.Errorf("%d writes: nothing is retried", n)
			}
			stored += f.stored
			if n := len(w.Stored()); n != stored {
				t.Errorf("%d comments are stored, want %d", n, stored)
				stored = n
			}
			w.Server.ClearFaults()
			w.Server.Fault(f.fault)
			_, err = client.Comments(background(), w.Key, time.Time{})
			f.check(t, "read", err, f.read)
			w.Server.ClearFaults()
		})
	}
}

func (f failure) check(t *testing.T, what string, err error, want forge.ErrorKind) {
	t.Helper()
	wantKind(t, what, err, want)
	var e *forge.Error
	if errors.As(err, &e) && e.RetryAfter != f.wait {
		t.Errorf("%s: wait %v, want %v", what, e.RetryAfter, f.wait)
	}
}

// clean checks that no part of an error holds the token or more than one line.
func clean(t *testing.T, err error) {
	t.Helper()
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), Token) {
			t.Errorf("the token is in the error: %v", e)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\r\x1b") {
		t.Errorf("the error is not one line: %q", err)
	}
}

// cancel: the context's own error comes back as it is, and nothing more is sent.
func cancel(t *testing.T, w *world) {
	ctx, stop := context.WithCancel(background())
	w.Server.Fault(forgetest.Fault{Path: commentPath, Kind: forgetest.Slow, Delay: time.Minute, Times: -1})
	w.on(func(*http.Request) { stop() })
	if _, err := w.PostComment(ctx, w.Key, "x"); err != context.Canceled {
		t.Errorf("write: %v", err)
	}
	if _, err := w.Comments(ctx, w.Key, time.Time{}); err != context.Canceled {
		t.Errorf("read: %v", err)
	}
	if n := len(w.Server.Requests()); n > 1 {
		t.Errorf("%d requests", n)
	}
}
