package github

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agent/forge"
	"agent/forge/forgetest"
	"agent/forge/rest"
)

var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 1024) // quick
	if err != nil {
		panic(err)
	}
	return key
})

func keyFile(t *testing.T, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// appStage is a stage with an App, and a client that is this App.
func appStage(t *testing.T) (*forgetest.Server, *Client) {
	t.Helper()
	s := stage(t)
	s.AddApp("helper", 7, 70, &appKey().PublicKey)
	path := keyFile(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(appKey()))
	c := connect(t, s, func(cfg *Config) {
		cfg.Token, cfg.BotName, cfg.App = "", "", &App{ID: 7, InstallationID: 70, KeyFile: path}
	})
	return s, c
}

func renewals(s *forgetest.Server) (n int) {
	for _, r := range s.Requests() {
		if strings.HasSuffix(r.Path, "/access_tokens") {
			n++
		}
	}
	return n
}

func TestApp(t *testing.T) {
	s, c := appStage(t)
	me, err := c.Me(context.Background())
	if err != nil || me.Login != "helper[bot]" || !me.Bot || me.ID == "" {
		t.Errorf("me: %+v, %v", me, err)
	}
	posted, err := c.PostComment(context.Background(), issueKey(s, 1), "x")
	if err != nil || posted.Author != me {
		t.Errorf("posted %+v, %v", posted, err)
	}
	token, err := c.Token(context.Background())
	if err != nil || !strings.HasPrefix(token, "ghs_") {
		t.Errorf("token %q, %v", token, err)
	}
	if n := renewals(s); n != 1 {
		t.Errorf("%d tokens were asked for", n)
	}
}

// TestAppBeside: many callers at once cause one token.
func TestAppBeside(t *testing.T) {
	s, c := appStage(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := c.Task(context.Background(), issueKey(s, 1)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := renewals(s); n != 1 {
		t.Errorf("%d tokens were asked for", n)
	}
}

// TestAppRenews: five minutes before the end, also if the clocks differ by hours.
func TestAppRenews(t *testing.T) {
	for _, skew := range []time.Duration{0, -3 * time.Hour, 3 * time.Hour} {
		s, c := appStage(t)
		server := time.Now().UTC()
		s.SetClock(func() time.Time { return server })
		i := c.tokens.(*installation)
		i.now = func() time.Time { return server.Add(skew) }
		i.app.now = func() time.Time { return server } // the forge would refuse others
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{0, 1}, {54 * time.Minute, 1}, {2 * time.Minute, 2}, {54 * time.Minute, 2}, {2 * time.Hour, 3}} {
			server = server.Add(step.after)
			if _, err := c.Task(context.Background(), issueKey(s, 1)); err != nil {
				t.Fatalf("skew %v: %v", skew, err)
			}
			if n := renewals(s); n != step.want {
				t.Errorf("skew %v, at %v: %d tokens, want %d", skew, server, n, step.want)
			}
		}
	}
}

// TestAppTokenRefused: a token that is refused is renewed, and the request sent once
// more; a new one, which some machines of the forge may not know yet, after a moment.
func TestAppTokenRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		age     time.Duration
		revoke  bool // else the forge takes it again
		waits   int
		renewed int
		want    forge.ErrorKind
	}{
		"old and revoked": {10 * time.Minute, true, 0, 2, ""},
		"new, known late": {0, false, 1, 1, ""},
		"new and revoked": {0, true, 1, 1, forge.Auth},
	} {
		s, c := appStage(t)
		i, waits := c.tokens.(*installation), 0
		i.sleep = func(context.Context, time.Duration) error { waits++; return nil }
		token, err := c.Token(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		i.now = func() time.Time { return time.Now().Add(tt.age) }
		if tt.revoke {
			s.RemoveToken(token)
		} else {
			s.Fault(forgetest.Fault{Path: "/repos/.*", Kind: forgetest.Unauthorized})
		}
		_, err = c.PostComment(context.Background(), issueKey(s, 1), "x")
		if kind(err) != tt.want || waits != tt.waits || renewals(s) != tt.renewed {
			t.Errorf("%s: %v, %d waits, %d tokens", name, err, waits, renewals(s))
		}
		if _, err := c.PostComment(context.Background(), issueKey(s, 1), "y"); err != nil {
			t.Errorf("%s: next: %v", name, err)
		}
		want := 2
		if tt.want != "" {
			want = 1
		}
		if n := len(s.Comments("o/r", 1)); n != want {
			t.Errorf("%s: %d comments", name, n)
		}
	}
}

// TestTokenRefused: git gets the port's error as well.
func TestTokenRefused(t *testing.T) {
	s, c := appStage(t)
	s.Fault(forgetest.Fault{Path: ".*/access_tokens", Kind: forgetest.Unauthorized})
	if token, err := c.Token(context.Background()); token != "" || kind(err) != forge.Auth {
		t.Errorf("%q, %v", token, err)
	}
}

// TestNoToken: without a token nothing was sent, so that no write is ambiguous.
func TestNoToken(t *testing.T) {
	for _, test := range []struct {
		fault forgetest.Fault
		want  forge.ErrorKind
	}{
		{forgetest.Fault{Kind: forgetest.Drop}, forge.Transient},
		{forgetest.Fault{Kind: forgetest.StoreDrop}, forge.Transient},
		{forgetest.Fault{Kind: forgetest.StoreGarbled}, forge.Transient},
		{forgetest.Fault{Kind: forgetest.Store502HTML}, forge.Transient},
		{forgetest.Fault{Kind: forgetest.Slow, Delay: time.Hour}, forge.Transient},
		{forgetest.Fault{Kind: forgetest.Unauthorized}, forge.Auth},
		{forgetest.Fault{Kind: forgetest.Answer, Status: 404, Body: `{"message":"Not Found"}`}, forge.Auth},
		{forgetest.Fault{Kind: forgetest.Secondary, RetryAfter: 9 * time.Second}, forge.RateLimited},
	} {
		s, c := appStage(t)
		if test.fault.Kind == forgetest.Slow {
			c.tokens.(*installation).guard.(*rest.Guard).Timeout = 20 * time.Millisecond
		}
		test.fault.Path = ".*/access_tokens"
		s.Fault(test.fault)
		_, err := c.PostComment(context.Background(), issueKey(s, 1), "x")
		if kind(err) != test.want || len(s.Comments("o/r", 1)) != 0 {
			t.Errorf("%s: %v, want %s", test.fault.Kind, err, test.want)
		}
		noSecret(t, err)
		if err := post(c, issueKey(s, 1)); err != nil {
			t.Errorf("%s: afterwards: %v", test.fault.Kind, err)
		}
	}
}

func TestAppCancelled(t *testing.T) {
	s, c := appStage(t)
	ctx, cancel := context.WithCancel(context.Background())
	s.Fault(forgetest.Fault{Path: ".*/access_tokens", Kind: forgetest.Slow, Delay: time.Hour})
	c.tokens.(*installation).guard.(*rest.Guard).Next = trip(func(*http.Request) { cancel() })
	if _, err := c.Task(ctx, issueKey(s, 1)); err != context.Canceled {
		t.Errorf("error %v", err)
	}
}

func TestAppKeyRefused(t *testing.T) {
	pkcs8, err := x509.MarshalPKCS8PrivateKey(appKey())
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := x509.MarshalPKCS8PrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	good := keyFile(t, "PRIVATE KEY", pkcs8)
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	open := keyFile(t, "PRIVATE KEY", pkcs8)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.pem")
	if err := os.WriteFile(broken, slices.Concat([]byte("x"), text[20:]), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, app := range map[string]App{
		"absent":          {ID: 1, InstallationID: 2, KeyFile: good + "x"},
		"readable by all": {ID: 1, InstallationID: 2, KeyFile: open},
		"a directory":     {ID: 1, InstallationID: 2, KeyFile: t.TempDir()},
		"broken":          {ID: 1, InstallationID: 2, KeyFile: broken},
		"no RSA key":      {ID: 1, InstallationID: 2, KeyFile: keyFile(t, "PRIVATE KEY", other)},
		"cut":             {ID: 1, InstallationID: 2, KeyFile: keyFile(t, "PRIVATE KEY", pkcs8[:300])},
		"no id":           {InstallationID: 2, KeyFile: good},
		"no installation": {ID: 1, KeyFile: good},
	} {
		_, err := New(Config{APIURL: "https://api.github.com", Owner: "o", App: &app})
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if message := err.Error(); strings.Contains(message, string(text[40:80])) || strings.ContainsAny(message, "\n") {
			t.Errorf("%s: %q", name, message)
		}
	}
	if _, err := New(Config{APIURL: "https://api.github.com", Owner: "o", App: &App{ID: 1, InstallationID: 2, KeyFile: good}}); err != nil {
		t.Error(err)
	}
	both := Config{APIURL: "https://api.github.com", Owner: "o", Token: token, App: &App{ID: 1, InstallationID: 2, KeyFile: good}}
	if _, err := New(both); err == nil {
		t.Error("a token and an app: no error")
	}
}

// TestAppClock: an App's proof counts by the forge's clock, which an answer tells. One
// refusal is enough to learn it, and the next proof is right at once.
func TestAppClock(t *testing.T) {
	for _, ahead := range []time.Duration{-24 * time.Hour, -6 * time.Minute, 0, 6 * time.Minute, 24 * time.Hour} {
		s, c := appStage(t)
		s.Ahead(ahead)
		if _, err := c.Me(context.Background()); err != nil { // asked for as the App itself
			t.Errorf("%v: %v", ahead, err)
		}
		if _, err := c.Task(context.Background(), issueKey(s, 1)); err != nil {
			t.Errorf("%v: %v", ahead, err)
		}
		if n := renewals(s); n > 2 {
			t.Errorf("%v: %d tokens were asked for", ahead, n)
		}
		first := renewals(s)
		s.Ahead(ahead + 2*time.Hour) // the token has ended
		i := c.tokens.(*installation)
		i.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
		i.app.now = i.now
		if _, err := c.Task(context.Background(), issueKey(s, 1)); err != nil || renewals(s) != first+1 {
			t.Errorf("%v: %d tokens more, %v", ahead, renewals(s)-first, err)
		}
	}
}
