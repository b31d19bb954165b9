package tell

import (
	"strings"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/internal/loosejson"
	"agent/projections"
)

// Reason says in one sentence why a context is paused or how it ended, and gives
// the detail behind it: what a server said, or a person's words. Both are empty
// while it runs. The detail is as the log has it, not safe for a terminal. own is
// the ending that the log leads to, nil if there is none.
func Reason(s *projections.State, lang i18n.Lang, own *projections.Ending) (sentence, detail string) {
	switch s.Status {
	case projections.Paused:
		return pausedReason(s, lang)
	case projections.Awaiting:
		return i18n.Text(lang, "why.awaiting", format.Clock(s.Wait.Until.Time)), ""
	case projections.Completed:
		return i18n.Text(lang, orOther("end.", s.Last.Reason)), ""
	case projections.Stopped:
		if s.Stop == nil {
			return "", ""
		}
		return i18n.Text(lang, orOther("stop.", s.Stop.By)), s.Stop.Reason
	case projections.Failed:
		return failedReason(s, lang, own)
	default:
		return "", ""
	}
}

func pausedReason(s *projections.State, lang i18n.Lang) (sentence, detail string) {
	p := &projections.Pausing{Reason: s.Paused.Reason, Until: s.Paused.Until}
	_, ofModel := p.Reason.OfModel()
	switch {
	case s.Denied != nil && p.Reason == event.PauseLabels:
		p.Detail = s.Denied.Reason
	case s.Unread != nil && p.Reason == event.PauseUnread:
		p.Detail = s.Unread.Reason
	case s.Image != nil && p.Reason == event.PauseImage:
		p.Detail = s.Image.Message
	case s.Saved.Lost != nil && p.Reason == event.PauseFilesLost:
		p.Detail = s.Saved.Lost.Reason
	case s.Work.Failure != nil && ofModel:
		p.Detail = s.Work.Failure.Message
	}
	return pauseReason(s, lang, p), p.Detail
}

func failedReason(s *projections.State, lang i18n.Lang, own *projections.Ending) (sentence, detail string) {
	v := &projections.Ending{Reason: event.EndReason(s.LastError)}
	if own != nil && own.Reason == v.Reason {
		v = own
	}
	return failReason(lang, v), failDetail(s, v)
}

func pauseReason(s *projections.State, lang i18n.Lang, p *projections.Pausing) string {
	_, ofModel := p.Reason.OfModel()
	switch {
	case p.Reason == event.PauseLimit:
		return limitReason(s, lang)
	case p.Reason == event.PauseOnRequest && p.Until.Kind == "signal":
		return i18n.Text(lang, "why.signal")
	case p.Until.Kind == "time":
		return i18n.Text(lang, "why.model_time", format.Clock(p.Until.Time))
	case ofModel:
		return i18n.Text(lang, orElse("why.", string(p.Reason), "why.model_person"))
	case p.Reason == event.PauseLabels:
		return i18n.Text(lang, deniedText(p.Detail))
	}
	return i18n.Text(lang, forCommands(s, orOther("why.", string(p.Reason))))
}

// forCommands names the text without commands where comments hold none.
func forCommands(s *projections.State, id i18n.ID) i18n.ID {
	if quiet := id + ".quiet"; commandsOff(s) && i18n.Has(quiet) {
		return quiet
	}
	return id
}

// commandsOff reports whether comments hold no commands. Logs of older releases do not say so, and
// there they could approve.
func commandsOff(s *projections.State) bool {
	return s.Config != nil && !s.Config.Commands.Enabled && s.Config.Commands != (event.CommandRule{})
}

// limitReason has the numbers. A grant counts: it is what was reached.
func limitReason(s *projections.State, lang i18n.Lang) string {
	if s.Limit == nil {
		return i18n.Text(lang, "why.limit.lifted")
	}
	l := s.Limit
	return i18n.Text(lang, forCommands(s, "why.limit"), i18n.Text(lang, orOther("limit.", l.Limit)), format.Number(l.Used), format.Number(l.Max+s.Grants[l.Limit]))
}

func failReason(lang i18n.Lang, v *projections.Ending) string {
	if strings.HasPrefix(string(v.Reason), "model_") {
		return i18n.Text(lang, "why.model")
	}
	return i18n.Text(lang, orOther("why.", v.Reason))
}

// failDetail is what went wrong. Of replies that could not be used it is the
// latest one, never our complaint about it.
func failDetail(s *projections.State, v *projections.Ending) string {
	if v.Reason == event.EndUnusableReplies {
		return latestReply(s)
	}
	return v.Text
}

// latestReply is what the model said last: its words, or its calls, or what the
// server said of a reply that it did not hand on.
func latestReply(s *projections.State) string {
	w := &s.Work
	switch {
	case w.Failure != nil:
		return w.Failure.Message
	case w.Latest == nil:
		return ""
	}
	parts := []string{strings.TrimSpace(loosejson.StripThinking(w.Latest.Text.View()))}
	for _, c := range w.Latest.Calls {
		parts = append(parts, c.Name+" "+c.Args.View())
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

// broken says what was wrong with the latest reply, where its text does not show it.
func broken(s *projections.State) string {
	w := &s.Work
	switch {
	case w.Failure != nil:
		return i18n.Text(s.Lang, orElse("broken.", w.Failure.Kind, "broken.other"))
	case w.Refusal != "":
		return i18n.Text(s.Lang, orElse("broken.", w.Refusal, "broken.other"))
	}
	return ""
}

// orOther names a text that is there also for words of a newer release.
func orOther[W ~string](prefix i18n.ID, word W) i18n.ID {
	return orElse(prefix, string(word), "why.other")
}

func orElse(prefix i18n.ID, word string, other i18n.ID) i18n.ID {
	if id := prefix + i18n.ID(word); i18n.Has(id) {
		return id
	}
	return other
}

// deniedText tells apart, by the forge's words, why labels could not be changed: each
// reason has another remedy.
func deniedText(message string) i18n.ID {
	switch message = strings.ToLower(message); {
	case strings.Contains(message, "archived"):
		return "why.labels.archived"
	case strings.Contains(message, "too many labels"), strings.Contains(message, "100 labels"):
		return "why.labels.full"
	}
	return "why.labels"
}
