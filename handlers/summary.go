package handlers

import (
	"fmt"
	"strings"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/llm"
	"agent/projections"
)

// summaryFacts is how many of the latest tool calls a summary names.
const summaryFacts = 10

// finalSummary is what the next go at the same task inherits. It is computed
// from events, so it is there also when no model can be reached.
func finalSummary(s *projections.State, v *verdict) *event.SummaryAdded {
	lines := []string{i18n.Text(s.Lang, "summary.marked")}
	if s.Task != nil {
		lines = append(lines, i18n.Text(s.Lang, "summary.goal", s.Task.Title))
	}
	lines = append(lines, i18n.Text(s.Lang, "summary.end", string(v.status)+" ("+v.reason+")"))
	if v.text != "" {
		lines = append(lines, i18n.Text(s.Lang, "summary.words", firstRunes(v.text, 4000)))
	}
	if len(s.Work.Files) > 0 {
		lines = append(lines, i18n.Text(s.Lang, "summary.files", strings.Join(s.Work.Files, ", ")))
	}
	if s.Change != nil && s.Change.URL != "" {
		lines = append(lines, i18n.Text(s.Lang, "summary.change", s.Change.URL))
	}
	lines = append(lines, toolLines(s)...)
	text := strings.Join(lines, "\n")
	first, last, original := conversationSpan(s)
	return &event.SummaryAdded{Purpose: "final", From: first, To: last, Text: event.T(text),
		Original: original, Tokens: llm.Estimate(text), Computed: true}
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
		lines = append(lines, fmt.Sprintf("- %s %s: %s", f.Tool, firstRunes(oneLine(f.Subject), 120), outcome))
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
