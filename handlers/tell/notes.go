package tell

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

const (
	longestNote = 20000 // characters of a note that is shown whole
	noteLine    = 300   // characters of one that is shown as a line
	errorLine   = 500   // characters of an error
)

// line makes words of a model or a tool fit to stand in a line of ours.
func line(s *projections.State, text string, most int) string {
	return sanitize.Inline(format.First(format.OneLine(text), most), []string{s.Key.Host})
}

// simpleBody is the comment of a context without a plan: what the model said
// beside its commands.
func simpleBody(s *projections.State, now Moment) string {
	p := &s.Progress
	latest := p.Latest("")
	if latest == nil {
		return ""
	}
	lines := []string{}
	if n := p.Dropped[""]; n > 0 {
		lines = append(lines, "- "+i18n.Text(s.Lang, "progress.dropped", n))
	}
	for _, n := range p.Notes {
		if n.Stage == "" {
			lines = append(lines, "- "+line(s, n.Text, noteLine))
		}
	}
	head, calls, tools := i18n.Text(s.Lang, "progress.head"), latest.Call, latest.Tools
	switch now.Status {
	case string(projections.Running):
	case string(projections.Paused):
		head = i18n.Text(s.Lang, "progress.paused")
	default:
		head = i18n.Text(s.Lang, "progress.over", i18n.Text(s.Lang, i18n.ID("status.is."+now.Status)))
		calls, tools = s.Usage.LLMCalls, s.Usage.ToolCalls
	}
	return format.Paragraphs([]string{head, strings.Join(lines, "\n"), i18n.Text(s.Lang, "progress.count", calls, tools)})
}

// stageBody is the comment of one stage: its latest call, and the ones before folded.
func stageBody(s *projections.State, stage string, now Moment) string {
	var notes []projections.Note
	for _, n := range s.Progress.Notes {
		if n.Stage == stage {
			notes = append(notes, n)
		}
	}
	if len(notes) == 0 {
		return ""
	}
	top, title := headline(s, notes), i18n.ID("call.earlier")
	if top < len(notes)-1 {
		title = "board.history"
	}
	head := noteForm(s, notes[top], now, longestNote)
	return format.Paragraphs([]string{head, folded(s, title, slices.Delete(notes, top, top+1), s.Progress.Dropped[stage], MaxComment-utf8.RuneCountInString(head))})
}

// headline picks the note that stands for a stage: the latest, but for a tool's
// error in a stage that is over, which did not end there.
func headline(s *projections.State, notes []projections.Note) int {
	last := len(notes) - 1
	if notes[last].Kind != projections.NoteTool || projections.Stage(s.Planning.Phase) == notes[last].Stage {
		return last
	}
	for i := last; i >= 0; i-- {
		if notes[i].Kind == projections.NoteReply {
			return i
		}
	}
	return last
}

// callsBody is the comment on the calls since the latest one. Where they are too
// many, the oldest are counted.
func callsBody(s *projections.State, now Moment) string {
	const between = "\n\n---\n\n"
	var forms []string
	left, room := 0, MaxComment-200
	for _, n := range slices.Backward(s.Progress.Notes) {
		if n.Seq <= now.Since {
			break
		}
		form := noteForm(s, n, now, min(longestNote, room/2))
		if room -= utf8.RuneCountInString(form) + len(between); left > 0 || room < 2*errorLine {
			left++
			continue
		}
		forms = append([]string{form}, forms...)
	}
	if left > 0 {
		forms = append([]string{i18n.Text(s.Lang, "progress.dropped", left)}, forms...)
	}
	return strings.Join(forms, between)
}

// noteForm is a note as seeds/003 §4 has it.
func noteForm(s *projections.State, n projections.Note, now Moment, most int) string {
	stage := stageName(s, n.Stage)
	var parts []string
	switch n.Kind {
	case projections.NoteTool:
		parts = append(parts, i18n.Text(s.Lang, "call.tool", format.Code(n.Tool)), i18n.Text(s.Lang, "call.error", line(s, n.Text, errorLine)))
		if n.Action != "" {
			parts = append(parts, i18n.Text(s.Lang, "call.action", format.Code(n.Action)))
		}
	case projections.NoteModel:
		parts = append(parts, i18n.Text(s.Lang, "call.model", stage), i18n.Text(s.Lang, "call.error", line(s, modelError(s, n), errorLine)))
		if latest := s.Progress.Latest(n.Stage); !now.Last && latest != nil && latest.Seq == n.Seq {
			parts = append(parts, i18n.Text(s.Lang, "call.retry"))
		}
	case projections.NoteStart:
		parts = append(parts, i18n.Text(s.Lang, "call.start", stage), i18n.Text(s.Lang, "did.start"))
	case projections.NoteUnusable:
		parts = append(parts, i18n.Text(s.Lang, "call.unusable", stage, n.Call), i18n.Text(s.Lang, "did.unusable"))
	default: // a reply, usable or not: below
		text, done := spoken(s, n, words)
		head := i18n.ID("call.said")
		if done {
			head = "call.done"
		}
		parts = append(parts, i18n.Text(s.Lang, head, stage, n.Call), sanitize.Cut(text, most, i18n.Text(s.Lang, "cut")))
	}
	return format.Paragraphs(append(parts, i18n.Text(s.Lang, "call.time", format.Clock(n.Time))))
}

