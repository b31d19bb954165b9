package timeline

import (
	"cmp"
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/internal/viewer"
	"agent/projections"
)

// fact takes an event that is neither an intent nor an outcome.
func (t *Timeline) fact(ev event.Event) (changed []uint64) {
	row := Row{Seq: ev.Seq, Kind: kindOf(ev.Body), Type: t.line(ev.Body.Type()), Status: Done, Title: t.line(t.wish.Sentence(ev, t.Lang)), Started: ev.Time, Ended: ev.Time,
		Minor: minor(ev.Body)}
	if row.Title == "" {
		row.Title = row.Type
	}
	switch b := ev.Body.(type) {
	case *event.WorkspaceSaved:
		return t.saved(row, ev, b)
	case *event.ContextPaused:
		row.Until, row.Status = b.Until, Open
		return t.pause(row, "paused")
	case *event.ContextAwaiting:
		row.Until, row.Status = event.Until{Kind: "comment", Time: b.Until.Time}, Open
		return t.pause(row, "awaiting")
	case *event.ContextResumed:
		t.Status = "running"
		row.Title = i18n.Text(t.Lang, "row.resumed")
		if t.by != "" {
			row.Title, t.by = t.line(i18n.Text(t.Lang, "inspect.resumed.by", t.by)), ""
		}
		changed = t.resumed(ev)
	case *event.ContextCompleted, *event.ContextStopped, *event.ContextFailed:
		t.Status = strings.TrimPrefix(ev.Body.Type(), "context.")
		changed = t.resumed(ev)
		if _, failed := b.(*event.ContextFailed); failed {
			row.Status = Failed
		}
		t.open = 0
	case *event.ResumeRequested:
		t.by = i18n.Who(t.Lang, b.By, b.Actor)
	case *event.MessageAdded:
		row.Title = t.line(i18n.Word(t.Lang, "message.", string(b.Purpose)) + ": " + beginning(unmarked.Replace(b.Content.View())))
	case *event.CommentsFetched:
		row.Title = t.line(cmp.Or(join(wordsOf(b.Comments), viewer.Words(ev, t.Lang)), row.Title))
	case *event.PhaseEntered:
		t.phase, t.action = t.line(b.Phase), ""
		row.Title = t.line(i18n.Phase(t.Lang, b.Phase))
	case *event.ActionStarted:
		t.action = t.line(b.Action)
		row.Title = t.action
	case *event.ActionFinished:
		row.Title, row.Result = t.line(b.Action), t.line(strings.TrimSpace(i18n.Word(t.Lang, "page.action.", b.Status)+" "+b.Detail))
		if b.Status != "success" {
			row.Status = Failed
		}
		changed = t.add(row)
		t.action = ""
		return changed
	case *event.ContextCreated:
		t.Status = "running"
	case *event.ProcessStarted:
		if t.working { // the one before died
			row.Kind, row.Status, row.Minor = Interruption, Interrupted, false
			row.Title, row.Result = i18n.Text(t.Lang, "row.interrupted"), row.Title
		}
		t.working = true
	case *event.ProcessEnded:
		t.working = false
	case *event.LimitReached, *event.ImageMissing:
		row.Status = Failed
	}
	return append(changed, t.add(row)...)
}

// saved adds the files that a tool changed to the row of its call.
func (t *Timeline) saved(row Row, ev event.Event, b *event.WorkspaceSaved) []uint64 {
	call := t.begun(ev.Cause)
	if call == nil || call.Kind != Tool {
		row.Files, row.Added, row.Removed, row.Saved = b.Count, b.Added, b.Removed, ev.Seq
		if b.Error != "" {
			row.Status = Failed
		}
		row.Minor = b.Count == 0 && b.Error == ""
		return t.add(row)
	}
	before := *call
	call.Saved, call.Files, call.Added, call.Removed = ev.Seq, call.Files+b.Count, call.Added+b.Added, call.Removed+b.Removed
	t.count(&before, call)
	return []uint64{call.Seq}
}

func (t *Timeline) pause(row Row, status string) []uint64 {
	row.Ended = time.Time{}
	t.Status, t.paused, t.retry = status, row.Seq, retry{}
	return t.add(row)
}

