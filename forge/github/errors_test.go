package github

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"agent/forge"
	"agent/forge/forgetest"
	"agent/forge/rest"
	"agent/internal/exhaustive"
)

func noSecret(t *testing.T, err error) {
	t.Helper()
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), token) {
			t.Errorf("the token is in the error: %v", e)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\r\x1b") {
		t.Errorf("the error is not one line: %q", err)
	}
}

// TestFaults says of each failure what a write and a read make of it, and whether the write was stored.
func TestFaults(t *testing.T) {
	html := http.Header{"Content-Type": {"text/html"}}
	for _, test := range []struct {
		name        string
		fault       forgetest.Fault
		write, read forge.ErrorKind
		stored      int
		wait        time.Duration
	}{
		{"500 after storing", forgetest.Fault{Kind: forgetest.Store500}, forge.Ambiguous, forge.Transient, 1, 0},
		{"502 page after storing", forgetest.Fault{Kind: forgetest.Store502HTML}, forge.Ambiguous, forge.Transient, 1, 0},
		{"dropped after storing", forgetest.Fault{Kind: forgetest.StoreDrop, Times: -1}, forge.Ambiguous, forge.Transient, 1, 0},
		{"broken JSON after storing", forgetest.Fault{Kind: forgetest.StoreGarbled}, forge.Ambiguous, forge.Transient, 1, 0},
		{"slow after storing", forgetest.Fault{Kind: forgetest.StoreSlow, Delay: time.Minute}, forge.Ambiguous, forge.Transient, 1, 0},
		{"slow", forgetest.Fault{Kind: forgetest.Slow, Delay: time.Minute}, forge.Ambiguous, forge.Transient, 1, 0},
		{"dropped", forgetest.Fault{Kind: forgetest.Drop, Times: -1}, forge.Ambiguous, forge.Transient, 0, 0},
		{"secondary limit", forgetest.Fault{Kind: forgetest.Secondary}, forge.RateLimited, forge.RateLimited, 0, time.Minute},
		{"secondary limit with time", forgetest.Fault{Kind: forgetest.Secondary, RetryAfter: 7 * time.Second}, forge.RateLimited, forge.RateLimited, 0, 7 * time.Second},
		{"secondary limit of a day", forgetest.Fault{Kind: forgetest.Secondary, RetryAfter: 24 * time.Hour}, forge.RateLimited, forge.RateLimited, 0, 15 * time.Minute},
		{"primary limit", forgetest.Fault{Kind: forgetest.Primary, RetryAfter: 90 * time.Second}, forge.RateLimited, forge.RateLimited, 0, 90 * time.Second},
		{"primary limit for an hour", forgetest.Fault{Kind: forgetest.Primary, RetryAfter: time.Hour}, forge.RateLimited, forge.RateLimited, 0, 15 * time.Minute},
		{"429", forgetest.Fault{Kind: forgetest.TooMany, RetryAfter: 3 * time.Second}, forge.RateLimited, forge.RateLimited, 0, 3 * time.Second},
		{"429 without time", forgetest.Fault{Kind: forgetest.TooMany}, forge.RateLimited, forge.RateLimited, 0, time.Minute},
		{"401", forgetest.Fault{Kind: forgetest.Unauthorized}, forge.Auth, forge.Auth, 0, 0},
		{"403", answer403(`{"message":"Resource not accessible by integration"}`), forge.Forbidden, forge.Forbidden, 0, 0},
		{"403 by words", answer403(`{"message":"You have triggered an abuse detection mechanism"}`), forge.RateLimited, forge.RateLimited, 0, time.Minute},
		{"404", forgetest.Fault{Kind: forgetest.Answer, Status: 404, Body: `{"message":"Not Found"}`}, forge.NotFound, forge.NotFound, 0, 0},
		{"410", forgetest.Fault{Kind: forgetest.Answer, Status: 410, Body: `{"message":"This issue was deleted"}`}, forge.NotFound, forge.NotFound, 0, 0},
		{"422", forgetest.Fault{Kind: forgetest.Answer, Status: 422, Body: `{"message":"Validation Failed","errors":["odd"]}`}, forge.Invalid, forge.Invalid, 0, 0},
		{"400 page", forgetest.Fault{Kind: forgetest.Answer, Status: 400, Header: html, Body: "<h1>no</h1>"}, forge.Invalid, forge.Invalid, 0, 0},
		{"503", forgetest.Fault{Kind: forgetest.Answer, Status: 503}, forge.Ambiguous, forge.Transient, 0, 0},
		{"202", forgetest.Fault{Kind: forgetest.Answer, Status: 202, Body: "{}"}, forge.Ambiguous, forge.Transient, 0, 0},
		{"page instead of JSON", forgetest.Fault{Kind: forgetest.Answer, Status: 200, Header: html, Body: "<html>log in</html>"}, forge.Ambiguous, forge.Transient, 0, 0},
		{"empty 200", forgetest.Fault{Kind: forgetest.Answer, Status: 200}, forge.Ambiguous, forge.Transient, 0, 0},
		{"null", forgetest.Fault{Kind: forgetest.Answer, Status: 200, Body: "null"}, forge.Ambiguous, forge.Transient, 0, 0},
		{"304 unasked", forgetest.Fault{Kind: forgetest.Answer, Status: 304}, forge.Invalid, forge.Invalid, 0, 0},
		{"too large", forgetest.Fault{Kind: forgetest.Answer, Status: 200, Body: "[" + strings.Repeat(" ", rest.MaxBody) + "]"}, forge.Ambiguous, forge.Transient, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := stage(t)
			limit := 10 * time.Second
			if test.fault.Delay > 0 {
				limit = 200 * time.Millisecond
			}
			c := connect(t, s, func(cfg *Config) { cfg.Timeout = limit })
			test.fault.Path = ".*/comments"
			check := func(what string, want forge.ErrorKind, err error) {
				t.Helper()
				var e *forge.Error
				if !errors.As(err, &e) || e.Kind != want || e.Message == "" || e.RetryAfter != test.wait {
					t.Fatalf("%s: %v (%+v), want %s", what, err, e, want)
				}
				noSecret(t, err)
			}
			s.Fault(test.fault)
			_, err := c.PostComment(context.Background(), issueKey(s, 1), "text")
			check("write", test.write, err)
			posts := 0
			for _, r := range s.Requests() {
				if r.Method == http.MethodPost {
					posts++
				}
			}
			if posts != 1 {
				t.Errorf("%d posts: nothing is retried", posts)
			}
			if test.fault.Kind == forgetest.Slow {
				test.stored = len(s.Comments("o/r", 1)) // either may be: that is what ambiguous means
			}
			if got := len(s.Comments("o/r", 1)); got != test.stored {
				t.Errorf("%d comments are stored, want %d", got, test.stored)
			}
			s.ClearFaults()
			s.Fault(test.fault)
			_, err = c.Comments(context.Background(), issueKey(s, 1), time.Time{})
			check("read", test.read, err)
		})
	}
}

