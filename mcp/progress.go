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
	heard  chan struct{} // holds one token if there was news
	latest string        // what the server said last
}

func (p *progress) begin() (token int64, s *signs, end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = map[int64]*signs{}
	}
	p.last++
	token, s = p.last, &signs{heard: make(chan struct{}, 1)}
	p.calls[token] = s
	return token, s, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.calls, token)
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
	select {
	case s.heard <- struct{}{}:
	default:
	}
}

// expire ends a call when its server was silent for the timeout, or after the longest
// time that a call may take.
func (s *signs) expire(parent context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(parent, max(timeout, LongestCall))
	go func() {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		for {
			select {
			case <-s.heard:
				timer.Reset(timeout)
			case <-timer.C:
				cancel()
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, cancel
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
