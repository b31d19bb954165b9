package webui

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/config"
	"agent/internal/fsx"
	"agent/internal/i18n"
	"agent/internal/page/pagetest"
	"agent/internal/report"
)

var start = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

func id(n int) string { return fmt.Sprintf("1111%04x-0000-4000-8000-000000000001", n) }

// world is a store with contexts that are written to while a server shows them.
type world struct {
	t     *testing.T
	store *contexts.Store
	home  string
	open  uint64 // the latest intent
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := filepath.Join(t.TempDir(), "contexts")
	fsys, err := fsx.OpenOS(home)
	must(t, err)
	store, err := contexts.Open(fsys, contexts.Options{})
	must(t, err)
	return &world{t: t, store: store, home: home}
}

// context begins a context that stays open.
func (w *world) context(n int, title string, bodies ...event.Body) *contexts.Context {
	w.t.Helper()
	c, err := w.store.Create(&event.ContextCreated{Format: event.Format, UUID: id(n), TaskKey: fmt.Sprintf("github.com/acme/widgets/issues/%d", n+1), Forge: "github.com",
		Kind: "github_issue", Title: title, User: "alice", Trigger: "label"}, start)
	must(w.t, err)
	w.append(c, bodies...)
	return c
}

func (w *world) append(c *contexts.Context, bodies ...event.Body) {
	w.t.Helper()
	for _, b := range bodies {
		ev := event.Event{Time: start.Add(time.Minute), Body: b}
		if event.RoleOf(b) == event.Outcome {
			ev.Cause = w.open
		}
		written, err := c.Append(ev)
		must(w.t, err)
		if event.RoleOf(b) == event.Intent {
			w.open = written.Seq
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serve starts a real server and gives its address without a slash at its end.
func (w *world) serve(o Options) string {
	w.t.Helper()
	o.Address = "127.0.0.1:0"
	s, err := New(report.Source{Store: w.store, Config: &config.Config{}, Lang: i18n.En, Now: time.Now(), Warn: func(error) {}}, o)
	must(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	address, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- s.Serve(ctx, func(url string) { address <- url }) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
	return strings.TrimSuffix(<-address, "/")
}

func get(t *testing.T, url string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	must(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	for {
		answer, err := http.DefaultTransport.RoundTrip(r)
		must(t, err)
		body, err := io.ReadAll(answer.Body)
		must(t, errors.Join(err, answer.Body.Close()))
		if answer.Header.Get("Refresh") == "" { // else it is not all there yet, on a slow machine
			return answer.StatusCode, string(body)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.context(0, "Greet the world", pagetest.Long(3, 100)...).Close())
	must(t, w.context(1, "Count to <ten>", pagetest.Long(2, 100)...).Close())
	at := w.serve(Options{})
	for _, c := range []struct {
		path string
		code int
		want []string
	}{
		{"/", 200, []string{"Greet the world", "Count to &lt;ten&gt;", "widgets#1", "1–2 / 2", "<code>" + id(0)[:8] + "</code>"}},
		{"/?q=greet", 200, []string{"Greet the world", "1–1 / 1 (2)"}},
		{"/?repo=acme/nothing", 200, []string{"No context fits."}},
		{"/?state=paused", 200, []string{"No context fits."}},
		{"/?page=7", 200, []string{"No context fits."}},
		{"/c/" + id(0), 200, []string{"<h1>Greet the world</h1>", `id="s3"`, `href="/c/` + id(0) + `/e/4"`, `data-live="/c/` + id(0) + `/live?after=`}},
		{"/c/" + id(0)[:8], 200, []string{"<h1>Greet the world</h1>"}},
		{"/c/" + id(0) + "/e/6", 200, []string{"exit code: 0", "line 0: ", `id="e6" open`}},
		{"/c/" + id(0) + "/e/7", 200, []string{"exit code: 0"}},
		{"/c/" + id(0) + "/e/8", 200, []string{`id="s2"`, `id="m7"`}}, // its step, and what the model was told
		{"/c/" + id(0) + "/e/999", 404, nil},
		{"/c/" + id(0) + "/e/x", 404, nil},
		{"/c/" + id(7), 404, nil},
		{"/c/..%2f..%2fetc", 404, nil},
		{"/compare?c=" + id(0) + "&c=" + id(1), 200, []string{"Greet the world", "Count to &lt;ten&gt;", `class="beside"`}},
		{"/compare?c=" + id(0), 400, nil},
		{"/stats", 200, []string{"github.com/acme/widgets", "<svg"}},
		{"/stats?by=tool", 200, []string{"workspace/run_command", "<td>5</td>"}},
		{"/stats?by=phase&since=2026-11-01", 200, []string{"work"}},
		{"/stats?by=day", 200, []string{"2026-11-27"}},
		{"/stats?by=moon", 400, nil},
		{"/stats?since=soon", 400, nil},
		{"/metrics", 200, []string{"# TYPE agent_contexts gauge", `agent_contexts{state="interrupted"} 2`, "agent_build_info"}},
		{"/page.css", 200, []string{"prefers-color-scheme"}},
		{"/live.js", 200, []string{"EventSource"}},
		{"/nothing", 404, nil},
	} {
		code, body := get(t, at+c.path)
		if code != c.code {
			t.Errorf("%s: %d %.200s", c.path, code, body)
		}
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q", c.path, want)
			}
		}
	}
}

// Nobody looks who may not: by another name, from another site, without the token, or to change something.
func TestGuard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.context(0, "Secret plans").Close())
	at := w.serve(Options{})
	host := strings.TrimPrefix(at, "http://")
	port := host[strings.LastIndex(host, ":"):]
	const token = "0123456789abcdef-token"
	locked := w.serve(Options{Token: token})
	for _, c := range []struct {
		name, url string
		header    []string
		code      int
	}{
		{"plain", at, nil, 200},
		{"localhost", at, []string{"Host", "localhost" + port}, 200},
		{"rebinding", at, []string{"Host", "evil.example" + port}, 421},
		{"another port", at, []string{"Host", "127.0.0.1:1"}, 421},
		{"no port", at, []string{"Host", "127.0.0.1"}, 421},
		{"our origin", at, []string{"Origin", at}, 200},
		{"another origin", at, []string{"Origin", "https://evil.example"}, 403},
		{"the origin null", at, []string{"Origin", "null"}, 403},
		{"another port's origin", at, []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"fetched by another site", at, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"}, 403},
		{"framed by another site", at, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{"a link of another site", at, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"no token", locked, nil, 401},
		{"a wrong token", locked, []string{"Authorization", "Bearer nope"}, 401},
		{"the token", locked, []string{"Authorization", "Bearer " + token}, 200},
		{"the cookie", locked, []string{"Cookie", cookie + "=" + token}, 200},
		{"a wrong cookie", locked, []string{"Cookie", cookie + "=" + token + "x"}, 401},
		{"the token in the address", locked + "/?token=" + token, nil, 303},
		{"a wrong one in the address", locked + "/?token=nope", nil, 401},
	} {
		code, body := get(t, c.url, c.header...)
		if code != c.code || code != 200 && strings.Contains(body, "Secret plans") {
			t.Errorf("%s: %d, want %d: %.100s", c.name, code, c.code, body)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"} {
		r, _ := http.NewRequest(method, at+"/", strings.NewReader("x"))
		answer, err := http.DefaultTransport.RoundTrip(r)
		must(t, err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, answer.StatusCode)
		}
	}
	answer, err := http.Get(at + "/")
	must(t, err)
	answer.Body.Close()
	for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer"} {
		if !strings.Contains(answer.Header.Get(name), want) {
			t.Errorf("%s: %q", name, answer.Header.Get(name))
		}
	}
}

// Beyond loopback there is no server without a token and a certificate.
func TestOptions(t *testing.T) {
	t.Parallel()
	cert, key, pool := certificate(t)
	const token = "0123456789abcdef"
	for _, c := range []struct {
		o  Options
		ok bool
	}{
		{Options{Address: "127.0.0.1:0"}, true}, {Options{Address: "localhost:0"}, true}, {Options{Address: "[::1]:0"}, true},
		{Options{Address: "0.0.0.0:0"}, false}, {Options{Address: ":0"}, false}, {Options{Address: "[::]:0"}, false}, {Options{Address: "192.0.2.1:0"}, false},
		{Options{Address: "0.0.0.0:0", Token: token}, false}, {Options{Address: "0.0.0.0:0", Cert: cert, Key: key}, false},
		{Options{Address: "0.0.0.0:0", Cert: cert, Key: key, Token: token}, true}, {Options{Address: "0.0.0.0:0", Cert: cert, Key: key, Token: "short"}, false},
		{Options{Address: "127.0.0.1:0", Cert: cert}, false}, {Options{Address: "127.0.0.1:0", Cert: "no", Key: "no"}, false}, {Options{Address: "x"}, false},
		{Options{Address: "127.0.0.1:99999"}, false}, {Options{Address: "127.0.0.1:x"}, false},
	} {
		if _, err := New(report.Source{}, c.o); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	w := newWorld(t)
	at := w.serve(Options{Cert: cert, Key: key, Token: token})
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "example.com"}}}
	r, _ := http.NewRequest(http.MethodGet, at+"/", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := client.Do(r)
	must(t, err)
	answer.Body.Close()
	if answer.StatusCode != 200 || !strings.HasPrefix(at, "https://") {
		t.Errorf("%s: %d", at, answer.StatusCode)
	}
}

// certificate writes the certificate of httptest to files.
func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pool = x509.NewCertPool()
	pool.AddCert(server.Certificate())
	pair := server.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	must(t, err)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	must(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}), 0o600))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return cert, key, pool
}