func answer403(body string) forgetest.Fault {
	return forgetest.Fault{Kind: forgetest.Answer, Status: 403, Body: body}
}

func TestListLag(t *testing.T) {
	s := stage(t)
	c := connect(t, s, nil)
	s.Fault(forgetest.Fault{Method: "POST", Path: ".*/comments", Kind: forgetest.ListLag, Lists: 2})
	if _, err := c.PostComment(context.Background(), issueKey(s, 1), "late"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 0, 1} {
		got, err := c.Comments(context.Background(), issueKey(s, 1), time.Time{})
		if err != nil || len(got) != want {
			t.Errorf("list %d: %d comments, %v", i, len(got), err)
		}
	}
}

// TestLimitDoesNotBlock: after a limit the library must still let calls through.
func TestLimitDoesNotBlock(t *testing.T) {
	for _, k := range []forgetest.FaultKind{forgetest.Primary, forgetest.Secondary, forgetest.TooMany} {
		s := stage(t)
		c := connect(t, s, nil)
		s.Fault(forgetest.Fault{Path: ".*/comments", Kind: k, RetryAfter: time.Hour})
		if _, err := c.PostComment(context.Background(), issueKey(s, 1), "a"); kind(err) != forge.RateLimited {
			t.Errorf("%s: %v", k, err)
		}
		if _, err := c.PostComment(context.Background(), issueKey(s, 1), "b"); err != nil {
			t.Errorf("%s: the next call: %v", k, err)
		}
	}
}

