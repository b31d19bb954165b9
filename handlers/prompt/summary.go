package prompt

import (
	_ "embed"
	"fmt"
	"strings"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/handlers/reply"
	"agent/internal/i18n"
	"agent/llm"
	"agent/projections"
)

// TurnLength is how many bytes of one turn a summary request shows.
const TurnLength = 4000

func transcript(s *projections.State, turns []projections.Entry) string {
	var b strings.Builder
	for _, e := range turns {
		m := e.Message(s.Protocol())
		b.WriteString("## " + string(m.Role) + "\n" + event.Shorten(m.Content, TurnLength) + "\n")
		for _, c := range m.Calls {
			b.WriteString("calls " + c.Name + " " + event.Shorten(c.Arguments, 500) + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TurnTokens estimates the tokens of turns.
func TurnTokens(turns []projections.Entry) (n int) {
	for _, e := range turns {
		n += llm.Estimate(e.Text)
	}
	return n
}

// RuleSummary names what was done, for when no model can say it.
func RuleSummary(s *projections.State, turns []projections.Entry) string {
	lines := []string{i18n.Text(s.Lang, "summary.marked")}
	for _, e := range turns {
		switch {
		case e.Purpose == "summary":
			lines = append(lines, event.Shorten(e.Text, 2000))
		case e.Role == llm.ToolRole:
			first, _, _ := strings.Cut(e.Text, "\n")
			lines = append(lines, "- "+e.Tool+" "+format.First(format.OneLine(e.Args), 120)+": "+format.First(first, 120))
		}
	}
	return strings.Join(lines, "\n")
}

// summaryFacts is how many of the latest tool calls a summary names.
const summaryFacts = 10

//go:embed templates/summary.txt
var summaryPrompt string

//go:embed templates/compaction.txt
var compactionPrompt string

// summaryRequest asks for a summary of a text in a call of its own.
func summaryRequest(s *projections.State, prompt, text string) llm.Request {
	r := addressed(s)
	r.Messages = []llm.Message{
		{Role: llm.System, Content: strings.TrimSpace(strings.ReplaceAll(prompt, "{language}", language(s)))},
		{Role: llm.User, Content: text},
	}
	return r
}

// DraftRequest asks the model for the summary that the next attempt inherits.
func DraftRequest(s *projections.State) llm.Request {
	text := format.Paragraphs([]string{i18n.Text(s.Lang, "task.head", s.Task.Title), planState(s), transcript(s, recentTurns(s))})
	return summaryRequest(s, summaryPrompt, text)
}

// CompactionRequest asks for a summary of older turns.
func CompactionRequest(s *projections.State, old []projections.Entry) llm.Request {
	return summaryRequest(s, compactionPrompt, transcript(s, old))
}

// recentTurns are the newest turns that fit half of the window.
func recentTurns(s *projections.State) []projections.Entry {
	entries := s.Conversation.Entries
	room := s.WindowTokens() / 2
	first := len(entries)
	for first > 0 && entries[first-1].Role != llm.System {
		if room -= int(s.Usage.Scale(float64(llm.Estimate(event.Shorten(entries[first-1].Text, TurnLength)) + 20))); room < 0 {
			break
		}
		first--
	}
	return entries[first:]
}

// FinalSummary is what the next attempt at the same task inherits: what the model
// wrote, or, when no model can be reached, what the events tell.
func FinalSummary(s *projections.State, v *projections.Ending) *event.SummaryAdded {
	drafted := reply.PlainWords(s.Drafted)
	if drafted == "" || !s.Done(projections.DraftedSummary, v.Since) {
		return computedSummary(s, v)
	}
	drafted = notDone(s) + drafted
	first, last, original := conversationSpan(s)
	return &event.SummaryAdded{Purpose: event.FinalSummary, From: first, To: last, Text: event.T(drafted),
		Original: original, Tokens: llm.Estimate(drafted), Sources: s.Lineage.Sources}
}

// notDone says that a fork wrote nothing to the task, whatever the rest tells.
func notDone(s *projections.State) string {
	if !s.Simulates() {
		return ""
	}
	return i18n.Text(s.Lang, "fork.summary", s.Fork.Origin, s.Fork.Seq) + "\n\n"
}

func computedSummary(s *projections.State, v *projections.Ending) *event.SummaryAdded {
	lines := []string{i18n.Text(s.Lang, "summary.marked")}
	if s.Task != nil {
		lines = append(lines, i18n.Text(s.Lang, "summary.goal", s.Task.Title))
	}
	lines = append(lines, i18n.Text(s.Lang, "summary.end", string(v.Status)+" ("+string(v.Reason)+")"))
	if v.Text != "" {
		lines = append(lines, i18n.Text(s.Lang, "summary.words", format.First(v.Text, 4000)))
	}
	if plan := planState(s); plan != "" {
		lines = append(lines, plan)
	}
	if len(s.Work.Files) > 0 {
		lines = append(lines, i18n.Text(s.Lang, "summary.files", strings.Join(s.Work.Files, ", ")))
	}
	if s.Publishing.Opened != nil && s.Publishing.Opened.URL != "" {
		lines = append(lines, i18n.Text(s.Lang, "summary.change", s.Publishing.Opened.URL))
	}
	lines = append(lines, toolLines(s)...)
	text := notDone(s) + strings.Join(lines, "\n")
	first, last, original := conversationSpan(s)
	return &event.SummaryAdded{Purpose: event.FinalSummary, From: first, To: last, Text: event.T(text),
		Original: original, Tokens: llm.Estimate(text), Computed: true, Sources: s.Lineage.Sources}
}

func toolLines(s *projections.State) []string {
	facts := s.Work.Facts[max(len(s.Work.Facts)-summaryFacts, 0):]
	if len(facts) == 0 {
		return nil
	}
	lines := []string{i18n.Text(s.Lang, "summary.tools")}
	for _, f := range facts {
		outcome := "ok"
		if f.ExitCode != "" {
			outcome = "exit code " + f.ExitCode
		} else if !f.OK {
			outcome = "failed"
		}
		lines = append(lines, fmt.Sprintf("- %s %s: %s", f.Tool, format.First(format.OneLine(f.Subject), 120), outcome))
	}
	return lines
}

func conversationSpan(s *projections.State) (first, last uint64, tokens int) {
	entries := s.Conversation.Entries
	for _, e := range entries {
		tokens += llm.Estimate(e.Text)
	}
	if len(entries) > 0 {
		first, last = entries[0].Seq, entries[len(entries)-1].Seq
	}
	return first, last, tokens
}
