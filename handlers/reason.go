package handlers

import (
	"math"
	"strconv"
	"strings"

	"agent/internal/i18n"
	"agent/internal/loosejson"
	"agent/internal/sanitize"
	"agent/projections"
)

// Reason says in one sentence why a context rests or how it ended, and gives
// the detail behind it: what a server said, or a person's words. Both are empty
// while it runs. The detail is as the log has it, not safe for a terminal.
func Reason(s *projections.State, lang i18n.Lang) (sentence, detail string) {
	switch s.Status {
	case projections.Paused:
		return restReason(s, lang)
	case projections.Awaiting:
		return i18n.Text(lang, "why.awaiting", clock(s.Wait.Until.Time)), ""
	case projections.Completed:
		return i18n.Text(lang, orOther("end.", s.Last.Reason)), ""
	case projections.Stopped:
		if s.Stop == nil {
			return "", ""
		}
		return i18n.Text(lang, orOther("stop.", s.Stop.By)), s.Stop.Reason
	case projections.Failed:
		return failedReason(s, lang)
	default:
		return "", ""
	}
}

func restReason(s *projections.State, lang i18n.Lang) (sentence, detail string) {
	p := &pausing{reason: s.Rest.Reason, until: s.Rest.Until}
	switch {
	case s.Denied != nil && p.reason == Denied:
		p.detail = s.Denied.Reason
	case s.Work.Failure != nil && strings.HasPrefix(p.reason, "model_"):
		p.detail = s.Work.Failure.Message
	}
	return pauseReason(s, lang, p), p.detail
}

func failedReason(s *projections.State, lang i18n.Lang) (sentence, detail string) {
	v := &verdict{reason: s.LastError}
	if now := outcomeOf(s); now != nil && now.reason == v.reason {
		v = now
	}
	return failReason(lang, v), failDetail(s, v)
}

func pauseReason(s *projections.State, lang i18n.Lang, p *pausing) string {
	switch {
	case p.reason == "limit":
		return limitReason(s, lang)
	case p.reason == "requested" && p.until.Kind == "signal":
		return i18n.Text(lang, "why.signal")
	case p.until.Kind == "time":
		return i18n.Text(lang, "why.model_time", clock(p.until.Time))
	case strings.HasPrefix(p.reason, "model_"):
		return i18n.Text(lang, "why.model_person")
	}
	return i18n.Text(lang, orOther("why.", p.reason))
}

// limitReason has the numbers. A grant counts: it is what was reached.
func limitReason(s *projections.State, lang i18n.Lang) string {
	if s.Limit == nil {
		return i18n.Text(lang, "why.limit.lifted")
	}
	l := s.Limit
	return i18n.Text(lang, "why.limit", i18n.Text(lang, orOther("limit.", l.Limit)), number(l.Used), number(l.Max+s.Grants[l.Limit]))
}

func failReason(lang i18n.Lang, v *verdict) string {
	if strings.HasPrefix(v.reason, "model_") {
		return i18n.Text(lang, "why.model")
	}
	return i18n.Text(lang, orOther("why.", v.reason))
}

// failDetail is what went wrong. Of replies that could not be used it is the
// latest one, which tells more than our complaint about it.
func failDetail(s *projections.State, v *verdict) string {
	if v.reason == "unusable_replies" && s.Work.Reply != nil {
		if said := strings.TrimSpace(loosejson.StripThinking(s.Work.Reply.Text.View())); said != "" {
			return said
		}
	}
	return v.text
}

// orOther names a text that is there also for words of a newer release.
func orOther(prefix i18n.ID, word string) i18n.ID {
	if id := prefix + i18n.ID(word); i18n.Has(id) {
		return id
	}
	return "why.other"
}

// number shows an amount without an exponent, money to a hundredth of a cent.
func number(x float64) string {
	const parts = 1e4
	return strconv.FormatFloat(math.Round(x*parts)/parts, 'f', -1, 64)
}

// inPlaceLine says where a change is that nobody published. Only the last name
// of the directory is told: the whole path is the operator's business.
func inPlaceLine(s *projections.State) string {
	dir := s.Place.Dir[strings.LastIndexByte(strings.TrimRight(s.Place.Dir, "/"), '/')+1:]
	return i18n.Text(s.Lang, "change.inplace", code(sanitize.Line(dir, 120)))
}

// ChangedInPlace tells whether files were written in the configured workspace,
// where nothing commits them.
func ChangedInPlace(s *projections.State) bool {
	return s.Place != nil && s.Place.InPlace && len(s.Work.Files) > 0
}