// TestResetByServerClock: the reset time counts from the answer's own date.
func TestResetByServerClock(t *testing.T) {
	s := stage(t)
	s.SetClock(func() time.Time { return time.Now().Add(-7 * time.Hour) })
	s.Fault(forgetest.Fault{Path: ".*/comments", Kind: forgetest.Primary, RetryAfter: 2 * time.Minute})
	_, err := connect(t, s, nil).Comments(context.Background(), issueKey(s, 1), time.Time{})
	var e *forge.Error
	if !errors.As(err, &e) || e.RetryAfter < 119*time.Second || e.RetryAfter > 2*time.Minute {
		t.Errorf("%v: wait %v, want 2m", err, e.RetryAfter)
	}
}

func TestConnectionRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{APIURL: "http://" + address, Token: token, Owner: "o"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	key := forge.TaskKey{Host: address, Project: "o/r", Kind: forge.GitHubIssue, Number: 1}
	_, err = c.PostComment(context.Background(), key, "x")
	if kind(err) != forge.Transient {
		t.Errorf("a write that never arrived: %v", err)
	}
	noSecret(t, err)
}

func TestContextEnds(t *testing.T) {
	s := stage(t)
	ctx, cancel := context.WithCancel(context.Background())
	c := connect(t, s, func(cfg *Config) { cfg.Transport = trip(func(*http.Request) { cancel() }) })
	if _, err := c.PostComment(ctx, issueKey(s, 1), "x"); !errors.Is(err, context.Canceled) || kind(err) != "" {
		t.Errorf("write: %v", err)
	}
	if _, err := c.Task(ctx, issueKey(s, 1)); !errors.Is(err, context.Canceled) || kind(err) != "" {
		t.Errorf("read: %v", err)
	}
}

// TestTokenInAnswer: a server that echoes the token does not get it into an error.
func TestTokenInAnswer(t *testing.T) {
	s := stage(t)
	s.Fault(answer403(`{"message":"bad\ntoken ` + token + `\u001b[31m"}`))
	_, err := connect(t, s, nil).Comments(context.Background(), issueKey(s, 1), time.Time{})
	if kind(err) != forge.Forbidden {
		t.Fatal(err)
	}
	noSecret(t, err)
}

