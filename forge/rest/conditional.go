package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

const (
	cachedBytes = 8 << 20
	cachedFront = 1 << 20 // where the disk has all answers
	perAnswer   = 512     // bytes of an answer beside its body, about
)

// Conditional asks of what was read before only whether it changed: such
// answers cost little, and on GitHub nothing of the rate limit. Nothing is taken
// from the cache without asking. It keeps answers in memory, and in disk as well if
// there is one. What no longer fits in memory goes at random: lists are read in a
// cycle, of which an order by last use would keep nothing.
type Conditional struct {
	next  http.RoundTripper
	disk  *Disk // nil: memory only
	limit int   // bytes in memory

	mu    sync.Mutex
	byURL map[string]*kept
	bytes int
}

// kept is an answer that does not change any more.
type kept struct {
	url, tag string
	header   http.Header
	body     []byte
}

func (k *kept) size() int { return len(k.body) + perAnswer }

// NewConditional sends through next. disk may be nil.
func NewConditional(next http.RoundTripper, disk *Disk) *Conditional {
	limit := cachedBytes
	if disk != nil {
		limit = cachedFront
	}
	return &Conditional{next: next, disk: disk, limit: limit, byURL: map[string]*kept{}}
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
	k := c.byURL[url]
	c.mu.Unlock()
	if k != nil {
		return k
	}
	if k = c.disk.read(url); k != nil {
		c.put(k)
	}
	return k
}

// keep notes an answer if it has a tag and is whole: a broken one would come back for ever.
func (c *Conditional) keep(url string, response *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	k := &kept{url: url, tag: response.Header.Get("Etag"), header: http.Header{}, body: bytes.Clone(body)} // it lasts: no more room than it needs
	for _, name := range lasting {
		if values := response.Header.Values(name); len(values) > 0 {
			k.header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if k.tag == "" || !json.Valid(body) {
		c.drop(url)
		return response, nil
	}
	c.put(k)
	c.disk.write(k)
	return response, nil
}

// put keeps an answer in memory.
func (c *Conditional) put(k *kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(k.url)
	if k.size() > c.limit {
		return
	}
	for url := range c.byURL { // in random order
		if c.bytes+k.size() <= c.limit {
			break
		}
		c.remove(url)
	}
	c.byURL[k.url] = k
	c.bytes += k.size()
}

// remove needs the mutex.
func (c *Conditional) remove(url string) {
	if k := c.byURL[url]; k != nil {
		c.bytes -= k.size()
		delete(c.byURL, url)
	}
}

// Forget drops an answer that turned out to be of no use, lest it come back.
func (c *Conditional) Forget(r *http.Response) {
	if r != nil && r.Request != nil {
		c.drop(r.Request.URL.String())
	}
}

func (c *Conditional) drop(url string) {
	c.mu.Lock()
	c.remove(url)
	c.mu.Unlock()
	c.disk.remove(url)
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