// A context grows on the page of each of 50 watchers while it runs; one reader serves all.
func TestFiftyWatchers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.context(0, "Greet the world", &event.ProcessStarted{}, &event.LLMRequested{Purpose: "work", Model: "big"})
	at := w.serve(Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	var ready, done sync.WaitGroup
	for i := range 50 {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			r, _ := http.NewRequestWithContext(ctx, http.MethodGet, at+"/c/"+id(0)+"/live?after=3", nil)
			answer, err := http.DefaultClient.Do(r)
			ready.Done()
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			all, _ := io.ReadAll(bufio.NewReader(answer.Body))
			text := string(all)
			for _, want := range []string{`"id":"e3"`, "go on with the next part", "\"text\":\"completed\"", "event: end"} {
				if !strings.Contains(text, want) {
					t.Errorf("watcher %d saw no %q in %d bytes", i, want, len(text))
				}
			}
		}()
	}
	ready.Wait()
	w.append(c, &event.LLMReplied{Text: event.T("I go on with the next part")})
	w.append(c, &event.ContextCompleted{Reason: "done"})
	must(t, c.Close())
	done.Wait()
}

// A watcher of a removed context gets a notice, and the server goes on.
func TestRemovedWhileWatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.context(0, "Greet", &event.ProcessStarted{}).Close())
	at := w.serve(Options{})
	answer, err := http.Get(at + "/c/" + id(0) + "/live?after=2")
	must(t, err)
	defer answer.Body.Close()
	removed, _ := filepath.Glob(filepath.Join(w.home, "*", id(0)))
	must(t, os.RemoveAll(removed[0]))
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	for _, want := range []string{"this context was removed", `"state":"removed"`, "event: end"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing: %s", want, text)
		}
	}
	if code, _ := get(t, at+"/c/"+id(0)); code != http.StatusNotFound {
		t.Errorf("its page: %d", code)
	}
	if code, _ := get(t, at+"/"); code != http.StatusOK {
		t.Errorf("the list: %d", code)
	}
}