// resumed ends the row of the pause or wait.
func (t *Timeline) resumed(ev event.Event) []uint64 {
	row := t.begun(t.paused)
	t.paused = 0
	if row == nil {
		return nil
	}
	before := *row
	row.Status, row.Outcome, row.Ended = Done, ev.Seq, ev.Time
	row.Seconds, row.Timed = max(ev.Time.Sub(row.Started).Seconds(), 0), true
	t.count(&before, row)
	return []uint64{row.Seq}
}

// kinds says what events are about that are not listed in [kindOf].
var kinds = map[string]Kind{
	"llm": Model, "tool": Tool, "comment": Comment, "reaction": Comment, "labels": Labels, "change": Change, "workspace": Files, "message": Message, "summary": Message,
	"phase": Phase, "action": Action, "plan": Plan, "understanding": Plan, "information": Plan, "assumption": Plan, "reflection": Plan, "verification": Plan,
	"replan": Plan, "task": Input, "comments": Input, "project": Input, "tools": Input, "image": Input, "config": Input, "read": Input, "process": Process, "limit": Limit,
	"pause": Request, "resume": Request, "stop": Request, "status": Request, "context": Input, "timer": Input, "blob": Other,
}

// kindOf says what an event is about.
func kindOf(b event.Body) Kind {
	switch b.Type() {
	case "context.paused":
		return Pause
	case "context.awaiting":
		return Await
	case "context.resumed":
		return Resume
	case "context.completed", "context.stopped", "context.failed":
		return End
	}
	group, _, _ := strings.Cut(b.Type(), ".")
	if kind, ok := kinds[group]; ok {
		return kind
	}
	return Other
}

// minor tells whether an event is of interest only to those who look for it.
func minor(b event.Body) bool {
	switch b := b.(type) {
	case *event.MessageAdded:
		return b.Role == "system" || b.Purpose == "phase" || b.Purpose == "action"
	case *event.CommentsFetched:
		return b.Error == "" && wordsOf(b.Comments)+viewer.Words(event.Event{Body: b}, "") == "" // of bots, and our own
	case *event.ConfigPinned, *event.ToolsListed, *event.ProcessStarted, *event.ProcessEnded, *event.ChangeMeasured, *event.BlobForgotten,
		*event.TimerFired, *event.PhaseEntered, *event.ActionStarted, *event.WorkspacePrepared, *event.ProjectRead:
		return true
	}
	return false
}

// toolTitle is a call in one line: the tool, and what it works on.
func toolTitle(b *event.ToolRequested) string {
	args := projections.Subject(b.Args.View())
	return strings.TrimSpace(ToolName(b.Name()) + " " + cmp.Or(args, b.Args.View()))
}

// unmarked takes the signs of Markdown out of a text that is shown in one line.
var unmarked = strings.NewReplacer("```", "", "`", "", "**", "", "*", "", "# ", "")

// ToolName is the name that a model uses for a tool as "server/tool".
func ToolName(name string) string { return strings.Replace(name, "__", "/", 1) }

// wordsOf is what people wrote, as far as the model is told.
func wordsOf(comments []event.Comment) string {
	var all []string
	for _, c := range comments {
		if text := c.Body.View(); strings.TrimSpace(text) != "" {
			all = append(all, "@"+c.Author+": "+beginning(text))
		}
	}
	return strings.Join(all, " · ")
}

// join puts two texts beside each other.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " · " + b
}

// resultOf is the beginning of what a tool gave. Of a command that is its exit code and
// the first line of its output.
func resultOf(b *event.ToolReplied) string {
	return beginning(b.Content.View())
}

// replyResult says which tools a reply calls, and what it says.
func replyResult(b *event.LLMReplied) string {
	var parts []string
	for i, call := range b.Calls {
		if i == 5 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, "→ "+beginning(ToolName(call.Name)))
	}
	if text := unmarked.Replace(beginning(b.Text.View())); strings.TrimSpace(text) != "" {
		parts = append(parts, text)
	}
	return cmp.Or(strings.Join(parts, " "), b.Finish)
}

const (
	longest = 200     // characters of a text in a row
	looked  = 4 << 10 // bytes of a text that are made into one line
)

func beginning(s string) string { return s[:min(len(s), looked)] }

// line is the beginning of a text on one line, safe for a terminal.
func (t *Timeline) line(s string) string {
	s = beginning(s)
	if t.Clean != nil {
		s = t.Clean(s)
	}
	return sanitize.Line(s, longest)
}
