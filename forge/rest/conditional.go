package rest

import (
	"bytes"
	"container/list"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

const (
	cachedAnswers = 200
	cachedBytes   = 8 << 20
)

// Conditional asks of what was read before only whether it changed: such
// answers cost little, and on GitHub nothing of the rate limit. Nothing is taken
// from the cache without asking. It keeps the answers used last, in memory.
type Conditional struct {
	next  http.RoundTripper
	limit int // bytes of all bodies together

	mu    sync.Mutex
	byURL map[string]*list.Element
	order *list.List // of *kept, the one used last at the front
	bytes int
}

// kept is an answer that does not change any more.
type kept struct {
	url, tag string
	header   http.Header
	body     []byte
}

// NewConditional sends through next.
func NewConditional(next http.RoundTripper) *Conditional {
	return &Conditional{next: next, limit: cachedBytes, byURL: map[string]*list.Element{}, order: list.New()}
}

// RoundTrip sends one request.
func (c *Conditional) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return c.next.RoundTrip(r)
	}
	url := r.URL.String()
	known := c.get(url)
	if known != nil {
		r = r.Clone(r.Context())
		r.Header.Set("If-None-Match", known.tag)
	}
	response, err := c.next.RoundTrip(r)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode == http.StatusNotModified && known != nil:
		return known.answer(response), nil
	case response.StatusCode == http.StatusOK:
		return c.keep(url, response)
	}
	return response, nil
}

// get returns what is kept, or nil.
func (c *Conditional) get(url string) *kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byURL[url]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*kept)
}

// keep notes an answer if it has a tag and is whole: a broken one would come back for ever.
func (c *Conditional) keep(url string, response *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	k := &kept{url: url, tag: response.Header.Get("Etag"), header: response.Header.Clone(), body: body}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byURL[url]; e != nil {
		c.drop(e)
	}
	if k.tag == "" || len(body) > c.limit || !json.Valid(body) {
		return response, nil
	}
	c.byURL[url] = c.order.PushFront(k)
	c.bytes += len(body)
	for c.order.Len() > cachedAnswers || c.bytes > c.limit {
		c.drop(c.order.Back())
	}
	return response, nil
}

// Forget drops an answer that turned out to be of no use, lest it come back.
func (c *Conditional) Forget(r *http.Response) {
	if r == nil || r.Request == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byURL[r.Request.URL.String()]; e != nil {
		c.drop(e)
	}
}

func (c *Conditional) drop(e *list.Element) {
	k := c.order.Remove(e).(*kept)
	delete(c.byURL, k.url)
	c.bytes -= len(k.body)
}

// answer is the kept answer with the newer headers of the one that said so.
func (k *kept) answer(confirmed *http.Response) *http.Response {
	header := k.header.Clone()
	for name, values := range confirmed.Header {
		if !strings.HasPrefix(name, "Content-") {
			header[name] = values
		}
	}
	confirmed.StatusCode, confirmed.Status, confirmed.Header = http.StatusOK, "200 OK", header
	confirmed.Body, confirmed.ContentLength = io.NopCloser(bytes.NewReader(k.body)), int64(len(k.body))
	return confirmed
}