// spoken is what the model said, or else what the call came to. done is true if that
// has come to its end, which a title may say.
func spoken(s *projections.State, n projections.Note, safe func(*projections.State, string) string) (text string, done bool) {
	if n.Text != "" {
		return safe(s, n.Text), false
	}
	if n.Stage == projections.Execution && n.Action != "" {
		id := actionText(s, n)
		return i18n.Text(s.Lang, id, format.Code(n.Action)), id == "did.action"
	}
	p := &s.Planning
	now := projections.Stage(p.Phase) == n.Stage
	switch {
	case n.Stage == projections.Execution, now && (p.Open || n.Stage == projections.PrePlanning):
		return i18n.Text(s.Lang, "does"), false
	case n.Stage == projections.Verification && !p.Verified:
		return i18n.Text(s.Lang, "did.unverified"), true
	}
	return i18n.Text(s.Lang, i18n.ID("did."+n.Stage)), true
}

// actionText says what became of an action with its last call, and of the calls
// before that it went on.
func actionText(s *projections.State, n projections.Note) i18n.ID {
	for _, later := range slices.Backward(s.Progress.Notes) {
		if later.Seq > n.Seq && later.Action == n.Action && later.Kind == projections.NoteReply {
			return "does.action"
		}
	}
	for _, a := range s.Planning.Actions {
		switch {
		case a.ID != n.Action:
		case a.Status == "success":
			return "did.action"
		case a.Status == "failed":
			return "did.action.failed"
		}
	}
	return "does.action"
}

func stageName(s *projections.State, stage string) string {
	if id := i18n.ID("stage." + stage); i18n.Has(id) {
		return i18n.Text(s.Lang, id)
	}
	return stage
}

// folded is the history in room characters: one line a note, the oldest left out.
func folded(s *projections.State, title i18n.ID, notes []projections.Note, dropped, room int) string {
	if len(notes)+dropped == 0 {
		return ""
	}
	total := len(notes) + dropped
	room -= 200 // for what stands around the lines
	var lines []string
	for i := len(notes) - 1; i >= 0; i-- {
		l := "- " + noteBrief(s, notes[i])
		if room -= utf8.RuneCountInString(l) + 1; room < 0 {
			break
		}
		lines = append([]string{l}, lines...)
	}
	if left := total - len(lines); left > 0 {
		lines = append([]string{"- " + i18n.Text(s.Lang, "progress.dropped", left)}, lines...)
	}
	return "<details><summary>" + i18n.Text(s.Lang, title, total) + "</summary>\n\n" + strings.Join(lines, "\n") + "\n\n</details>"
}

// modelError says what went wrong with a model call.
func modelError(s *projections.State, n projections.Note) string {
	if n.Text == "" {
		return i18n.Text(s.Lang, "call.unanswered")
	}
	return n.Text
}

// noteBrief is a note in one line.
func noteBrief(s *projections.State, n projections.Note) string {
	at := format.Clock(n.Time) + " "
	switch n.Kind {
	case projections.NoteTool:
		return at + "❌ " + format.Code(n.Tool+" "+n.Args) + ": " + line(s, n.Text, noteLine)
	case projections.NoteModel:
		return at + "⚠️ " + stageName(s, n.Stage) + ": " + line(s, modelError(s, n), noteLine)
	case projections.NoteStart:
		return at + "▶️ " + stageName(s, n.Stage)
	default:
	}
	text, _ := spoken(s, n, func(s *projections.State, text string) string { return line(s, text, noteLine) })
	mark := "✅"
	if n.Kind == projections.NoteUnusable {
		mark, text = "⚠️", i18n.Text(s.Lang, "did.unusable")
	}
	return fmt.Sprintf("%s%s %s #%d: %s", at, mark, stageName(s, n.Stage), n.Call, text)
}
