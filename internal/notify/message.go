package notify

import (
	"slices"
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/projections"
)

// What is told of, as `notify.on` has it.
const (
	Paused    = "paused"
	Approval  = "approval"
	Failed    = "failed"
	Completed = "completed"
	Limit     = "limit"
)

const (
	maxLine = 300  // characters of a title or a reason
	maxText = 3500 // bytes: ntfy makes a file of more than 4,096
)

// Message is what a receiver is told. Its texts are redacted and safe to show; but for Text each is one line.
type Message struct {
	ID      string    `json:"id"` // the same for each attempt: context and seq of the event
	Event   string    `json:"event"`
	Time    time.Time `json:"time"`
	Task    string    `json:"task"`
	URL     string    `json:"url,omitempty"`
	Title   string    `json:"title"`
	State   string    `json:"state"`
	Reason  string    `json:"reason"`
	Change  string    `json:"change,omitempty"` // URL of the pull or merge request
	Context string    `json:"context"`
	Text    string    `json:"text"`

	subject string // event and title
	lang    i18n.Lang
}

// kindsOf says what an event is to be told as, the most special first; nothing: it is not told.
func kindsOf(b event.Body, s *projections.State) []string {
	switch b := b.(type) {
	case *event.ContextPaused:
		return pauseKinds(b, s)
	case *event.ContextAwaiting:
		if b.Reason == "" { // the work is done, and people may say more
			return []string{Completed}
		}
		return []string{Paused}
	case *event.ContextCompleted:
		return completedKinds(b.Reason)
	case *event.ContextFailed:
		return []string{Failed}
	}
	return nil
}

func completedKinds(reason event.EndReason) []string {
	switch reason {
	case event.EndTimeout, event.EndKeyword, event.EndMaxRounds: // that was told when the work was done
		return nil
	case event.EndMaxCalls:
		return []string{Limit, Completed}
	case event.EndDone, event.EndAwaiting, event.EndActionFailed, event.EndUnusableReplies, event.EndWorkspace, event.EndRetry:
	}
	return []string{Completed}
}

func pauseKinds(b *event.ContextPaused, s *projections.State) []string {
	switch {
	case b.Until.Kind == "time" && s.Outage.Pauses > 1: // the same outage
		return nil
	case b.Reason == event.PauseLimit:
		return []string{Limit, Paused}
	case slices.Contains(approvals, b.Reason):
		return []string{Approval, Paused}
	}
	return []string{Paused}
}

// approvals are the pauses that somebody who may write ends by approving something.
var approvals = []event.PauseReason{event.PauseChange, event.PauseText, event.PausePlan}

// message is what receivers are told of an event.
func (n *Notifier) message(kind string, ev event.Event, s *projections.State) Message {
	m := Message{ID: s.Created.UUID + ":" + itoa(ev.Seq), Event: kind, Time: ev.Time.UTC(), Task: s.Key.String(), Title: s.Created.Title,
		State: string(s.Status), Reason: report.Reason(s, n.o.Lang), Change: report.Change(s), Context: s.Created.UUID, lang: n.o.Lang}
	if s.Task != nil {
		m.Title, m.URL = s.Task.Title, s.Task.URL
	}
	for _, text := range []*string{&m.Task, &m.Title, &m.URL, &m.Reason, &m.Change} {
		safe, _ := n.o.Redact.String(*text)
		*text = sanitize.Line(safe, maxLine)
	}
	return m.complete()
}

// complete adds the texts that are made of the facts.
func (m Message) complete() Message {
	word := i18n.Text(m.lang, "notify."+i18n.ID(m.Event))
	m.subject = word + ": " + m.Title
	lines := []string{m.subject, m.Reason, m.URL}
	if m.Change != "" {
		lines = append(lines, i18n.Text(m.lang, "notify.change", m.Change))
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	m.Text = cut(strings.Join(lines, "\n"))
	return m
}

// with is the message with the text of a template.
func (m Message) with(template string) Message {
	if template == "" {
		return m
	}
	values := map[string]string{"event": i18n.Text(m.lang, "notify."+i18n.ID(m.Event)), "title": m.Title, "reason": m.Reason,
		"state": i18n.State(m.lang, m.State), "task": m.Task, "url": m.URL, "change": m.Change, "context": m.Context}
	var pairs []string
	for _, name := range config.Placeholders {
		pairs = append(pairs, "{"+name+"}", values[name])
	}
	m.Text = cut(strings.NewReplacer(pairs...).Replace(template))
	return m
}

// cut bounds a text in bytes, at a character.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}
