package engine

import (
	"context"
	"errors"
	"math"
	"time"

	"agent/forge"
	"agent/handlers"
	"agent/llm"
)

// How failed contacts are tried again, one policy for each kind:
//
//	model call             the log holds the earliest time of the next try, and Next waits for it or pauses
//	forge, read            tried again in this run
//	forge, write           tried again in this run; then the intent stays open for the next one
//	forge, progress        tried again in this run; then it has failed: the next comment says the same
//
// What a policy does not retry is final for this run.

// forgePolicy bounds the tries of one contact with the forge.
type forgePolicy struct {
	tries   int           // in one run
	longest time.Duration // that a rate limit may ask us to wait
}

var (
	forgeRead     = forgePolicy{tries: 3, longest: handlers.MaxWait}
	forgeWrite    = forgePolicy{tries: 3, longest: handlers.MaxWait}
	forgeProgress = forgePolicy{tries: 3, longest: 10 * time.Second}
)

// next says how long to wait before the next try, and whether there is one.
func (p forgePolicy) next(failed *forge.Error, try int, jitter float64) (wait time.Duration, again bool) {
	switch failed.Kind {
	case forge.RateLimited:
		wait = failed.RetryAfter
	case forge.Ambiguous, forge.Transient:
		wait = backoff(try, jitter)
	default:
		return 0, false
	}
	return wait, try < p.tries && wait <= p.longest
}

// retryRead repeats a read that failed for a reason that may pass.
func retryRead[T any](ctx context.Context, e *Engine, read func() (T, error)) (T, error) {
	for try := 1; ; try++ {
		got, err := read()
		var failed *forge.Error
		if err == nil || ctx.Err() != nil || !errors.As(err, &failed) {
			return got, err
		}
		wait, again := forgeRead.next(failed, try, e.p.Jitter())
		if !again {
			return got, err
		}
		if err := e.p.Sleep(ctx, wait); err != nil {
			return got, err
		}
	}
}

// modelWait is the time until the next try of a model call that failed, 0 if
// time does not help. A server's own wish counts more than ours.
func (e *Engine) modelWait(failed *llm.Error) time.Duration {
	switch failed.Kind {
	case llm.Transient, llm.RateLimited, llm.Timeout:
	default:
		return 0
	}
	if failed.RetryAfter > 0 {
		return failed.RetryAfter + time.Duration(e.p.Jitter()*float64(time.Second)/4)
	}
	return backoff(e.state.Work.Attempts+1, e.p.Jitter())
}

// backoff is how long to wait before try number attempt+1: 1, 2, 4 … 32 seconds
// and up to half as much again; 0 ≤ jitter < 1.
func backoff(attempt int, jitter float64) time.Duration {
	seconds := math.Pow(2, float64(min(attempt, 6)-1)) * (1 + jitter/2)
	return time.Duration(seconds * float64(time.Second))
}
