package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	longestLimit  = time.Hour   // is believed. The longest known one is an hour
	shortestLimit = time.Minute // is remembered. Shorter ones are over before the next round
)

// Limits sends nothing where a rate limit is used up, until its reset. It remembers
// that for later processes, too: each of them would spend requests to learn it, and a
// forge may lock out who goes on asking.
type Limits struct {
	next http.RoundTripper
	disk *Disk
	name string
	used func(*http.Response, []byte) (bucket string, wait time.Duration)
	of   func(*http.Request) []string
	now  func() time.Time

	mu   sync.Mutex
	read bool
	full map[string]limit
}

// limit is a refusal that holds for a while.
type limit struct {
	Until   time.Time `json:"until"`
	Status  int       `json:"status"`
	Message string    `json:"message"`
}

// LimitsConfig says what differs between forges.
type LimitsConfig struct {
	Disk *Disk  // nil: nothing is remembered
	Who  string // whose limits they are: the API and its account or token
	// Used names the limit that an answer says is used up, and for how long; "" for all other answers.
	Used func(r *http.Response, body []byte) (bucket string, wait time.Duration)
	Of   func(*http.Request) []string // the limits that a request counts for
}

// NewLimits sends through next, which gives bodies that are in memory.
func NewLimits(next http.RoundTripper, c LimitsConfig) http.RoundTripper {
	if c.Disk == nil {
		return next
	}
	return &Limits{next: next, disk: c.Disk, name: "limits " + c.Who, used: c.Used, of: c.Of, now: time.Now, full: map[string]limit{}}
}

// RoundTrip sends one request, or answers like the forge did when the limit was used up.
func (l *Limits) RoundTrip(r *http.Request) (*http.Response, error) {
	if refusal := l.refusal(r); refusal != nil {
		return refusal, nil
	}
	response, err := l.next.RoundTrip(r)
	if err != nil || response.StatusCode < http.StatusBadRequest {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	if bucket, wait := l.used(response, body); bucket != "" && wait >= shortestLimit {
		var said struct{ Message string }
		_ = json.Unmarshal(body, &said) // a page says nothing
		l.note(bucket, limit{l.now().Add(min(wait, longestLimit)), response.StatusCode, Line(said.Message)})
	}
	return response, nil
}

func (l *Limits) refusal(r *http.Request) *http.Response {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.read {
		l.load()
	}
	for _, bucket := range l.of(r) {
		full, known := l.full[bucket]
		left := full.Until.Sub(l.now())
		if !known || left <= 0 || left > longestLimit { // the clock was put back
			continue
		}
		body, _ := json.Marshal(map[string]string{"message": full.Message})
		return &http.Response{StatusCode: full.Status, Status: http.StatusText(full.Status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
			Header: http.Header{"Content-Type": {"application/json"}, "Retry-After": {strconv.Itoa(int(left.Seconds()) + 1)}},
			Body:   io.NopCloser(strings.NewReader(string(body))), ContentLength: int64(len(body))}
	}
	return nil
}

func (l *Limits) note(bucket string, full limit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.full[bucket] = full
	if data, err := json.Marshal(l.full); err == nil {
		l.disk.save(l.disk.path(l.name), data)
	}
}

// load needs the mutex.
func (l *Limits) load() {
	l.read = true
	if data, err := l.disk.load(l.disk.path(l.name)); err == nil && json.Unmarshal(data, &l.full) != nil || l.full == nil {
		l.full = map[string]limit{} // it is learnt again
	}
}

// Who names the limits of a token, without telling it.
func Who(base *url.URL, token string) string { return base.String() + " " + sum([]byte(token))[:8] }
