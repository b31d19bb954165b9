package handlers

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/projections"
)

// TestCompactionAfterAStep: the message of an action stays while the action goes
// on, after a summary that covers later turns. Once it is over, a compaction takes
// both away, and does not summarise them again and again.
func TestCompactionAfterAStep(t *testing.T) {
	s := projections.NewState()
	add := func(b event.Body) { s.Apply(event.Event{Seq: s.Seq + 1, Body: b}) }
	say := func(purpose event.MessagePurpose) {
		add(&event.MessageAdded{Role: "user", Purpose: purpose, Content: event.T(strings.Repeat("the plan, ", 80))})
	}
	turns := func(purpose event.MessagePurpose) {
		say(purpose)
		for range 5 {
			add(&event.LLMRequested{Purpose: "work"})
			add(&event.LLMReplied{Text: event.T(strings.Repeat("I look at the code. ", 50))})
		}
	}
	compacted := func() (from, to uint64) {
		from, to = span(oldTurns(s, 8000))
		add(&event.SummaryAdded{Purpose: event.CompactionSummary, From: from, To: to, Text: event.T("I looked.")})
		return from, to
	}
	add(&event.ContextCreated{Format: 1, UUID: "00000000-0000-4000-8000-000000000001", TaskKey: "github.com/o/r/issues/7", Forge: "github.com", Kind: "github_issue"})
	add(&event.ConfigPinned{Protocol: "json", ContextLength: 16384, Storage: event.Storage{Threshold: 0.7, Keep: 1}})
	turns("action")
	turns("action")
	say("comments")
	compacted()
	say("phase")
	for range 10 {
		if len(oldTurns(s, 8000)) == 0 {
			return
		}
		before := len(s.Conversation.Entries)
		if from, to := compacted(); from > to || len(s.Conversation.Entries) >= before {
			t.Fatalf("the summary of %d to %d takes the place of nothing: %d turns", from, to, len(s.Conversation.Entries))
		}
	}
	t.Error("there is always something left to be summarised")
}
