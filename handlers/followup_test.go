package handlers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/projections"
)

// hundred is a waiting context that has just got 100 long comments of its author.
func hundred(last string) *projections.State {
	s := projections.NewState()
	var seq uint64
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	add := func(b event.Body) {
		seq++
		s.Apply(event.Event{Seq: seq, Time: at, Body: b})
	}
	add(&event.ContextCreated{Format: 1, UUID: "00000000-0000-4000-8000-000000000001", TaskKey: "github.com/o/r/issues/7", Forge: "github.com", Kind: "github_issue"})
	add(&event.ConfigPinned{Model: "m", ContextLength: 8000, Language: "en", FollowUp: event.FollowUp{Enabled: true, MaxRounds: 10, TimeoutHours: 24},
		Comments: event.CommentRule{Enabled: true, Max: 100}})
	add(&event.TaskFetched{Title: "A bug", Author: "alice", State: "open"})
	add(&event.ContextAwaiting{Until: event.Until{Kind: "comment", Time: at.Add(time.Hour)}})
	add(&event.ResumeRequested{By: "comment"})
	add(&event.ContextResumed{})
	var all []event.Comment
	for i := range 100 {
		body := strings.Repeat("ありがとうございます。Thanks! OK. ", 50)
		if i == 99 {
			body = last
		}
		all = append(all, event.Comment{ID: fmt.Sprint(i), Kind: "comment", Author: "alice", Verdict: event.NewComment, Hash: fmt.Sprint(i), Body: event.T(body)})
	}
	add(&event.CommentsFetched{Reason: "resume", Comments: all, Last: true})
	return s
}

// 100 comments of thanks end a talk; one that is none keeps it going.
func TestHundredComments(t *testing.T) {
	if v := endingOf(hundred("Thanks!")); v == nil || v.Reason != "keyword" {
		t.Errorf("verdict %+v, want an end by thanks", v)
	}
	if v := endingOf(hundred("The token is broken. まだ完了していません。")); v != nil {
		t.Errorf("verdict %+v, want none", v)
	}
}

// Judging 100 comments of 2 KB may take 5 seconds (REQ-CH-NFR-001); it takes milliseconds.
func BenchmarkJudge100Comments(b *testing.B) {
	s := hundred("The token is broken. まだ完了していません。")
	for b.Loop() {
		if endingOf(s) != nil {
			b.Fatal("it ended")
		}
	}
}
