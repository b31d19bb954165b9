package engine

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/projections"
)

// TestSilenceIsNoAnswer: a loop had asked a forge with a used-up limit five times within eleven
// seconds, took that for a no, and ended the task without its pull request.
func TestSilenceIsNoAnswer(t *testing.T) {
	began := time.Date(2026, 11, 29, 5, 50, 0, 0, time.UTC)
	no := &event.ChangeFailed{}
	for name, c := range map[string]struct {
		kind  forge.ErrorKind
		runs  int
		after time.Duration
		final bool
	}{
		"a limit, soon":              {forge.RateLimited, 5, 11 * time.Second, false},
		"a limit, after a day":       {forge.RateLimited, 500, 24 * time.Hour, false},
		"errors, soon":               {forge.Transient, 500, 5*time.Hour + 59*time.Minute, false},
		"errors, in few runs":        {forge.Transient, 4, 24 * time.Hour, false},
		"errors, often and for long": {forge.Transient, 5, 6 * time.Hour, true},
		"lost answers":               {forge.Ambiguous, 5, 6 * time.Hour, true},
		"lost answers, soon":         {forge.Ambiguous, 5, time.Minute, false},
		"a definite no":              {forge.Invalid, 0, 0, true},
	} {
		e := &Engine{p: Ports{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return began.Add(c.after) }},
			state: &projections.State{OpenRuns: c.runs, Open: &projections.Open{Time: began}}}
		got, err := e.giveUp(write{maxRuns: maxRuns, refused: func(*forge.Error) event.Body { return no }}, &forge.Error{Kind: c.kind})
		var later *Temporary
		if final := got == event.Body(no) && err == nil; final != c.final || !final && !errors.As(err, &later) {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
}
