package main

import (
	"regexp"
	"strings"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/llm"
	"agent/projections"
)

// inherit finds what the latest earlier go at the same task left (seeds/002).
// Whatever goes wrong here, the task goes on as a new one, and the event says why.
func (s *system) inherit(now *projections.State) event.ContextInherited {
	best, reason := s.previous(now)
	if best == nil {
		return event.ContextInherited{Reason: reason}
	}
	text := cutTokens(withoutNames(best.Summary.View()), now.Config.Inherit.MaxTokens)
	best.Summary = event.T(text)
	return *best
}

// previous is the newest context of the task that completed or was stopped, is
// not too old, and has a final summary.
func (s *system) previous(now *projections.State) (*event.ContextInherited, string) {
	var best *event.ContextInherited
	reason := "there was no earlier go at this task"
	oldest := now.Now.AddDate(0, 0, -now.Config.Inherit.ExpiryDays)
	for entry, err := range s.store.List() {
		if err != nil || entry.Place != contexts.Completed {
			continue
		}
		first, err := s.store.First(entry.UUID)
		if err != nil || first.TaskKey != now.Created.TaskKey {
			continue
		}
		left, why := s.left(entry.UUID, oldest)
		if left == nil {
			reason = entry.UUID + ": " + why
			continue
		}
		if best == nil || left.At.After(best.At) {
			best = left
		}
	}
	return best, reason
}

// left reads what one context left.
func (s *system) left(uuid string, oldest time.Time) (*event.ContextInherited, string) {
	left := event.ContextInherited{From: uuid}
	status := projections.Status("")
	for ev, err := range s.store.Events(uuid) {
		if err != nil {
			return nil, "its log cannot be read"
		}
		switch b := ev.Body.(type) {
		case *event.SummaryAdded:
			if b.Purpose == "final" {
				left.Summary, left.Seqs = b.Text, []uint64{ev.Seq}
			}
		case *event.ContextCompleted:
			status, left.At = projections.Completed, ev.Time
		case *event.ContextStopped:
			status, left.At = projections.Stopped, ev.Time
		case *event.ContextFailed:
			status = projections.Failed
		}
	}
	switch {
	case status == projections.Failed:
		return nil, "it failed"
	case status == "":
		return nil, "it has not ended"
	case left.At.Before(oldest):
		return nil, "it is too old"
	case left.Summary.IsZero():
		return nil, "it left no summary"
	}
	return &left, ""
}

var mention = regexp.MustCompile(`@[A-Za-z0-9][A-Za-z0-9._-]*`)

// withoutNames leaves people out of what is inherited.
func withoutNames(text string) string { return mention.ReplaceAllString(text, "@user") }

// cutTokens keeps whole lines, then whole characters, until the estimate fits.
func cutTokens(text string, most int) string {
	for llm.Estimate(text) > most {
		if i := strings.LastIndexByte(text, '\n'); i > 0 {
			text = text[:i]
			continue
		}
		runes := []rune(text)
		text = string(runes[:len(runes)*9/10])
	}
	return text
}
