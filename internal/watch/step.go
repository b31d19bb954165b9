package watch

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/term"
	"agent/projections"
)

// longest bounds the text of a step, in columns.
const longest = 300

func good(text string) (Step, bool) { return Step{Color: term.Good, Text: "✓ " + text}, true }
func bad(text string) (Step, bool)  { return Step{Color: term.Bad, Text: "✗ " + text}, true }
func note(text string) (Step, bool) { return Step{Text: "· " + text}, true }

// step says what an event finished, if people want to see it.
func (t *Task) step(ev event.Event, s *projections.State, lang i18n.Lang) (Step, bool) {
	switch b := ev.Body.(type) {
	case *event.ToolReplied:
		if !projections.Succeeded(b) {
			return bad(t.called() + ": " + line(b.Content.View()))
		}
		return good(t.called())
	case *event.ToolFailed:
		return bad(t.called() + ": " + line(b.Kind+" "+b.Message))
	case *event.ToolInterrupted:
		return bad(t.called() + ": " + line(b.Reason))
	case *event.LLMReplied:
		if said := said(s, ev.Seq); said != "" {
			return note(said)
		}
	case *event.LLMFailed:
		if b.Kind != event.Interrupted {
			return bad(i18n.Text(lang, "watch.failed") + ": " + line(b.Kind+" "+b.Message))
		}
	case *event.CommentFailed:
		return bad(i18n.Text(lang, "watch.comment.failed") + ": " + line(b.Kind+" "+b.Message))
	case *event.LabelsFailed:
		return bad(i18n.Text(lang, "watch.labels.failed") + ": " + line(b.Kind+" "+b.Message))
	case *event.ChangeFailed:
		return bad(i18n.Text(lang, "watch.change.failed") + ": " + line(b.Kind+" "+b.Message))
	case *event.ChangeOpened:
		what := cmp.Or(b.Branch, event.PatchFile)
		if b.Number > 0 { // its link stands in the last line
			what = fmt.Sprintf("#%d", b.Number)
		}
		return good(i18n.Text(lang, "watch.change.opened") + ": " + line(what))
	case *event.ProcessRecovered:
		return note(i18n.Text(lang, "watch.recovered"))
	case *event.LimitReached:
		return bad(i18n.Text(lang, "watch.limit", line(b.Limit), b.Used, b.Max))
	}
	return planStep(ev, s, lang)
}

// planStep is step for the events of planning.
func planStep(ev event.Event, s *projections.State, lang i18n.Lang) (Step, bool) {
	switch b := ev.Body.(type) {
	case *event.PhaseEntered:
		return Step{Color: term.Name, Text: "▸ " + phase(lang, string(b.Phase))}, true
	case *event.PlanMade, *event.PlanRevised:
		return note(i18n.Text(lang, "watch.plan", len(s.Planning.Actions)))
	case *event.ActionFinished:
		for i, a := range s.Planning.Actions {
			if a.ID != b.Action {
				continue
			}
			text := fmt.Sprintf("%d/%d %s", i+1, len(s.Planning.Actions), line(a.Purpose))
			if b.Status == "success" {
				return good(text)
			}
			return bad(text + ": " + line(b.Detail))
		}
	}
	return Step{}, false
}

// called is the tool call in flight.
func (t *Task) called() string {
	if b, ok := t.open.(*event.ToolRequested); ok {
		return call(b)
	}
	return ""
}

// said is what the model said in a reply beside its calls.
func said(s *projections.State, seq uint64) string {
	if n := len(s.Progress.Notes); n > 0 && s.Progress.Notes[n-1].Seq == seq && s.Progress.Notes[n-1].Kind == projections.NoteReply {
		return line(s.Progress.Notes[n-1].Text)
	}
	return ""
}

// line is the beginning of a text of the world on one line.
func line(s string) string { return term.Line(firstBytes(strings.TrimSpace(s), 16<<10), longest) }

func firstBytes(s string, n int) string { return s[:min(len(s), n)] }

// Line is a step in one line of at most width columns.
func (s Step) Line(ref string, width int) string {
	tail := ""
	if s.Took >= 100*time.Millisecond {
		tail = "  " + Duration(s.Took)
	}
	mark, text, _ := strings.Cut(s.Text, " ")
	return term.Line(mark+" "+ref+" "+text, max(width-term.Columns(tail), 20)) + tail
}

// Took says what a task took, in few words.
func Took(lang i18n.Lang, calls, tokens int, usd float64, d time.Duration) string {
	parts := []string{i18n.Text(lang, "watch.calls", calls), i18n.Text(lang, "watch.tokens", Count(tokens))}
	if usd > 0 {
		parts = append(parts, "$"+i18n.USD(usd))
	}
	return strings.Join(append(parts, Duration(d)), " · ")
}

// Count shows a number in three digits or so: 812, 12.3k, 1.4M.
func Count(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Duration shows a time in two units at most, rounded to the last of them: 0.3s, 12s, 1m02s, 3h04m.
func Duration(d time.Duration) string {
	d = max(d, 0)
	if tenths := d.Round(100 * time.Millisecond); tenths < 10*time.Second {
		return fmt.Sprintf("%.1fs", tenths.Seconds())
	}
	if d = d.Round(time.Second); d < time.Minute {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	if d < time.Hour {
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}
