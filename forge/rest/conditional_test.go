package rest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bodiesOf answers each URL with a JSON text of its own and a tag, of a given size,
// and counts what it had to send whole.
type bodiesOf struct {
	size, sent int
}

func (b *bodiesOf) RoundTrip(r *http.Request) (*http.Response, error) {
	code, body := http.StatusOK, `"`+strings.Repeat("x", b.size)+`"`
	if r.Header.Get("If-None-Match") == `"`+r.URL.Path+`"` {
		code, body = http.StatusNotModified, ""
	} else {
		b.sent++
	}
	return &http.Response{StatusCode: code, Header: http.Header{"Etag": {`"` + r.URL.Path + `"`}, "Set-Cookie": {"session"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func read(t *testing.T, c http.RoundTripper, url string) string {
	t.Helper()
	r, _ := http.NewRequest(http.MethodGet, url, nil)
	response, err := c.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("status %d, %v", response.StatusCode, err)
	}
	return string(body)
}

// A cycle over more lists than there is room for: an order by last use hits none of
// them. The bound is one of bytes: a thousand empty lists fit.
func TestCacheInACycle(t *testing.T) {
	const limit = 100_000
	for size, least := range map[int]int{2: 100, 900: 25, limit: 0} { // hits of 100
		b := &bodiesOf{size: size}
		c := NewConditional(b, nil)
		c.limit = limit
		for range 5 {
			b.sent = 0
			for i := range 100 {
				if body := read(t, c, fmt.Sprint("http://host/", i)); len(body) != size+2 {
					t.Fatalf("%d bytes", len(body))
				}
			}
		}
		total := 0
		for _, k := range c.byURL {
			total += k.size()
		}
		if hits := 100 - b.sent; hits < least || total != c.bytes || c.bytes > limit {
			t.Errorf("size %d: %d hits of 100, %d bytes counted of %d", size, hits, c.bytes, total)
		}
	}
}

// Each run of cron is a new process. What does not belong on the disk is asked for again.
func TestAnswersOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".answers")
	secret := func(s string) bool { return strings.Contains(s, "xxxxx") }
	for size, sent := range map[int]int{3: 10, 5: 20} {
		b := &bodiesOf{size: size}
		for range 2 {
			c := NewConditional(b, NewDisk(dir, secret))
			for i := range 10 {
				read(t, c, fmt.Sprint("http://host/", size, "/", i))
			}
		}
		if b.sent != sent {
			t.Errorf("size %d: %d answers were sent in two processes, want %d", size, b.sent, sent)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		info, _ := f.Info()
		data, _ := os.ReadFile(filepath.Join(dir, f.Name()))
		if info.Mode().Perm() != 0o600 || bytes.Contains(data, []byte("session")) {
			t.Errorf("%s: %v\n%s", f.Name(), info.Mode(), data)
		}
	}
}

// What a power cut or a person left there is not believed, and not an error either.
func TestHarmedAnswers(t *testing.T) {
	for name, harm := range map[string]func(path string, data []byte) error{
		"bit":   func(p string, d []byte) error { d[len(d)-2] ^= 1; return os.WriteFile(p, d, 0o600) },
		"zeros": func(p string, d []byte) error { return os.WriteFile(p, make([]byte, len(d)), 0o600) },
		"cut":   func(p string, d []byte) error { return os.WriteFile(p, d[:len(d)-1], 0o600) },
		"empty": func(p string, _ []byte) error { return os.WriteFile(p, nil, 0o600) },
		"other URL": func(p string, d []byte) error {
			return os.WriteFile(p, bytes.Replace(d, []byte("/u"), []byte("/v"), 1), 0o600)
		},
		"directory": func(p string, _ []byte) error { return errorOf(os.Remove(p), os.Mkdir(p, 0o700)) },
		"gone":      func(p string, _ []byte) error { return os.RemoveAll(filepath.Dir(p)) },
	} {
		dir := t.TempDir()
		b := &bodiesOf{size: 8}
		first := NewDisk(dir, nil)
		read(t, NewConditional(b, first), "http://host/u")
		path := first.path("http://host/u")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := harm(path, data); err != nil {
			t.Fatal(err)
		}
		if body := read(t, NewConditional(b, NewDisk(dir, nil)), "http://host/u"); len(body) != 10 || b.sent != 2 {
			t.Errorf("%s: %q, sent %d times", name, body, b.sent)
		}
	}
}

func errorOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// Tokens that forges put into their answers let others in.
func TestTokensAreNotKept(t *testing.T) {
	d := NewDisk(t.TempDir(), nil)
	const body = `{"temp_clone_token":"AAB","runners_token" : "GR1","name":"token","text":"\"token\":\"x\""}`
	d.write(&kept{url: "u", tag: "t", header: http.Header{}, body: []byte(body)})
	if k := d.read("u"); k == nil || string(k.body) != `{"temp_clone_token":"","runners_token" : "","name":"token","text":"\"token\":\"x\""}` {
		t.Errorf("%s", k.body)
	}
}

func TestDiskIsBounded(t *testing.T) {
	d := NewDisk(t.TempDir(), nil)
	d.limit = 20_000
	for i := range 200 {
		d.write(&kept{url: fmt.Sprint(i), tag: "t", header: http.Header{}, body: []byte(`"` + strings.Repeat("x", 400) + `"`)})
	}
	total, n := int64(0), 0
	files, _ := os.ReadDir(d.dir)
	for _, f := range files {
		info, _ := f.Info()
		total, n = total+info.Size(), n+1
	}
	if total > d.limit || n < 20 {
		t.Errorf("%d files of %d bytes", n, total)
	}
}

// used is a server whose hourly limit is used up for a while.
type used struct {
	until time.Time
	now   func() time.Time
	asked int
}

func (u *used) RoundTrip(r *http.Request) (*http.Response, error) {
	u.asked++
	left := u.until.Sub(u.now())
	if left <= 0 {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("[]")), Header: http.Header{}, Request: r}, nil
	}
	return &http.Response{StatusCode: 403, Body: io.NopCloser(strings.NewReader(`{"message":"API rate limit exceeded"}`)),
		Header: http.Header{"X-Left": {left.String()}}, Request: r}, nil
}