// A context moves between directories while it is watched, and is archived: nobody is told that
// it is gone.
func TestMovedWhileWatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.context(0, "Greet", &event.ProcessStarted{})
	at := w.serve(Options{})
	answer, err := http.Get(at + "/c/" + id(0) + "/live?after=2")
	must(t, err)
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for _, step := range []struct {
		body event.Body
		want string
	}{
		{&event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "person"}}, `"state":"paused"`},
		{&event.ContextResumed{}, `resumed`},
		{&event.ContextCompleted{Reason: "done"}, `"state":"completed"`},
	} {
		w.append(c, step.body)
		must(t, c.Relocate())
		for lines.Scan() && !strings.Contains(lines.Text(), step.want) {
			if strings.Contains(lines.Text(), "removed") {
				t.Error(lines.Text())
			}
		}
		must(t, lines.Err())
	}
	must(t, c.Close())
	_, err = w.store.Archive(id(0))
	must(t, err)
	if code, body := get(t, at+"/c/"+id(0)); code != http.StatusOK || !strings.Contains(body, "somebody asked for a pause") {
		t.Errorf("the page of an archived context: %d %.300s", code, body)
	}
	if _, body := get(t, at+"/c/"+id(0)+"/live?after=2"); !strings.Contains(body, `"state":"completed"`) || !strings.Contains(body, "event: end") {
		t.Errorf("watched once it was archived: %s", body)
	}
}

