package viewer

import (
	"fmt"
	"strings"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/internal/term"
)

// Message is one message of the conversation with the model.
type Message struct {
	Seq     uint64 `json:"seq"`
	Role    string `json:"role"`              // system | user | assistant | tool, or [RoleMark]
	Purpose string `json:"purpose,omitempty"` // as in the event: task, comments, correction, …
	Text    string `json:"text"`
}

// RoleMark is the role of what is no message: paused, awaiting, resumed, interrupted.
const RoleMark = "event"

// Conversation turns events into messages. Feed it every event in order.
type Conversation struct {
	Blob Blob
	Lang i18n.Lang // of pauses and waits; empty: English

	purpose string            // of the open model call
	tools   map[uint64]string // open tool calls by seq
	working bool              // a process works on it
	resumed string            // by whom
	wish    Wish
}

// Add gives the message that an event adds, false if it adds none.
func (c *Conversation) Add(r eventlog.Record) (Message, bool) {
	ev, err := event.Decode(r)
	if err != nil {
		return Message{}, false
	}
	event.Fetch(ev.Body, c.Blob)
	return c.AddEvent(ev)
}

// AddEvent is [Conversation.Add] of an event that is decoded and has its texts.
func (c *Conversation) AddEvent(ev event.Event) (Message, bool) {
	m := Message{Seq: ev.Seq}
	switch b := ev.Body.(type) {
	case *event.MessageAdded:
		m.Role, m.Purpose, m.Text = b.Role, string(b.Purpose), b.Content.View()
	case *event.LLMRequested:
		c.purpose = string(b.Purpose)
		return m, false
	case *event.LLMReplied:
		m.Role, m.Text = "assistant", replyText(b)
		if c.purpose != "work" {
			m.Purpose = c.purpose
		}
	case *event.LLMFailed:
		m.Role, m.Purpose, m.Text = "assistant", "no reply", strings.TrimSpace(b.Kind+": "+b.Message)
	case *event.ToolRequested:
		if c.tools == nil {
			c.tools = map[uint64]string{}
		}
		c.tools[ev.Seq] = b.Server + "/" + b.Tool
		return m, false
	case *event.ToolReplied:
		m.Text = b.Content.View()
		c.result(&m, ev.Cause, b.IsError)
	case *event.ToolFailed:
		m.Text = b.Kind + ": " + b.Message
		c.result(&m, ev.Cause, true)
	case *event.ToolInterrupted:
		m.Text = b.Reason
		c.result(&m, ev.Cause, true)
	case *event.SummaryAdded:
		m.Role, m.Purpose = "assistant", i18n.Text(c.Lang, "ev.summary.added", b.From, b.To)
		m.Text = b.Text.View()
	default:
		return c.mark(m, ev)
	}
	return m, true
}

// mark is what happened to the work between messages: a pause, its end, a new process.
func (c *Conversation) mark(m Message, ev event.Event) (Message, bool) {
	m.Role = RoleMark
	words := c.wish.Words(ev, c.Lang)
	switch b := ev.Body.(type) {
	case *event.ContextPaused:
		m.Purpose, m.Text = "paused", words
	case *event.ContextAwaiting:
		m.Purpose, m.Text = "awaiting", words
	case *event.ResumeRequested:
		c.resumed = i18n.Who(c.Lang, b.By, b.Actor)
		return m, false
	case *event.ContextResumed:
		m.Purpose, m.Text = "resumed", c.resumed
		c.resumed = ""
	case *event.ProcessEnded:
		c.working = false
		return m, false
	case *event.ProcessStarted:
		died := c.working
		c.working = true
		m.Purpose = "interrupted"
		return m, died
	default:
		return m, false
	}
	return m, true
}

func (c *Conversation) result(m *Message, cause uint64, failed bool) {
	m.Role, m.Purpose = "tool", c.tools[cause]
	if failed {
		m.Purpose += " failed"
	}
	delete(c.tools, cause)
}

// replyText is what a reply says and which tools it calls.
func replyText(b *event.LLMReplied) string {
	parts := []string{}
	if text := strings.TrimSpace(b.Text.View()); text != "" {
		parts = append(parts, text)
	}
	for _, call := range b.Calls {
		parts = append(parts, "→ "+call.Name+" "+call.Args.View())
	}
	return strings.Join(parts, "\n")
}

// Names are who speaks, and what for, in words.
func (m Message) Names(lang i18n.Lang) (who, purpose string) {
	purpose = m.Purpose
	if tool, failed := strings.CutSuffix(purpose, " failed"); failed {
		purpose = i18n.Text(lang, "message.failed", tool)
	} else if id := i18n.ID("message." + purpose); i18n.Has(id) {
		purpose = i18n.Text(lang, id)
	} else if id := i18n.ID("phase." + purpose); purpose != "" && i18n.Has(id) {
		purpose = i18n.Text(lang, id)
	}
	return i18n.Word(lang, "role.", m.Role), purpose
}

// Message prints a message whole.
func (p *Printer) Message(m Message) {
	if m.Role == RoleMark {
		p.mark(m)
		return
	}
	color := map[string]term.Color{"user": term.Waits, "assistant": term.Good, "tool": term.Name, "system": term.Aux}[m.Role]
	if strings.HasSuffix(m.Purpose, " failed") || m.Purpose == "no reply" {
		color = term.Bad
	}
	who, purpose := m.Names(p.Lang)
	title := fmt.Sprintf("%d  %s", m.Seq, sanitize.Line(who, 40))
	if purpose != "" && purpose != who {
		title += " · " + sanitize.Line(purpose, 120)
	}
	fmt.Fprintln(p.Screen, p.Screen.Paint(color, title))
	p.text(1, m.Text)
	fmt.Fprintln(p.Screen)
}

// mark prints a rule that says what happened between two messages.
func (p *Printer) mark(m Message) {
	fmt.Fprintf(p.Screen, "%s\n\n", p.Screen.Paint(term.Waits, term.Line(fmt.Sprintf("── %d  %s", m.Seq, m.Mark(p.Lang, "")), p.Screen.Width)))
}
