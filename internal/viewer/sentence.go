package viewer

import (
	"cmp"
	"fmt"
	"strings"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/projections"
)

// Sentence says in one line what an event of any type means to people. Texts of the world are
// in it as they are in the event, and so are words that this release does not know.
func Sentence(ev event.Event, lang i18n.Lang) string {
	if text := Words(ev, lang); text != "" {
		return text
	}
	s := speaker{lang}
	for _, of := range []func(event.Body) string{s.effect, s.outcome, s.input, s.files, s.mark, s.plan} {
		if text := of(ev.Body); text != "" {
			return text
		}
	}
	return projections.Describe(ev) // it is unknown to this release, or says nothing more than its type
}

// speaker makes sentences in a language.
type speaker struct{ lang i18n.Lang }

func (s speaker) say(id i18n.ID, args ...any) string { return i18n.Text(s.lang, id, args...) }

func (s speaker) word(prefix i18n.ID, word string) string { return i18n.Word(s.lang, prefix, word) }

// with adds a detail to a text.
func with(text, detail string) string {
	if detail = strings.TrimSpace(detail); detail == "" {
		return text
	}
	return text + ": " + detail
}

// also adds what is there of further facts.
func (s speaker) also(text string, more ...string) string {
	for _, m := range more {
		if m != "" {
			text += s.say("ev.and") + m
		}
	}
	return text
}

// when is a text that is said only if something holds.
func (s speaker) when(yes bool, id i18n.ID, args ...any) string {
	if !yes {
		return ""
	}
	return s.say(id, args...)
}

// failure is what a model server, a tool or a forge refused, in its words.
func (s speaker) failure(kind, message string) string {
	return with(s.word("failure.", kind), message)
}

// Doing says in one line what an effect does that has no outcome yet.
func Doing(ev event.Event, lang i18n.Lang) string {
	if asked, ok := ev.Body.(*event.LLMRequested); ok {
		return i18n.Text(lang, "ev.doing.llm", i18n.Phase(lang, asked.Purpose))
	}
	return Sentence(ev, lang)
}

func (s speaker) effect(b event.Body) string {
	switch b := b.(type) {
	case *event.LLMRequested:
		return s.say("ev.llm.requested", i18n.Phase(s.lang, b.Purpose), b.Messages, b.Estimated, b.Attempt)
	case *event.ToolRequested:
		return strings.TrimSpace(b.Name() + " " + b.Args.View())
	case *event.CommentRequested:
		text := CommentPurpose(s.lang, b.Purpose)
		if b.Edit != "" {
			text = s.say("ev.edit", text, b.Edit)
		}
		return with(text, strings.ReplaceAll(beginningOf(b.Body), "**", ""))
	case *event.LabelsRequested:
		var parts []string
		for _, list := range []struct {
			id   i18n.ID
			some []string
		}{{"ev.labels.add", b.Add}, {"ev.labels.remove", b.Remove}} {
			if len(list.some) > 0 {
				parts = append(parts, s.say(list.id, strings.Join(list.some, ", ")))
			}
		}
		return with(s.word("purpose.", b.Purpose), cmp.Or(strings.Join(parts, s.say("ev.and")), s.say("ev.labels.none")))
	case *event.ChangeRequested:
		text := s.say("ev.change.branch", b.Branch, b.Base)
		switch {
		case b.Unfinished:
			text = s.say("ev.change.kept")
		case b.Branch == "":
			text = s.say("ev.change.patch")
		}
		return with(text, b.Title)
	}
	return ""
}

// CommentPurpose is what a comment of ours is for; that of a stage of a plan is progress.
func CommentPurpose(lang i18n.Lang, purpose string) string {
	purpose, _, _ = strings.Cut(purpose, ":")
	return i18n.Word(lang, "purpose.", purpose)
}

var unfold = strings.NewReplacer("<details><summary>", "**", "</summary>", "**", "</details>", "")

