package main

import (
	"cmp"
	"regexp"
	"slices"
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
// not too old, and has a final summary. One that cannot be read is passed over.
func (s *system) previous(now *projections.State) (*event.ContextInherited, string) {
	all, err := s.store.OfTask(now.Created.TaskKey)
	if err != nil {
		return nil, "earlier goes at this task cannot be read: " + err.Error()
	}
	slices.SortStableFunc(all, func(a, b contexts.Info) int { return b.Ended.Compare(a.Ended) })
	oldest := now.Now.AddDate(0, 0, -now.Config.Inherit.ExpiryDays)
	reason := ""
	for _, info := range all {
		if info.UUID == now.Created.UUID {
			continue
		}
		why := excluded(info, oldest)
		if why == "" {
			var left *event.ContextInherited
			if left, why = s.left(info); left != nil {
				return left, ""
			}
		}
		if reason == "" {
			reason = info.UUID + ": " + why
		}
	}
	return nil, cmp.Or(reason, "there was no earlier go at this task")
}

// excluded says why a context is not inherited, as far as the index knows.
func excluded(info contexts.Info, oldest time.Time) string {
	switch {
	case info.Err != nil:
		return "its log cannot be read"
	case info.State == contexts.StateFailed:
		return "it failed"
	case !info.Heritable():
		return "it has not ended"
	case info.Ended.Before(oldest):
		return "it is too old"
	}
	return ""
}

// left reads what one context left.
func (s *system) left(info contexts.Info) (*event.ContextInherited, string) {
	left := event.ContextInherited{From: info.UUID, At: info.Ended}
	for ev, err := range s.store.Events(info.UUID) {
		if err != nil {
			return nil, "its log cannot be read"
		}
		if b, ok := ev.Body.(*event.SummaryAdded); ok && b.Purpose == "final" {
			left.Summary, left.Seqs = b.Text, []uint64{ev.Seq}
		}
	}
	if left.Summary.IsZero() {
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
