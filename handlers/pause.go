package handlers

import (
	"cmp"
	"time"

	"agent/eventlog/event"
	"agent/handlers/tell"
	"agent/projections"
)

// maxAttempts is the first model call and its three retries.
const maxAttempts = 4

// maxRepeats is in how many replies in a row the same call may be made, unless
// the configuration says otherwise.
const maxRepeats = 5

// MaxWait is the longest wait between two tries of a model call that keeps the
// process; longer ones pause the context.
const MaxWait = time.Minute

func pauses(reason event.PauseReason, detail string, until event.Until, since uint64) *projections.Pausing {
	return &projections.Pausing{Reason: reason, Detail: detail, Until: until, Since: since}
}

// pauseOf says why the context is to pause, nil if it goes on.
func pauseOf(s *projections.State) *projections.Pausing {
	w := s.Work
	person := event.Until{Kind: "person"}
	switch {
	case s.Pause != nil:
		return pauses(event.PauseOnRequest, "", requestedUntil(s.Pause.By), s.Pause.Seq)
	case s.Denied != nil:
		return pauses(event.PauseLabels, s.Denied.Reason, person, s.Denied.Seq)
	case s.Unseen != nil && s.Done(projections.LabelsStart, 0):
		return pauses(event.PauseText, s.Unseen.By, person, s.Unseen.Seq)
	case s.Unread != nil:
		return pauses(event.PauseUnread, s.Unread.Reason, person, s.Unread.Seq)
	case s.Image != nil && s.Image.Lasting:
		return pauses(event.PauseImage, s.Image.Message, person, s.Image.Seq)
	case s.Saved.Changed != nil && s.Saved.Changed.Reason != "":
		return pauses(event.PauseFilesUnreadable, "", person, s.Saved.Changed.Seq)
	case s.Saved.Changed != nil:
		return pauses(event.PauseFilesChanged, "", person, s.Saved.Changed.Seq)
	case s.Saved.Lost != nil:
		return pauses(event.PauseFilesLost, s.Saved.Lost.Reason, person, s.Saved.Lost.Seq)
	case s.Limit != nil:
		return pauses(event.PauseLimit, s.Limit.Limit, person, s.Limit.Seq)
	case needsApproval(s):
		return pauses(event.PauseChange, "", person, s.Steps[projections.StepMeasured])
	case w.Repeats >= cmp.Or(s.Config.Limits.RepeatedCalls, maxRepeats):
		return pauses(event.PauseRepeatedCall, "", person, w.ReplySeq)
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
	wait, tries := w.NotBefore.Sub(w.FailedAt), maxAttempts
	if s.Probing() {
		tries = 1
	}
	if w.Attempts < tries && wait <= MaxWait {
		return nil
	}
	until := event.Until{Kind: "time", Time: w.NotBefore}
	if distance := outageWait(s.Outage.Pauses); wait < MaxWait || s.Probing() && wait < distance {
		until.Time = w.FailedAt.Add(distance)
	}
	return pauses(event.ModelPause(w.Failure.Kind), w.Failure.Message, until, w.FailureSeq)
}

// outageWait is the time to the next try after so many pauses of an outage: 5,
// 10, 20, 40 and then 60 minutes.
func outageWait(pauses int) time.Duration {
	return min(5*time.Minute<<min(pauses, 4), time.Hour)
}

// pause says so and pauses. An outage that goes on is no news.
func pause(s *projections.State, p *projections.Pausing) Effect {
	known := s.Probing()
	switch {
	case !known && p.Reason != event.PauseLabels && !s.Done(projections.LabelsPaused, p.Since):
		return Act{Intent: pauseLabels(s)}
	case !(known && p.Until.Kind == "time") && !s.Done(projections.CommentPaused, p.Since):
		if e := keepPaused(s, p); e != nil {
			return e
		}
		if e := lastProgress(s, string(projections.Paused), p.Since); e != nil {
			return e
		}
		return Act{Intent: tell.Paused(s, p, reasonsFor(s, p))}
	}
	return Record{&event.ContextPaused{Reason: p.Reason, Until: p.Until}}
}

// reasonsFor are what a person has to approve, if that is what the pause is for.
func reasonsFor(s *projections.State, p *projections.Pausing) []tell.ApprovalReason {
	if p.Reason != event.PauseChange {
		return nil
	}
	return approvalReasons(s)
}
