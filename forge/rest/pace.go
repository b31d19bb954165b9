package rest

import (
	"context"
	"time"
)

// Pacer lets one write through at a time, and each not before an interval after the one before.
type Pacer struct {
	interval time.Duration
	turn     chan time.Time // holds the start of the last write while nobody writes
}

// NewPacer makes a pacer; an interval of 0 only serialises.
func NewPacer(interval time.Duration) Pacer {
	p := Pacer{interval: interval, turn: make(chan time.Time, 1)}
	p.turn <- time.Time{}
	return p
}

// Begin waits for the turn; done gives it back. The error is ctx's own.
func (p Pacer) Begin(ctx context.Context) (done func(), err error) {
	var last time.Time
	select {
	case last = <-p.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	timer := time.NewTimer(p.interval - time.Since(last))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		p.turn <- last
		return nil, ctx.Err()
	}
	start := time.Now()
	return func() { p.turn <- start }, nil
}
