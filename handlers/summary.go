package handlers

import (
	_ "embed"
	"fmt"
	"strings"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/loosejson"
	"agent/llm"
	"agent/projections"
)

// summaryFacts is how many of the latest tool calls a summary names.
const summaryFacts = 10

//go:embed prompts/summary.txt
var summaryPrompt string

//go:embed prompts/compaction.txt
var compactionPrompt string

// summaryRequest asks for a summary of a text in a call of its own.
func summaryRequest(s *projections.State, prompt, text string) llm.Request {
	return llm.Request{Model: s.Config.Model, ContextLength: s.Config.ContextLength, Messages: []llm.Message{
		{Role: llm.System, Content: strings.TrimSpace(strings.ReplaceAll(prompt, "{language}", language(s)))},
		{Role: llm.User, Content: text},
	}}
}

// wantsDraft is true if a model should write the final summary: it works, and
// there is something to tell.
func wantsDraft(s *projections.State, v *verdict) bool {
	return s.Work.Failure == nil && s.Task != nil && v.reason != "max_calls" && s.Usage.ToolCalls > 0 && exceeded(s) == nil
}

func draftSummary(s *projections.State) Effect {
	text := joinParts([]string{i18n.Text(s.Lang, "task.head", s.Task.Title), planState(s), transcript(s, recentTurns(s))})
	r := summaryRequest(s, summaryPrompt, text)
	return request(s, "summary", r, estimate(s, r))
}

// recentTurns are the newest turns that fit half of the window.
func recentTurns(s *projections.State) []projections.Entry {
	entries := s.Conversation.Entries
	room := s.Config.ContextLength / 2
	first := len(entries)
	for first > 0 && entries[first-1].Role != llm.System {
		if room -= int(s.Usage.Scale(float64(llm.Estimate(event.Shorten(entries[first-1].Text, turnLength)) + 20))); room < 0 {
			break
		}
		first--
	}
	return entries[first:]
}

// finalSummary is what the next go at the same task inherits: what the model
// wrote, or, when no model can be reached, what the events tell.
func finalSummary(s *projections.State, v *verdict) *event.SummaryAdded {
	drafted := plainWords(s.Drafted)
	if drafted == "" || !s.Done("drafted:summary", v.since) {
		return computedSummary(s, v)
	}
	first, last, original := conversationSpan(s)
	return &event.SummaryAdded{Purpose: "final", From: first, To: last, Text: event.T(drafted),
		Original: original, Tokens: llm.Estimate(drafted), Sources: s.Lineage.Sources}
}

// plainWords takes the comment of a model that replied in the form of a turn.
func plainWords(text string) string {
	text = strings.TrimSpace(loosejson.StripThinking(text))
	if obj := findObject(text); obj != nil {
		comment, _ := obj.Comment.(string)
		return strings.TrimSpace(comment)
	}
	return text
}

func computedSummary(s *projections.State, v *verdict) *event.SummaryAdded {
	lines := []string{i18n.Text(s.Lang, "summary.marked")}
	if s.Task != nil {
		lines = append(lines, i18n.Text(s.Lang, "summary.goal", s.Task.Title))
	}
	lines = append(lines, i18n.Text(s.Lang, "summary.end", string(v.status)+" ("+v.reason+")"))
	if v.text != "" {
		lines = append(lines, i18n.Text(s.Lang, "summary.words", firstRunes(v.text, 4000)))
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
	text := strings.Join(lines, "\n")
	first, last, original := conversationSpan(s)
	return &event.SummaryAdded{Purpose: "final", From: first, To: last, Text: event.T(text),
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
