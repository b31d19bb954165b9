package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"agent/internal/config"
	"agent/internal/i18n"
)

// sample is a message whose title is a stranger's.
func sample() Message {
	m := Message{ID: "u:7", Event: Failed, Time: time.Unix(0, 0).UTC(), Task: "github.com/a/b/issues/1", URL: "https://github.com/a/b/issues/1", State: "failed",
		Title: "バグ <!channel> & @channel {url}", Reason: "the key was refused", Change: "https://github.com/a/b/pull/2", Context: "u", lang: i18n.Ja}
	return m.complete()
}

func deliver(t *testing.T, c config.Notification) (attempts int, err error) {
	t.Helper()
	if c.TimeoutSeconds == 0 {
		c.TimeoutSeconds = 20
	}
	r := newReceiver(0, c, "1")
	r.backOff = []time.Duration{time.Millisecond, time.Millisecond}
	return r.deliver(t.Context(), sample())
}

// What is posted is what the receivers' own pages ask for: https://docs.ntfy.sh/publish/#publish-as-json,
// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks.
func TestPosts(t *testing.T) {
	for name, c := range map[string]struct {
		of   func(url string) config.Notification
		path string
		want map[string]any
	}{
		"json": {func(url string) config.Notification {
			return config.Notification{URL: url + "/in?key=1", Token: "tk", Headers: map[string]string{"X-A": "b"}}
		}, "/in?key=1", map[string]any{"id": "u:7", "event": "failed", "url": "https://github.com/a/b/issues/1", "change": "https://github.com/a/b/pull/2", "state": "failed",
			"text": "失敗: バグ <!channel> & @channel {url}\nthe key was refused\nhttps://github.com/a/b/issues/1\n変更: https://github.com/a/b/pull/2"}},
		"ntfy": {func(url string) config.Notification { return config.Notification{Ntfy: url + "/topic", Token: "tk"} }, "/", map[string]any{"topic": "topic",
			"title": "失敗: バグ <!channel> & @channel {url}", "priority": 4.0, "click": "https://github.com/a/b/issues/1",
			"message": "the key was refused\nhttps://github.com/a/b/issues/1\n変更: https://github.com/a/b/pull/2"}},
		"slack": {func(url string) config.Notification { return config.Notification{Slack: url + "/services/T/B/x"} }, "/services/T/B/x", map[string]any{
			"text": "失敗: バグ &lt;!channel&gt; &amp; @\u200bchannel {url}\nthe key was refused\nhttps://github.com/a/b/issues/1\n変更: https://github.com/a/b/pull/2"}},
		"template": {func(url string) config.Notification {
			return config.Notification{URL: url + "/", Template: "{event}|{state}|{title}|{reason}"}
		}, "/", map[string]any{"text": "失敗|失敗|バグ <!channel> & @channel {url}|the key was refused"}},
	} {
		box := newInbox(t, nil)
		if attempts, err := deliver(t, c.of(box.URL)); err != nil || attempts != 1 {
			t.Errorf("%s: %v after %d attempts", name, err, attempts)
			continue
		}
		path, body, _ := strings.Cut(box.bodies[0], " ")
		var got map[string]any
		must(t, json.Unmarshal([]byte(body), &got))
		for key, want := range c.want {
			if got[key] != want {
				t.Errorf("%s: %s is %q, want %q", name, key, got[key], want)
			}
		}
		if path != c.path || box.header.Get("Content-Type") != "application/json" || name != "slack" && name != "template" && box.header.Get("Authorization") != "Bearer tk" {
			t.Errorf("%s: %s %v", name, path, box.header)
		}
	}
}

