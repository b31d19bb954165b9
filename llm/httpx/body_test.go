package httpx

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"agent/llm"
)

// A body of many pieces arrives whole, over connections that are used again, after
// redirects, and with TLS.
func TestBodyInPieces(t *testing.T) {
	var got bytes.Buffer
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Reset()
		if n, err := io.Copy(&got, r.Body); err != nil || n != r.ContentLength {
			t.Errorf("%d of %d bytes: %v", n, r.ContentLength, err)
		}
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
		}
	})
	for _, start := range []func(http.Handler) *httptest.Server{httptest.NewServer, httptest.NewTLSServer} {
		s := start(handler)
		transport := newTransport(true)
		if s.TLS != nil {
			transport.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig
		}
		c, err := New(Config{BaseURL: s.URL, Transport: transport})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 24 {
			var body [][]byte
			for i := range 1 + n*n {
				body = append(body, bytes.Repeat([]byte{byte('a' + i%26)}, 1+i*n))
			}
			for _, path := range []string{"", "moved"} {
				if _, err := c.Do(t.Context(), Request{URL: c.URL(path), Body: body}, func(*Answer) (llm.Reply, error) { return llm.Reply{}, nil }); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), bytes.Join(body, nil)) {
					t.Fatalf("another body of %d pieces arrived at /%s", len(body), path)
				}
			}
		}
		c.Close()
		s.Close()
	}
}

func BenchmarkBody(b *testing.B) {
	for _, size := range []int{50 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size>>10, " KiB"), func(b *testing.B) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
			defer s.Close()
			c, err := New(Config{BaseURL: s.URL})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			body := [][]byte{[]byte("{"), bytes.Repeat([]byte("x"), size), []byte("}")}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Do(b.Context(), Request{URL: c.URL(), Body: body}, func(*Answer) (llm.Reply, error) { return llm.Reply{}, nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
