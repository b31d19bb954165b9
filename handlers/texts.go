package handlers

import (
	"strings"
	"time"
	"unicode/utf8"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

// maxComment is the longest comment in characters that any forge takes, less
// room for the hidden marker.
const maxComment = 60000

// words makes text from a model safe to post, see package sanitize.
func words(s *projections.State, text string) string {
	return strings.TrimSpace(sanitize.Output(text, []string{s.Key.Host}))
}

// clock is a time as people and models are shown it: UTC, to the second.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// code shows a short text as code, on one line.
func code(text string) string {
	return "`" + strings.ReplaceAll(firstRunes(oneLine(sanitize.Terminal(text)), 120), "`", "'") + "`"
}

func comment(s *projections.State, purpose, body string) *event.CommentRequested {
	body = sanitize.Cut(body, maxComment, i18n.Text(s.Lang, "cut"))
	return &event.CommentRequested{Purpose: purpose, Body: event.T(body)}
}

func notice(s *projections.State, purpose string) *event.CommentRequested {
	return comment(s, purpose, i18n.Text(s.Lang, i18n.ID(purpose+".head")))
}

func pauseNotice(s *projections.State, p *pausing) *event.CommentRequested {
	head := i18n.Text(s.Lang, "paused.head")
	if p.until.Kind == "person" && p.reason != "requested" {
		head += mention(s)
	}
	reason := strings.ReplaceAll(pauseReason(s, s.Lang, p), "`agent resume`", "`agent resume "+shortID(s.Created.UUID)+"`")
	body := head + "\n\n" + i18n.Text(s.Lang, "reason", reason)
	if p.reason == projections.HeldBack {
		lines := objections(s)
		body += "\n\n- " + strings.Join(lines[:min(len(lines), shownFiles)], "\n- ") + more(lines) + "\n\n" + facts(s, &verdict{})
	}
	if p.detail != "" && p.reason != "limit" && !unanswered(s) {
		body += "\n\n" + code(p.detail)
	}
	return comment(s, "paused", body)
}

// unanswered is true if no server answered the latest model call.
func unanswered(s *projections.State) bool {
	return s.Work.Failure != nil && projections.Unanswered(s.Work.Failure)
}

// finalComment is always a new comment: the last word on this go.
func finalComment(s *projections.State, v *verdict) *event.CommentRequested {
	said, parts := "", []string{}
	switch v.status {
	case projections.Completed:
		if v.byModel() {
			said, parts = closingWords(s, v), []string{unverified(s, v)}
		}
		parts = append(parts, planLine(s), changeLine(s), awaitLine(s, v))
	case projections.Failed:
		parts = append(parts, i18n.Text(s.Lang, "reason", failReason(s.Lang, v)), failLine(s, v))
	case projections.Stopped:
		parts = append(parts, i18n.Text(s.Lang, "reason", i18n.Text(s.Lang, i18n.ID("stop."+v.reason))), words(s, v.text))
	default: // not the end of a task
	}
	body := joinParts([]string{finalHead(s, v), before(s, said, joinParts(append(parts, facts(s, v))))})
	return comment(s, string(v.status), body)
}

// headRoom is how many characters stand above a model's words at most.
const headRoom = 500

// before puts what a model said before what is known, and cuts it where both have
// no room: what it said must not push out what belies it.
func before(s *projections.State, said, known string) string {
	room := maxComment - headRoom - utf8.RuneCountInString(known)
	return joinParts([]string{sanitize.Cut(said, room, i18n.Text(s.Lang, "cut")), known})
}

func finalHead(s *projections.State, v *verdict) string {
	head := i18n.Text(s.Lang, i18n.ID(string(v.status)+".head"))
	switch {
	case v.reason == "keyword" || v.reason == "timeout":
		return i18n.Text(s.Lang, i18n.ID("closed."+v.reason))
	case v.reason == "max_calls":
		head = i18n.Text(s.Lang, "limit.head", s.Config.Limits.MaxCalls)
	case v.status == projections.Completed && s.Planned() && partial(s):
		head = i18n.Text(s.Lang, "partial.head")
	case v.status == projections.Completed:
		head = i18n.Text(s.Lang, "done.head")
	}
	return head + mention(s)
}

// mention names the task's author, so that somebody notices.
func mention(s *projections.State) string {
	author := addressee(s)
	if author == "" {
		return ""
	}
	return " @" + author
}

func closingWords(s *projections.State, v *verdict) string {
	if text := words(s, v.text); text != "" {
		return text
	}
	return i18n.Text(s.Lang, "done.empty")
}

func awaitLine(s *projections.State, v *verdict) string {
	if v.reason != "await" {
		return ""
	}
	return i18n.Text(s.Lang, "await.foot", s.Config.FollowUp.TimeoutHours)
}

func failLine(s *projections.State, v *verdict) string {
	detail := codeOrNothing(failDetail(s, v))
	if v.reason == "unusable_replies" && detail != "" {
		return i18n.Text(s.Lang, "reply.latest", detail)
	}
	return detail
}

func codeOrNothing(text string) string {
	if text == "" {
		return ""
	}
	return code(text)
}

func joinParts(parts []string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n\n")
}
