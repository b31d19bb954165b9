// Package tell renders what people are told: the comments on a task, the progress of
// the work, the text of a change, and the evidence behind a claim. Everything in it
// is a pure function of the state; when a comment is due is decided in package
// handlers.
//
// Text from a model is made safe before it is shown (package sanitize). No text is
// longer than a forge takes.
package tell

import (
	"strings"
	"unicode/utf8"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

// Inherited says that an earlier attempt is taken into account: its summary, if there
// is one, and its unfinished work.
func Inherited(s *projections.State, summary bool) *event.CommentRequested {
	var parts []string
	if in := s.Inherited; summary {
		parts = append(parts, i18n.Text(s.Lang, "inherited.notice", format.ShortID(in.From), format.Clock(in.At)))
	}
	switch c := s.Workspace.Continued; {
	case c.From == "":
	case c.Error != "":
		parts = append(parts, i18n.Text(s.Lang, "continued.fresh", format.ShortID(c.From), format.Code(c.Error)))
	case c.Branch != "":
		parts = append(parts, i18n.Text(s.Lang, "continued.branch", format.ShortID(c.From), format.Code(c.Branch)))
	default:
		parts = append(parts, i18n.Text(s.Lang, "continued.patch", format.ShortID(c.From)))
	}
	return Comment(s, "inherited", format.Paragraphs(parts))
}

// planLine says in the final comment how much of the plan was done.
func planLine(s *projections.State) string {
	p := &s.Planning
	if !s.Planned() || len(p.Actions) == 0 {
		return ""
	}
	return i18n.Text(s.Lang, "plan.done", p.Count("success"), len(p.Actions))
}

// ConfirmQuestion asks people whether to change the plan as the model wishes.
func ConfirmQuestion(s *projections.State, d event.Replan) string {
	return i18n.Text(s.Lang, "clarify.confirm", i18n.Text(s.Lang, orOther("replan.", d.Type)), format.First(format.OneLine(d.Reasoning), 500))
}

// Questions asks people what the model wants to know.
func Questions(s *projections.State) *event.CommentRequested {
	lines := []string{i18n.Text(s.Lang, "clarify.head") + mention(s), ""}
	for _, q := range s.Planning.Questions {
		lines = append(lines, "- "+line(s, q, longestNote))
	}
	lines = append(lines, "", i18n.Text(s.Lang, "clarify.foot", PatienceHours(s)))
	return Comment(s, "clarification", strings.Join(lines, "\n"))
}

// PatienceHours is how long an answer is waited for; then the work goes on with assumptions.
func PatienceHours(s *projections.State) int {
	if hours := s.Config.FollowUp.TimeoutHours; hours > 0 {
		return hours
	}
	return 24
}

// MaxComment is the longest comment in characters that any forge takes, less
// room for the hidden marker.
const MaxComment = 60000

// words makes text from a model safe to post, see package sanitize.
func words(s *projections.State, text string) string {
	return strings.TrimSpace(sanitize.Output(text, []string{s.Key.Host}))
}

// Comment is a comment of ours, cut to the length that forges take.
func Comment(s *projections.State, purpose, body string) *event.CommentRequested {
	body = sanitize.Cut(body, MaxComment, i18n.Text(s.Lang, "cut"))
	return &event.CommentRequested{Purpose: purpose, Body: event.T(body)}
}

// Notice is a comment with a fixed text.
func Notice(s *projections.State, purpose string) *event.CommentRequested {
	return Comment(s, purpose, i18n.Text(s.Lang, i18n.ID(purpose+".head")))
}

// Resumed says that the work goes on, once it is known whether the new comments could
// be read.
func Resumed(s *projections.State) *event.CommentRequested {
	text := i18n.ID("resumed.head")
	switch {
	case !s.Config.Comments.Enabled:
		text = "resumed.plain"
	case s.Comments.Error != "":
		text = "resumed.unread"
	}
	c := Comment(s, "resumed", i18n.Text(s.Lang, text))
	c.Edit = s.Outage.Comment
	return c
}

// OutageOver says in the comment on an outage that it is over.
func OutageOver(s *projections.State) *event.CommentRequested {
	c := Comment(s, "resumed", i18n.Text(s.Lang, "resumed.outage", format.Clock(s.Outage.Since), format.Clock(s.Now)))
	c.Edit = s.Outage.Comment
	return c
}

// Paused says why the work pauses and how it goes on.
func Paused(s *projections.State, p *projections.Pausing, reasons []ApprovalReason) *event.CommentRequested {
	head := i18n.Text(s.Lang, "paused.head")
	if p.Until.Kind == "person" && p.Reason != event.PauseOnRequest {
		head += mention(s)
	}
	reason := pauseReason(s, s.Lang, p)
	if p.Until.Kind == "time" {
		reason = i18n.Text(s.Lang, "paused.outage", format.Clock(p.Until.Time))
	}
	body := head + "\n\n" + i18n.Text(s.Lang, "reason", runnable(s, reason))
	if p.Reason == event.PauseChange {
		lines := ApprovalLines(s.Lang, reasons)
		body += "\n\n- " + strings.Join(lines[:min(len(lines), shownFiles)], "\n- ") + more(lines) + "\n\n" + facts(s, &projections.Ending{})
	}
	if p.Detail != "" && p.Reason != event.PauseLimit && (s.Work.Failure == nil || !projections.Unanswered(s.Work.Failure)) {
		body += "\n\n" + format.Code(p.Detail)
	}
	c := Comment(s, "paused", format.Paragraphs([]string{body, pausedWork(s, p)}))
	if p.Until.Kind == "time" {
		c.Edit = s.Outage.Comment
	}
	return c
}

// Final is always a new comment: the last word on this go.
func Final(s *projections.State, v *projections.Ending) *event.CommentRequested {
	said, parts := "", []string{}
	switch v.Status {
	case projections.Completed:
		if v.ByModel() {
			said, parts = closingWords(s, v), []string{unverified(s, v)}
		}
		parts = append(parts, planLine(s), changeLine(s), awaitLine(s, v))
	case projections.Failed:
		parts = append(parts, i18n.Text(s.Lang, "reason", failReason(s.Lang, v)), failLine(s, v), workLine(s, v))
	case projections.Stopped:
		parts = append(parts, i18n.Text(s.Lang, "reason", i18n.Text(s.Lang, i18n.ID("stop."+v.Reason))), words(s, v.Text), workLine(s, v))
	default: // not the end of a task
	}
	body := format.Paragraphs([]string{finalHead(s, v), before(s, said, format.Paragraphs(append(parts, facts(s, v))))})
	return Comment(s, string(v.Status), body)
}

// RoundFailed says why a round failed that answers the author, and whether another
// answer is waited for.
func RoundFailed(s *projections.State, v *projections.Ending, last bool) *event.CommentRequested {
	wait := &projections.Ending{Reason: event.EndAwaiting}
	if last {
		wait.Reason = "max_rounds"
	}
	return Comment(s, "round", format.Paragraphs([]string{i18n.Text(s.Lang, "round.failed") + mention(s),
		i18n.Text(s.Lang, "reason", failReason(s.Lang, v)), failLine(s, v), workLine(s, v), awaitLine(s, wait), facts(s, v)}))
}

// headRoom is how many characters stand above a model's words at most.
const headRoom = 500

// before puts what a model said before what is known, and cuts it where both have
// no room: what it said must not push out what belies it.
func before(s *projections.State, said, known string) string {
	room := MaxComment - headRoom - utf8.RuneCountInString(known)
	return format.Paragraphs([]string{sanitize.Cut(said, room, i18n.Text(s.Lang, "cut")), known})
}

func finalHead(s *projections.State, v *projections.Ending) string {
	head := i18n.Text(s.Lang, i18n.ID(string(v.Status)+".head"))
	switch {
	case v.Reason == event.EndKeyword || v.Reason == event.EndTimeout:
		return i18n.Text(s.Lang, i18n.ID("closed."+v.Reason))
	case v.Reason == event.EndMaxCalls:
		head = i18n.Text(s.Lang, "limit.head", s.Config.Limits.MaxCalls)
	case v.Status == projections.Completed && s.Planned() && s.PlanIncomplete():
		head = i18n.Text(s.Lang, "partial.head")
	case v.Status == projections.Completed:
		head = i18n.Text(s.Lang, "done.head")
	}
	return head + mention(s)
}

// mention names the task's author, so that somebody notices.
func mention(s *projections.State) string {
	author := s.Addressee()
	if author == "" {
		return ""
	}
	return " @" + author
}

func closingWords(s *projections.State, v *projections.Ending) string {
	if text := words(s, v.Text); text != "" {
		return text
	}
	return i18n.Text(s.Lang, "done.empty")
}

func awaitLine(s *projections.State, v *projections.Ending) string {
	switch v.Reason {
	case "max_rounds":
		return i18n.Text(s.Lang, "await.over", s.Config.FollowUp.MaxRounds)
	case "await":
	default:
		return ""
	}
	return i18n.Text(s.Lang, "await.foot", s.Config.FollowUp.TimeoutHours)
}

func failLine(s *projections.State, v *projections.Ending) string {
	detail := codeOrNothing(failDetail(s, v))
	if v.Reason != event.EndUnusableReplies {
		return detail
	}
	if detail != "" {
		from := i18n.ID("reply.latest")
		if s.Work.Failure != nil {
			from = "reply.server"
		}
		detail = i18n.Text(s.Lang, from, detail)
	}
	return format.Paragraphs([]string{broken(s), detail})
}

func codeOrNothing(text string) string {
	if text == "" {
		return ""
	}
	return format.Code(text)
}