// A limit that is used up is asked about once until its reset, also by later processes.
// Other limits, and other tokens, have nothing to do with it.
func TestLimitIsRemembered(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := func() time.Time { return now }
	server := &used{now: clock, until: now.Add(40 * time.Minute)}
	dir := t.TempDir()
	process := func(who string) *Limits {
		l := NewLimits(server, LimitsConfig{Disk: NewDisk(dir, nil), Who: who,
			Of: func(r *http.Request) []string { return []string{r.URL.Path} },
			Used: func(r *http.Response, _ []byte) (string, time.Duration) {
				left, _ := time.ParseDuration(r.Header.Get("X-Left"))
				return r.Request.URL.Path, left
			}}).(*Limits)
		l.now = clock
		return l
	}
	ask := func(l *Limits, path string) (int, string) {
		r, _ := http.NewRequest(http.MethodGet, "http://host/"+path, nil)
		response, err := l.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		return response.StatusCode, response.Header.Get("Retry-After") + string(body)
	}
	ask(process("a"), "core")
	for range 3 {
		if code, text := ask(process("a"), "core"); code != 403 || text != `2401{"message":"API rate limit exceeded"}` || server.asked != 1 {
			t.Errorf("%d %s, asked %d times", code, text, server.asked)
		}
	}
	if ask(process("a"), "search"); server.asked != 2 {
		t.Error("another limit was taken for used up")
	}
	if ask(process("b"), "core"); server.asked != 3 {
		t.Error("another token's limit was taken for used up")
	}
	now = now.Add(-2 * time.Hour) // the clock is put back: the note may be wrong by years
	if ask(process("a"), "core"); server.asked != 4 {
		t.Error("a limit is believed for longer than an hour")
	}
	now = now.Add(2*time.Hour + 41*time.Minute)
	if code, _ := ask(process("a"), "core"); code != 200 || server.asked != 5 {
		t.Errorf("after the reset: %d", code)
	}
}
