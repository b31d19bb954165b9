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
		if _, err := p.Complete(t.Context(), suite.Question()); !errors.As(err, &e) || e.Kind != llm.Invalid || hops > 4 {
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
