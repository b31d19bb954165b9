package projections

import (
	"time"

	"agent/eventlog/event"
)

// Usage is what a context has spent. Calls count when they are requested, so
// that one that a crash interrupted counts too.
type Usage struct {
	LLMCalls   int
	ToolCalls  int
	Prompt     int // tokens
	Completion int
	Cached     int
	CostUSD    float64
	Active     time.Duration // time in which a process worked on it
}

// Tokens is the number that limits count.
func (u Usage) Tokens() int { return u.Prompt + u.Completion }

func (u *Usage) apply(e event.Event, before time.Time, status Status) {
	switch b := e.Body.(type) {
	case *event.ProcessStarted:
		return // nobody worked between the last event and this one
	case *event.LLMRequested:
		u.LLMCalls++
	case *event.ToolRequested:
		u.ToolCalls++
	case *event.LLMReplied:
		u.Prompt += b.Usage.Prompt
		u.Completion += b.Usage.Completion
		u.Cached += b.Usage.Cached
		u.CostUSD += b.CostUSD
	}
	if d := e.Time.Sub(before); status == Running && d > 0 && !before.IsZero() {
		u.Active += d
	}
}
