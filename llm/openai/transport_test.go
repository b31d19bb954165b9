package openai

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"agent/llm"
	"agent/llm/llmtest/suite"
)

func TestBaseURLs(t *testing.T) {
	for base, ok := range map[string]bool{
		"https://api.openai.com/v1":             true,
		"http://127.0.0.1:1234/v1":              true,
		"http://[::1]:1234/v1":                  true,
		"http://localhost:1234/v1":              true,
		"http://models.example/v1":              false,
		"http://192.168.0.2/v1":                 false,
		"http://localhost.models.example/v1":    false,
		"https://user:hunter2@models.example/v": false,
		"https://models.example/v1?key=hunter2": false,
		"https://models.example/v1#hunter2":     false,
		"https://hunter2 .example/v1":           false,
		"ftp://models.example":                  false,
		"models.example/v1":                     false,
		"https:hunter2":                         false,
		"":                                      false,
		"https://169.254.169.254/v1":            false,
		"https://[::ffff:169.254.169.254]/v1":   false,
		"https://[fd00:ec2::254]/v1":            false,
		"https://0.0.0.0/v1":                    false,
	} {
		_, err := New(Config{BaseURL: base})
		if (err == nil) != ok {
			t.Errorf("%s: %v", base, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the secret is shown: %v", err)
		}
	}
	if _, err := New(Config{BaseURL: "http://192.168.0.2/v1", AllowHTTP: true}); err != nil {
		t.Error(err)
	}
}

func TestKeyThatNoHeaderCanCarry(t *testing.T) {
	for _, k := range []string{"sk-a\nb", "sk-a b", "sk-日本"} {
		if _, err := New(Config{BaseURL: "https://models.example/v1", APIKey: k}); err == nil || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%q: %v", k, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:80":                  true,
		"[::1]:80":                      true,
		"192.168.1.4:80":                true,
		"10.0.0.1:443":                  true,
		"8.8.8.8:443":                   true,
		"[2001:db8::1]:443":             true,
		"[64:ff9b::808:808]:443":        true,
		"169.254.169.254:80":            false,
		"169.254.0.1:80":                false,
		"0.0.0.0:80":                    false,
		"0.1.2.3:80":                    false,
		"[::]:80":                       false,
		"224.0.0.1:80":                  false,
		"100.100.100.200:80":            false,
		"[fd00:ec2::254]:80":            false,
		"[fe80::1%eth0]:80":             false,
		"[::ffff:169.254.169.254]:80":   false,
		"[::ffff:0.0.0.0]:80":           false,
		"[::169.254.169.254]:80":        false,
		"[64:ff9b::169.254.169.254]:80": false,
		"[2002:a9fe:a9fe::1]:80":        false,
		"unresolved.example:80":         false,
		"no port":                       false,
	} {
		if err := checkAddress(address, false); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	for address, ok := range map[string]bool{"127.0.0.1:80": true, "[::1]:80": true, "[::ffff:127.0.0.1]:80": true, "10.0.0.1:80": false} {
		if err := checkAddress(address, true); (err == nil) != ok {
			t.Errorf("%s for a loopback name: %v", address, err)
		}
	}
}

// A host name passes every check of its text; the address is looked at when dialing.
func TestRefusedWhenDialing(t *testing.T) {
	for _, host := range []string{"169.254.169.254", "[::ffff:a9fe:a9fe]", "0.0.0.0"} {
		transport := newTransport(false)
		_, err := transport.DialContext(t.Context(), "tcp", host+":80")
		if !errors.Is(err, errForbidden) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	var hops int
	var to string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/end" {
			if r.Header.Get("Authorization") == "" || r.Method != http.MethodPost {
				t.Errorf("%s without key", r.Method)
			}
			io.WriteString(w, `{"choices":[{"message":{"content":"here"},"finish_reason":"stop"}]}`)
			return
		}
		hops++
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	p := open(t, Config{BaseURL: s.URL + "/v1"})
	to = "/v1/end"
	if got, err := p.Complete(t.Context(), suite.Question()); err != nil || got.Text != "here" {
		t.Errorf("%q %v", got.Text, err)
	}
	for _, to = range []string{"/v1/again", "https" + s.URL[4:] + "/v1/end", "http://user@" + s.URL[7:] + "/v1/end"} {
		hops = 0
		var e *llm.Error
		if _, err := p.Complete(t.Context(), suite.Question()); !errors.As(err, &e) || e.Kind != llm.Invalid || hops > maxRedirects+1 {
			t.Errorf("%s: %v after %d hops", to, err, hops)
		}
	}
}

// 64 MiB of blanks are 64 KiB on the wire.
func TestCompressedBombIsCut(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write([]byte(`{"choices":[{"message":{"content":"`))
		blanks := []byte(strings.Repeat(" ", 1<<20))
		for range 64 {
			if _, err := z.Write(blanks); err != nil {
				return
			}
		}
		z.Write([]byte(`"},"finish_reason":"stop"}]}`))
		z.Close()
	}))
	defer s.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := open(t, Config{BaseURL: s.URL + "/v1"}).Complete(t.Context(), suite.Question())
	runtime.ReadMemStats(&after)
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Transient || !strings.Contains(e.Message, "32 MiB") {
		t.Error(err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 512<<20 {
		t.Errorf("%d bytes allocated", grown)
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	seen := map[string]bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen[r.RemoteAddr] = true
		io.WriteString(w, part+"\n\n"+stop+"\n\n"+end+"\n\n")
		w.(http.Flusher).Flush()
		select { // the end of the body comes later, as from real servers
		case <-r.Context().Done(): // the client did not wait for it
		case <-time.After(5 * time.Millisecond):
		}
	}))
	defer s.Close()
	p := open(t, Config{BaseURL: s.URL + "/v1"})
	for range 5 {
		if _, err := p.Complete(t.Context(), suite.Question()); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 1 {
		t.Errorf("%d connections for five calls", len(seen))
	}
}

func TestRetryAfter(t *testing.T) {
	const now = "Fri, 27 Nov 2026 10:00:00 GMT"
	for value, want := range map[string]time.Duration{
		"":                              0,
		"30":                            30 * time.Second,
		"0.5":                           500 * time.Millisecond,
		"-3":                            0,
		"NaN":                           0,
		"1e300":                         maxWait,
		"soon":                          0,
		"Fri, 27 Nov 2026 10:02:00 GMT": 2 * time.Minute,
		"Fri, 27 Nov 2026 09:00:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {value}, "Date": {now}}); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
	if got := retryAfter(http.Header{"Retry-After": {"9"}, "Retry-After-Ms": {"1500"}}); got != 1500*time.Millisecond {
		t.Errorf("%v", got)
	}
	if got := retryAfter(http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}); got < 59*time.Minute || got > time.Hour {
		t.Errorf("%v", got)
	}
}