// Unfolded is a comment of ours whose folded parts have headings in Markdown, for where nothing
// folds.
func Unfolded(comment string) string {
	return unfold.Replace(comment)
}

// beginningOf is the first line of a text.
func beginningOf(t event.Text) string {
	line, _, _ := strings.Cut(strings.TrimSpace(t.View()), "\n")
	return line
}

func (s speaker) outcome(b event.Body) string {
	switch b := b.(type) {
	case *event.LLMReplied:
		return s.reply(b)
	case *event.LLMFailed:
		text := s.word("failure.", b.Kind)
		if b.Status != 0 && !strings.HasPrefix(b.Message, fmt.Sprintf("HTTP %d", b.Status)) {
			text += fmt.Sprintf(" (HTTP %d)", b.Status)
		}
		if b.Kind == event.Interrupted {
			return text
		}
		return with(text, b.Message)
	case *event.ToolReplied:
		text := s.say("ev.tool.replied", max(b.Content.Size, int64(len(b.Content.Inline))), duration(b.DurationMS))
		if b.IsError {
			text = s.say("ev.tool.error") + ", " + text
		}
		return with(text, beginningOf(b.Content))
	case *event.ToolFailed:
		return s.failure(b.Kind, b.Message)
	case *event.ToolInterrupted:
		return s.say("ev.interrupted")
	case *event.CommentPosted:
		return s.also(s.say("ev.comment.post", cmp.Or(b.URL, b.ID)), s.when(b.Adopted, "ev.adopted"), s.simulated(b.Simulated))
	case *event.CommentFailed:
		return s.failure(b.Kind, b.Message)
	case *event.ReactionAdded:
		return s.simulated(b.Simulated)
	case *event.ReactionFailed:
		return s.failure(b.Kind, b.Message)
	case *event.LabelsChanged:
		return s.also(s.say("ev.labels.now", strings.Join(b.Labels, ", ")), s.simulated(b.Simulated))
	case *event.LabelsFailed:
		return s.failure(b.Kind, b.Message)
	case *event.ChangeOpened:
		return s.opened(b)
	case *event.ChangeFailed:
		return s.failure(b.Kind, b.Message)
	}
	return ""
}

// duration is a time in milliseconds.
func duration(ms int64) string {
	if ms < 10_000 {
		return fmt.Sprintf("%d ms", ms)
	}
	return fmt.Sprintf("%d s", ms/1000)
}

func (s speaker) reply(b *event.LLMReplied) string {
	text := s.say("ev.llm.replied", b.Usage.Prompt, b.Usage.Completion)
	if b.Finish != "" && b.Finish != "stop" && b.Finish != "tool_calls" {
		text = s.say("ev.llm.cut", b.Finish, b.Usage.Prompt, b.Usage.Completion)
	}
	if b.CostUSD > 0 {
		text += ", " + i18n.Money(s.lang, b.CostUSD)
	}
	text += s.say("calls.and") + duration(b.DurationMS)
	var calls []string
	for _, c := range b.Calls {
		calls = append(calls, c.Name)
	}
	return with(s.also(text, s.when(len(calls) > 0, "ev.calls", strings.Join(calls, ", "))), beginningOf(b.Text))
}

// opened says where the work is.
func (s speaker) opened(b *event.ChangeOpened) string {
	where := strings.TrimSpace(fmt.Sprintf("#%d %s", b.Number, b.URL))
	switch {
	case b.Unfinished:
		where = with(s.say("ev.change.kept"), cmp.Or(b.Branch, event.PatchFile))
	case b.Number == 0:
		where = with(s.say("ev.change.patch"), event.PatchFile)
	}
	return s.also(s.say("ev.change.files", where, len(b.Files)), s.simulated(b.Simulated))
}

func (s speaker) simulated(how string) string {
	switch how {
	case "":
		return ""
	case event.Recorded:
		return s.say("ev.recorded")
	}
	return s.say("ev.simulated")
}
