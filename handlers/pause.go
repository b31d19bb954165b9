package handlers

import (
	"time"

	"agent/eventlog/event"
	"agent/handlers/tell"
	"agent/projections"
)

// maxAttempts is the first model call and its three retries.
const maxAttempts = 4

// maxRepeats is how often the same call may be made in a row.
const maxRepeats = 5

// MaxWait is the longest wait between two tries of a model call that keeps the
// process; longer ones pause the context.
const MaxWait = time.Minute

func pauses(reason, detail string, until event.Until, since uint64) *projections.Pausing {
	return &projections.Pausing{Reason: reason, Detail: detail, Until: until, Since: since}
}

// pauseOf says why the context is to pause, nil if it goes on.
func pauseOf(s *projections.State) *projections.Pausing {
	w := s.Work
	person := event.Until{Kind: "person"}
	switch {
	case s.Pause != nil:
		return pauses("requested", "", requestedUntil(s.Pause.By), s.Pause.Seq)
	case s.Denied != nil:
		return pauses(projections.Denied, s.Denied.Reason, person, s.Denied.Seq)
	case s.Limit != nil:
		return pauses("limit", s.Limit.Limit, person, s.Limit.Seq)
	case needsApproval(s):
		return pauses(projections.HeldBack, "", person, s.Steps["measured"])
	case w.Repeats >= maxRepeats:
		return pauses("repeated_call", "", person, w.ReplySeq)
	case w.Failure != nil:
		return modelPause(s)
	}
	return nil
}

func requestedUntil(by string) event.Until {
	if by == "signal_file" {
		return event.Until{Kind: "signal"}
	}
	return event.Until{Kind: "person"}
}

// retryLater pauses for a time once the tries of this run are used up.
func retryLater(s *projections.State) *projections.Pausing {
	w := &s.Work
	wait := w.NotBefore.Sub(w.FailedAt)
	if w.Attempts < maxAttempts && wait <= MaxWait {
		return nil
	}
	until := event.Until{Kind: "time", Time: w.NotBefore}
	if wait < MaxWait {
		until.Time = w.FailedAt.Add(5 * time.Minute)
	}
	return pauses("model_"+w.Failure.Kind, w.Failure.Message, until, w.FailureSeq)
}

func pause(s *projections.State, p *projections.Pausing) Effect {
	switch {
	case p.Reason != projections.Denied && !s.Done("labels:paused", p.Since):
		return Act{Intent: pauseLabels(s)}
	case !s.Done("comment:paused", p.Since):
		if e := lastProgress(s, string(projections.Paused), p.Since); e != nil {
			return e
		}
		return Act{Intent: tell.Paused(s, p, reasonsFor(s, p))}
	}
	return Record{&event.ContextPaused{Reason: p.Reason, Until: p.Until}}
}

// reasonsFor are what a person has to approve, if that is what the pause is for.
func reasonsFor(s *projections.State, p *projections.Pausing) []tell.ApprovalReason {
	if p.Reason != projections.HeldBack {
		return nil
	}
	return approvalReasons(s)
}
