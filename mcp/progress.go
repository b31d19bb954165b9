package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

// LongestCall bounds a call whose server goes on reporting progress.
const LongestCall = 2 * time.Hour

// progress passes the progress notifications of a server on to the calls that they
// are about. A call has a token of its own.
type progress struct {
	mu    sync.Mutex
	last  int64
	calls map[int64]*signs
}

// signs are the signs of life of one call.
type signs struct {
	timeout time.Duration
	expires *time.Timer
	latest  string // what the server said last
}

// begin gives a call a token, and a context that ends when the server was silent for the
// timeout, or after the longest time that a call may take.
func (p *progress) begin(parent context.Context, timeout time.Duration) (ctx context.Context, token int64, s *signs, end func()) {
	ctx, cancel := context.WithTimeout(parent, max(timeout, LongestCall))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = map[int64]*signs{}
	}
	p.last++
	token, s = p.last, &signs{timeout: timeout, expires: time.AfterFunc(timeout, cancel)}
	p.calls[token] = s
	return ctx, token, s, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.calls, token)
		s.expires.Stop()
		cancel()
	}
}

// notify takes any notification of the server.
func (p *progress) notify(n protocol.JSONRPCNotification) {
	if n.Method != "notifications/progress" {
		return
	}
	number, ok := n.Params.AdditionalFields["progressToken"].(float64)
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.calls[int64(number)]
	if !ok || s == nil {
		return
	}
	if said, ok := n.Params.AdditionalFields["message"].(string); ok {
		s.latest = said[max(0, len(said)-maxMessage/2):]
	}
	s.expires.Reset(s.timeout)
}

// silence is what is known of a call that had no answer in time.
func (p *progress) silence(s *signs, timeout time.Duration) *Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	message := fmt.Sprintf("no answer within %v", timeout)
	if s.latest != "" {
		message += "; its latest progress: " + s.latest
	}
	return &Error{Kind: TimedOut, Message: message}
}