// A watcher who comes back gets what it missed, and a page that is too old is loaded again.
func TestComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.context(0, "Greet", &event.ProcessStarted{})
	w.append(c, &event.LimitReached{Limit: "calls"}, &event.ContextCompleted{Reason: "done"})
	must(t, c.Close())
	at := w.serve(Options{})
	if _, body := get(t, at+"/c/"+id(0)+"/live?after=3"); strings.Contains(body, `"e3"`) || !strings.Contains(body, `"e4"`) || !strings.Contains(body, "event: end") {
		t.Errorf("after 3: %s", body)
	}
	if _, body := get(t, at+"/c/"+id(0)+"/live?after=1", "Last-Event-ID", "3"); strings.Contains(body, `"e3"`) || !strings.Contains(body, `"e4"`) {
		t.Errorf("came back at 3: %s", body)
	}
}

// The list of many contexts comes in pages.
func TestManyContexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range perPage + 3 {
		must(t, w.context(i, fmt.Sprintf("Task %d", i)).Close())
	}
	at := w.serve(Options{})
	_, first := get(t, at+"/")
	_, second := get(t, at+"/?page=1")
	if strings.Count(first, `type="checkbox"`) != perPage || strings.Count(second, `type="checkbox"`) != 3 || !strings.Contains(first, `href="/?page=1"`) {
		t.Errorf("%d and %d rows", strings.Count(first, `type="checkbox"`), strings.Count(second, `type="checkbox"`))
	}
}

// What hostile logs hold is text on every page.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, evil := range pagetest.Hostile {
		must(t, w.context(i, evil, pagetest.Everywhere(evil)[:36]...).Close())
	}
	at := w.serve(Options{})
	paths := []string{"/", "/stats?by=tool", "/stats?by=model", "/?q=%3Cscript%3E&repo=%22%3E%3Cscript%3E"}
	for i := range pagetest.Hostile {
		paths = append(paths, "/c/"+id(i), "/c/"+id(i)+"/e/17", "/compare?c="+id(i)+"&c="+id(0))
	}
	for _, path := range paths {
		code, body := get(t, at+path)
		if code != 200 {
			t.Errorf("%s: %d", path, code)
		}
		if scripts, problems := pagetest.Problems(body); scripts != 2 || len(problems) > 0 {
			t.Errorf("%s: %d scripts, %q", path, scripts, problems)
		}
		for _, bad := range []string{"\x1b", "\u202e", "\u009b"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s holds %q", path, bad)
			}
		}
	}
}
