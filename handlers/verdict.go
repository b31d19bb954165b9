package handlers

import (
	"time"

	"agent/eventlog/event"
	"agent/llm"
	"agent/projections"
)

// maxCorrections is how many unusable replies in a row end a task.
const maxCorrections = 5

// maxAttempts is the first model call and its three retries.
const maxAttempts = 4

// maxRepeats is how often the same call may be made in a row.
const maxRepeats = 5

// MaxWait is the longest wait between two tries of a model call that keeps the
// process; longer ones pause the context.
const MaxWait = time.Minute

// verdict says that a context is to end, how, and since which event that stands.
type verdict struct {
	status projections.Status
	reason string
	text   string // for people: the model's closing words, or what went wrong
	since  uint64
}

// verdictOf lets what came first decide: a wish to stop that arrives while the
// closing words are being written changes nothing.
func verdictOf(s *projections.State) *verdict {
	v := outcomeOf(s)
	if s.Stop != nil && (v == nil || s.Stop.Seq < v.since || !closing(s, v)) {
		return &verdict{projections.Stopped, s.Stop.By, s.Stop.Reason, s.Stop.Seq}
	}
	return v
}

// closing is true once the work is published or the closing words are said.
func closing(s *projections.State, v *verdict) bool {
	return s.Done("change", v.since) || s.Done("comment:"+string(v.status), v.since)
}

func outcomeOf(s *projections.State) *verdict {
	w := s.Work
	switch {
	case s.Place != nil && s.Place.Error != "":
		return &verdict{projections.Failed, "workspace", s.Place.Error, 0}
	case w.Failure != nil && fatal(s, w.Failure.Kind):
		return &verdict{projections.Failed, "model_" + w.Failure.Kind, w.Failure.Message, w.FailureSeq}
	case s.Limit != nil && s.Limit.Limit == "calls":
		return &verdict{projections.Completed, "max_calls", "", s.Limit.Seq}
	case s.Expired:
		return &verdict{projections.Completed, "timeout", "", s.Since}
	case thanked(s):
		return &verdict{projections.Completed, "keyword", "", s.Steps["fetch:resume"]}
	case s.Planned():
		return planVerdict(s)
	case w.Reply == nil:
		return nil
	}
	p := Parse(s)
	switch {
	case p.Problem != "" && w.Corrections >= maxCorrections-1, w.Corrections >= maxCorrections:
		return &verdict{projections.Failed, "unusable_replies", p.Problem, w.ReplySeq}
	case p.Done && held(s):
		return nil // a person decides first, see pauseOf
	case p.Done:
		return &verdict{projections.Completed, doneReason(s), p.Comment, w.ReplySeq}
	}
	return nil
}

// fatal reports whether a model failure can be cured neither by time nor by a person's resume.
func fatal(s *projections.State, kind string) bool {
	switch llm.Kind(kind) {
	case llm.Invalid, llm.ContextOverflow:
		return true
	case llm.ToolsRefused:
		return s.Config.Protocol == "tools"
	default:
		return false
	}
}

// Denied is the reason of a pause because the forge did not let us set the
// labels. The trigger label is still there, so it must not count as set again.
const Denied = "labels"

// pausing says that a context is to pause, why, until when, and since which event that stands.
type pausing struct {
	reason string
	detail string
	until  event.Until
	since  uint64
}

func pauseOf(s *projections.State) *pausing {
	w := s.Work
	person := event.Until{Kind: "person"}
	switch {
	case s.Pause != nil:
		return &pausing{"requested", "", requestedUntil(s.Pause.By), s.Pause.Seq}
	case s.Denied != nil:
		return &pausing{Denied, s.Denied.Reason, person, s.Denied.Seq}
	case s.Limit != nil:
		return &pausing{"limit", s.Limit.Limit, person, s.Limit.Seq}
	case held(s):
		return &pausing{projections.HeldBack, "", person, s.Steps["measured"]}
	case w.Repeats >= maxRepeats:
		return &pausing{"repeated_call", "", person, w.ReplySeq}
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

func modelPause(s *projections.State) *pausing {
	w := s.Work
	switch llm.Kind(w.Failure.Kind) {
	case llm.Auth, llm.NotFound, llm.Truncated:
		return &pausing{"model_" + w.Failure.Kind, w.Failure.Message, event.Until{Kind: "person"}, w.FailureSeq}
	case llm.ToolsRefused:
		return nil
	default: // time may help
	}
	wait := w.NotBefore.Sub(w.FailedAt)
	if w.Attempts < maxAttempts && wait <= MaxWait {
		return nil
	}
	until := event.Until{Kind: "time", Time: w.NotBefore}
	if wait < MaxWait {
		until.Time = w.FailedAt.Add(5 * time.Minute)
	}
	return &pausing{"model_" + w.Failure.Kind, w.Failure.Message, until, w.FailureSeq}
}

func pause(s *projections.State, p *pausing) Effect {
	switch {
	case p.reason != Denied && !s.Done("labels:paused", p.since):
		return Act{Intent: pauseLabels(s)}
	case !s.Done("comment:paused", p.since):
		if e := lastProgress(s, string(projections.Paused), p.since); e != nil {
			return e
		}
		return Act{Intent: pauseNotice(s, p)}
	}
	return Record{&event.ContextPaused{Reason: p.reason, Until: p.until}}
}

// finish publishes the work, says so, sets the labels, leaves a summary, and ends.
func finish(s *projections.State, v *verdict) Effect {
	if e := publish(s, v); e != nil {
		return e
	}
	kind := string(v.status)
	switch {
	case !s.Done("comment:"+kind, v.since):
		if e := lastProgress(s, finalStatus(s, v), v.since); e != nil {
			return e
		}
		return Act{Intent: finalComment(s, v)}
	case v.reason == "await" && !s.Done("labels:awaiting", v.since):
		return Act{Intent: awaitLabels(s)}
	case v.reason == "await":
		return Record{awaiting(s)}
	case !s.Done("labels:"+kind, v.since):
		return Act{Intent: finalLabels(s, v)}
	case wantsDraft(s, v) && !s.Done("drafted:summary", v.since):
		return draftSummary(s)
	case !s.Done("summary:final", v.since):
		return Record{finalSummary(s, v)}
	}
	switch v.status {
	case projections.Stopped:
		return Record{&event.ContextStopped{Reason: v.reason}}
	case projections.Failed:
		return Record{&event.ContextFailed{Reason: v.reason}}
	default:
		return Record{&event.ContextCompleted{Reason: v.reason, Partial: incomplete(s, v)}}
	}
}

// incomplete is true if not everything was done that a completed context was to do.
func incomplete(s *projections.State, v *verdict) bool {
	return v.reason == "max_calls" || s.Planned() && partial(s)
}