// A receiver that fails is asked again only where it cannot have taken the message, and what is said of it
// holds nothing secret.
func TestServersThatFail(t *testing.T) {
	other := newInbox(t, nil)
	for name, c := range map[string]struct {
		answer   func(n int, w http.ResponseWriter)
		attempts int
		want     string // of the error; "": none
	}{
		"500":        {func(_ int, w http.ResponseWriter) { w.WriteHeader(500) }, 1, "answered 500"},
		"504":        {func(_ int, w http.ResponseWriter) { w.WriteHeader(504) }, 1, "answered 504"},
		"404":        {func(_ int, w http.ResponseWriter) { http.Error(w, "no_service\x1b[31m\n", 404) }, 1, "answered 404: no_service"},
		"503 always": {func(_ int, w http.ResponseWriter) { w.WriteHeader(503) }, 3, "answered 503"},
		"503 once":   {func(n int, w http.ResponseWriter) { w.WriteHeader([]int{0, 503, 200}[n]) }, 2, ""},
		"429 with a time": {func(n int, w http.ResponseWriter) {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader([]int{0, 429, 200}[n])
		}, 2, ""},
		"429, time is no time": {func(n int, w http.ResponseWriter) {
			w.Header().Set("Retry-After", "-9x")
			w.WriteHeader([]int{0, 429, 200}[n])
		}, 2, ""},
		"redirect":         {func(_ int, w http.ResponseWriter) { w.Header().Set("Location", other.URL); w.WriteHeader(307) }, 1, "redirects are not followed"},
		"huge answer":      {func(_ int, w http.ResponseWriter) { w.WriteHeader(400); huge(w) }, 1, "answered 400"},
		"huge good answer": {func(_ int, w http.ResponseWriter) { huge(w) }, 1, ""},
		"cut":              {func(int, http.ResponseWriter) { panic(http.ErrAbortHandler) }, 1, "EOF"},
		"hangs":            {func(_ int, w http.ResponseWriter) { time.Sleep(1200 * time.Millisecond) }, 1, "did not end within 1s"},
		"hangs in its answer": {func(_ int, w http.ResponseWriter) {
			w.WriteHeader(400)
			w.(http.Flusher).Flush()
			time.Sleep(1200 * time.Millisecond)
		}, 1, "did not end within 1s"},
	} {
		box := newInbox(t, c.answer)
		limit := 20
		if strings.HasPrefix(name, "hangs") {
			limit = 1
		}
		attempts, err := deliver(t, config.Notification{Slack: box.URL + "/services/secret-part-of-the-path", Headers: map[string]string{"Authorization": secret}, TimeoutSeconds: limit})
		if attempts != c.attempts || len(box.ids()) != c.attempts || (err == nil) != (c.want == "") {
			t.Errorf("%s: %v after %d attempts, %d requests", name, err, attempts, len(box.ids()))
		} else if err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") || strings.ContainsAny(err.Error(), "\x1b\n")) {
			t.Errorf("%s: %q", name, err)
		}
	}
	if len(other.ids()) != 0 {
		t.Error("a redirect was followed")
	}
	gone := newInbox(t, nil)
	gone.Close()
	if attempts, err := deliver(t, config.Notification{URL: gone.URL + "/secret"}); attempts != 3 || err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a closed port: %v after %d attempts", err, attempts)
	}
	if attempts, err := deliver(t, config.Notification{URL: "http://169.254.169.254/x", TimeoutSeconds: 1}); err == nil {
		t.Errorf("a metadata service: %v after %d attempts", err, attempts)
	}
}

// huge writes until the client goes.
func huge(w http.ResponseWriter) {
	for range 1 << 14 {
		if _, err := w.Write(make([]byte, 64<<10)); err != nil {
			return
		}
	}
}

// script makes a program of a shell script.
func script(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "script")
	must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700))
	return path
}