// TestHostileObjects feeds well-formed answers with odd contents.
func TestHostileObjects(t *testing.T) {
	repo := `"repository_url":"http://h/api/v3/repos/o/r"`
	for _, test := range []struct {
		name, path, body string
		call             func(*Client, forge.TaskKey) error
		want             forge.ErrorKind // "" is success
	}{
		{"null user and body", ".*/issues/1", `{"number":1,"state":"open","user":null,"body":null,` + repo + `}`, task, ""},
		{"extra fields", ".*/issues/1", `{"number":1,"state":"open","x":{"y":[1]},"sub":null,` + repo + `}`, task, ""},
		{"id as text", ".*/issues/1", `{"number":"1","id":"12",` + repo + `}`, task, forge.Transient},
		{"list instead of object", ".*/issues/1", `[]`, task, forge.Transient},
		{"number", ".*/issues/1", `7`, task, forge.Transient},
		{"moved", ".*/issues/1", `{"number":4,"repository_url":"http://h/repos/o/other"}`, task, forge.Moved},
		{"pull request", ".*/issues/1", `{"number":1,"pull_request":{"url":"x"},` + repo + `}`, task, forge.NotFound},
		{"repository without its name", "/repos/o/r", `{"private":false}`, task, forge.Transient},
		{"comments: null element", ".*/comments", `[null]`, comments, forge.Transient},
		{"comments: id as text", ".*/comments", `[{"id":"1","body":"x"}]`, comments, forge.Transient},
		{"comments: no id", ".*/comments", `[{"body":"x"}]`, comments, forge.Transient},
		{"comments: only an id", ".*/comments", `[{"id":1}]`, comments, ""},
		{"comments: same id twice", ".*/comments", `[{"id":1},{"id":1}]`, comments, ""},
		{"comments: bad time", ".*/comments", `[{"id":1,"created_at":"yesterday"}]`, comments, forge.Transient},
		{"posted: no id", ".*/comments", `{"body":"x"}`, post, forge.Ambiguous},
		{"posted: id as text", ".*/comments", `{"id":"1"}`, post, forge.Ambiguous},
		{"account without id", "/user", `{"login":"x"}`, me, forge.Transient},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := stage(t)
			s.Fault(forgetest.Fault{Path: test.path, Kind: forgetest.Answer, Status: 200, Body: test.body})
			err := test.call(connect(t, s, nil), issueKey(s, 1))
			if (test.want == "") != (err == nil) || kind(err) != test.want {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// TestBareForge: proxies and tokens with few rights show less than GitHub does.
// What is not shown counts as public, and the task can be worked on.
func TestBareForge(t *testing.T) {
	for name, fault := range map[string]forgetest.Fault{
		"repository without private": {Path: "/repos/o/r", Kind: forgetest.Answer, Status: 200, Body: `{"full_name":"o/r"}`},
		"repository out of sight":    {Path: "/repos/o/r", Kind: forgetest.Answer, Status: 404, Body: `{"message":"Not Found"}`},
		"issue without repository":   {Path: ".*/issues/1", Kind: forgetest.Answer, Status: 200, Body: `{"number":1,"state":"open","user":{"login":"ann"}}`},
	} {
		s := stage(t)
		s.Fault(fault)
		got, err := connect(t, s, nil).Task(context.Background(), issueKey(s, 1))
		if err != nil || got.Private || got.Author.Login != "ann" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func task(c *Client, k forge.TaskKey) error {
	got, err := c.Task(context.Background(), k)
	if err == nil && got.Author.Login != "ghost" {
		return errors.New("author " + got.Author.Login)
	}
	return err
}

func comments(c *Client, k forge.TaskKey) error {
	got, err := c.Comments(context.Background(), k, time.Time{})
	if err == nil && len(got) != 1 {
		return errors.New("not one comment")
	}
	return err
}

func post(c *Client, k forge.TaskKey) error {
	_, err := c.PostComment(context.Background(), k, "x")
	return err
}

func me(c *Client, _ forge.TaskKey) error {
	_, err := c.Me(context.Background())
	return err
}

// A list that never ends is refused before it fills the memory.
func TestEndlessPages(t *testing.T) {
	exhaustive.Only(t)
	s := stage(t)
	page := "[" + strings.Repeat(`{"id":1,"body":"`+strings.Repeat("x", 100<<10)+`"},`, pageSize-1) + `{"id":2,"body":""}]`
	s.Fault(forgetest.Fault{Path: ".*/comments", Times: -1, Kind: forgetest.Answer, Status: 200, Body: page})
	_, err := connect(t, s, nil).Comments(t.Context(), issueKey(s, 1), time.Time{})
	if kind(err) != forge.Invalid || len(s.Requests()) > 2*rest.MaxList/len(page) {
		t.Errorf("after %d requests: %v", len(s.Requests()), err)
	}
}
