package viewer

import (
	"cmp"
	"fmt"
	"strings"

	"agent/eventlog/event"
	"agent/internal/i18n"
)

// Words says in a sentence what an event means to people: why the context paused, waits or
// ended, who asked for what, and which limit was reached. It is "" for other events. The
// text may hold anything that was in the event, as that of projections.Describe.
func Words(ev event.Event, lang i18n.Lang) string {
	say := func(id i18n.ID, args ...any) string { return i18n.Text(lang, id, args...) }
	switch b := ev.Body.(type) {
	case *event.ContextPaused:
		return pauseWords(b, lang)
	case *event.ContextAwaiting:
		return say(i18n.OrOther("row.await.", b.Reason))
	case *event.ContextCompleted:
		return i18n.Word(lang, "end.", string(b.Reason))
	case *event.ContextStopped:
		return i18n.Word(lang, "stop.", string(b.Reason))
	case *event.ContextFailed:
		return i18n.Word(lang, "why.", string(b.Reason))
	case *event.PauseRequested:
		return say("row.asked.pause", i18n.Who(lang, b.By, b.Actor))
	case *event.ResumeRequested:
		return resumeWords(b, lang)
	case *event.StopRequested:
		if id := i18n.ID("stop." + b.By); b.Actor == "" && b.By != "command" && i18n.Has(id) {
			return say(id)
		}
		return say("row.asked.stop", i18n.Who(lang, b.By, b.Actor))
	case *event.StatusRequested:
		return say("row.asked.status", i18n.Who(lang, b.By, b.Actor))
	case *event.LimitRaised:
		if b.Limit == "" {
			return say("row.raised.none", i18n.Who(lang, b.By, b.Actor))
		}
		return say("row.raised", i18n.Who(lang, b.By, b.Actor), fmt.Sprintf("%g", b.Add), i18n.Word(lang, "limit.", b.Limit))
	case *event.LimitReached:
		return say("row.limit", i18n.Word(lang, "limit.", b.Limit), fmt.Sprintf("%g", b.Used), fmt.Sprintf("%g", b.Max))
	case *event.ReactionRequested:
		return say("row.reaction", say(i18n.OrOther("row.reaction.", b.Reaction)), b.Comment)
	case *event.ReactionAdded:
		if b.Simulated == "" {
			return say("row.added")
		}
	case *event.CommentsFetched:
		return commandWords(b, lang)
	}
	return ""
}

func pauseWords(b *event.ContextPaused, lang i18n.Lang) string {
	switch _, ofModel := b.Reason.OfModel(); {
	case ofModel && b.Until.Kind == "time":
		return i18n.Text(lang, "row.pause.model.time")
	case ofModel:
		return i18n.Text(lang, "row.pause.model")
	}
	return i18n.Text(lang, i18n.OrOther("row.pause.", string(b.Reason)))
}

func resumeWords(b *event.ResumeRequested, lang i18n.Lang) string {
	id := i18n.ID("row.asked.resume")
	switch {
	case b.Plan != "":
		id = "row.approved.plan"
	case b.Tree != "":
		id = "row.approved.change"
	}
	text := i18n.Text(lang, id, i18n.Who(lang, b.By, b.Actor))
	if b.Add > 0 {
		text += i18n.Text(lang, "row.granted", fmt.Sprintf("%g", b.Add))
	}
	return text
}

// commandWords names who gave a command or an approval in a comment. The log does not keep its text.
func commandWords(b *event.CommentsFetched, lang i18n.Lang) string {
	var all []string
	for _, c := range b.Comments {
		switch c.Verdict {
		case event.CommandComment:
			all = append(all, i18n.Text(lang, "row.command", "@"+c.Author))
		case event.ApprovalComment:
			all = append(all, i18n.Text(lang, "row.approval", "@"+c.Author))
		case event.NewComment, event.EditedComment, event.OwnComment, event.BotComment, event.SystemComment, event.InternalComment, event.UntrustedComment,
			event.OlderComment, event.DeletedComment:
		}
	}
	return strings.Join(all, " · ")
}

// Mark is what happened between two messages in a sentence. why says more of a pause or wait
// than its event; it may be empty.
func (m Message) Mark(lang i18n.Lang, why string) string {
	id := i18n.ID("inspect." + m.Purpose)
	switch {
	case m.Purpose == "paused" || m.Purpose == "awaiting":
		return i18n.Text(lang, id, cmp.Or(why, m.Text))
	case m.Purpose == "resumed" && m.Text != "":
		return i18n.Text(lang, "inspect.resumed.by", m.Text)
	case i18n.Has(id):
		return i18n.Text(lang, id)
	}
	return m.Purpose + " " + m.Text
}