// A command gets the text, the facts and its own environment, and no other variable of ours.
func TestCommand(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", secret)
	out := filepath.Join(t.TempDir(), "out")
	argv := []string{script(t, `cat > "$1"; env >> "$1"`), out}
	if _, err := deliver(t, config.Notification{Command: argv, Env: map[string]string{"MINE": "x"}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	must(t, err)
	for _, want := range []string{"失敗: バグ <!channel> & @channel {url}\nthe key was refused\n", "\nAGENT_EVENT=failed\n", "\nAGENT_TITLE=バグ <!channel> & @channel {url}\n", "\nAGENT_URL=https://github.com/a/b/issues/1\n",
		"\nAGENT_CHANGE=https://github.com/a/b/pull/2\n", "\nAGENT_REASON=the key was refused\n", "\nAGENT_ID=u:7\n", "\nMINE=x\n", "\nPATH="} {
		if !strings.Contains("\n"+string(text), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for line := range strings.Lines(string(text)) {
		name, _, isVariable := strings.Cut(line, "=")
		if isVariable && !strings.HasPrefix(name, "AGENT_") && !slices.Contains(append(passedOn, "MINE", "PWD", "SHLVL", "_", "OLDPWD"), name) && !strings.Contains(name, " ") && !strings.Contains(name, "://") {
			t.Errorf("the command got %s", name)
		}
	}
}

// A command that fails or hangs is ended with all that it started in its group; only
// the exit code "try later" is taken at its word.
func TestCommandsThatFail(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text     string
		attempts int
		want     string
	}{
		"fails":                       {"echo no mail today; exit 3", 1, "exit status 3: no mail today"},
		"try later":                   {"exit 75", 3, "exit status 75"},
		"try later, once":             {`test -e "$1/once" && exit 0; touch "$1/once"; exit 75`, 2, ""},
		"hangs":                       {`echo $$ > "$1/hangs"; trap "" TERM; sleep 1000`, 1, "did not end within 1s"},
		"leaves a child":              {`sleep 1000 & echo $! > "$1/child"`, 1, ""},
		"leaves a child with no pipe": {`sleep 1000 >/dev/null 2>&1 & echo $! > "$1/quiet"`, 1, ""},
		"reads nothing":               {"exec 0<&-; exit 0", 1, ""},
		"writes without end":          {"yes", 1, "did not end within 1s"},
		"kills itself":                {"kill -9 $$", 1, "signal: killed"},
	} {
		attempts, err := deliver(t, config.Notification{Command: []string{script(t, c.text), dir}, TimeoutSeconds: map[bool]int{true: 1, false: 20}[strings.Contains(c.want, "1s")]})
		if attempts != c.attempts || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v after %d attempts", name, err, attempts)
		}
	}
	for _, name := range []string{"hangs", "child", "quiet"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
		for syscall.Kill(pid, 0) == nil && !zombie(pid) {
			time.Sleep(5 * time.Millisecond) // until init has taken note
		}
	}
	if attempts, err := deliver(t, config.Notification{Command: []string{filepath.Join(dir, "missing")}}); err == nil || attempts != 1 {
		t.Errorf("a missing program: %v after %d attempts", err, attempts)
	}
}

func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || bytes.Contains(stat, []byte(") Z"))
}

// sendmail gets the receivers and a mail that a parser of mails reads; no title begins a header.
func TestEmail(t *testing.T) {
	out := filepath.Join(t.TempDir(), "mail")
	c := config.Notification{}
	c.Email.To, c.Email.From, c.Email.Sendmail = config.Strings{"a@example.com", "b@example.com"}, "agent@example.com", []string{script(t, `f=$1; shift; echo "$@" > "$f.args"; cat > "$f"`), out}
	if _, err := deliver(t, c); err != nil {
		t.Fatal(err)
	}
	args, err := os.ReadFile(out + ".args")
	must(t, err)
	if got := strings.TrimSpace(string(args)); got != "-i -f agent@example.com a@example.com b@example.com" {
		t.Errorf("arguments %q", got)
	}
	f, err := os.Open(out)
	must(t, err)
	defer f.Close()
	m, err := mail.ReadMessage(f)
	must(t, err)
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	must(t, err)
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	must(t, err)
	if subject != "[agent] 失敗: バグ <!channel> & @channel {url}" || m.Header.Get("To") != "a@example.com, b@example.com" || m.Header.Get("Auto-Submitted") != "auto-generated" ||
		!strings.Contains(string(body), "変更: https://github.com/a/b/pull/2\n") || len(m.Header) != 9 {
		t.Errorf("%q %v\n%s", subject, m.Header, body)
	}
}

// The text of a message is bounded: ntfy makes a file of what is longer than 4,096 bytes.
func TestLongTexts(t *testing.T) {
	m := sample()
	m.Reason = strings.Repeat("長", 4000)
	for _, text := range []string{m.complete().Text, m.with(strings.Repeat("{reason}", 9)).Text} {
		if len(text) > 4000 || !utf8.ValidString(text) {
			t.Errorf("%d bytes, valid: %v", len(text), utf8.ValidString(text))
		}
	}
}

// A test message goes to each receiver, and one that fails is told with the reason.
func TestTry(t *testing.T) {
	box := newInbox(t, nil)
	cfg := &config.Config{Notify: []config.Notification{{URL: box.URL, TimeoutSeconds: 5, On: config.Strings{Failed}}, {Command: []string{"false"}, TimeoutSeconds: 5}}}
	got := slices.Collect(Try(context.Background(), cfg, i18n.En, "1"))
	if len(got) != 2 || got[0].Error != "" || !strings.Contains(got[1].Error, "exit status 1") || len(box.ids()) != 1 || box.got[0].Event != "test" {
		t.Errorf("%+v %q", got, box.bodies)
	}
}
