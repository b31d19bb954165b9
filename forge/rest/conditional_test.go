package rest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// bodiesOf answers each URL with a JSON text of its own and a tag, of a given size.
type bodiesOf int

func (size bodiesOf) RoundTrip(r *http.Request) (*http.Response, error) {
	code, body := http.StatusOK, `"`+strings.Repeat("x", int(size))+`"`
	if r.Header.Get("If-None-Match") != "" {
		code, body = http.StatusNotModified, ""
	}
	return &http.Response{StatusCode: code, Header: http.Header{"Etag": {`"` + r.URL.Path + `"`}},
		Body: io.NopCloser(strings.NewReader(body))}, nil
}

func TestCacheIsBounded(t *testing.T) {
	const limit = 10_000
	for size, want := range map[int]int{8: cachedAnswers, 998: 10, limit: 0} {
		c := NewConditional(bodiesOf(size))
		c.limit = limit
		get := func(i int) {
			t.Helper()
			r, _ := http.NewRequest(http.MethodGet, fmt.Sprint("http://host/", i), nil)
			response, err := c.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			if err != nil || len(body) != size+2 || response.StatusCode != http.StatusOK {
				t.Errorf("%d bytes, status %d, %v", len(body), response.StatusCode, err)
			}
		}
		for i := range 300 {
			get(i)
			get(0) // is used all the time and stays
		}
		if c.order.Len() != want || len(c.byURL) != want || c.bytes != want*(size+2) {
			t.Errorf("size %d: %d answers of %d bytes, want %d", size, c.order.Len(), c.bytes, want)
		}
		if want > 0 && c.byURL["http://host/0"] == nil {
			t.Errorf("size %d: the answer in use was dropped", size)
		}
	}
}
