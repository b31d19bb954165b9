package projections

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/eventlog/event"
	"agent/llm"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

const uuid = "00000000-0000-4000-8000-000000000001"

// story is an attempt at a task with everything that projection files show.
func story(protocol string) []event.Event {
	var events []event.Event
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC)
	add := func(b event.Body) {
		at = at.Add(1500 * time.Millisecond)
		events = append(events, event.Event{Seq: uint64(len(events) + 1), Time: at, Body: b})
	}
	add(&event.ContextCreated{Format: 1, UUID: uuid, TaskKey: "git.example.com/g/s/p/-/merge_requests/5", Forge: "git.example.com",
		Kind: "gitlab_merge_request", User: "alice", Title: "値が違う", Trigger: "label", Version: "1", Host: "h", PID: 7})
	add(&event.ProcessStarted{Version: "1", Decisions: 1, Host: "h", PID: 8})
	add(&event.ConfigPinned{Provider: "openai", Model: "m", ContextLength: 8000, Protocol: protocol, Language: "auto", Storage: event.Storage{Threshold: 0.7}})
	add(&event.TaskFetched{Title: "値が違う", Body: event.T("テストが失敗します。"), Author: "alice", State: "open"})
	add(&event.CommentsFetched{Reason: "start", Last: true, Comments: []event.Comment{
		{ID: "12", Kind: "note", Author: "bob", Hash: "h1", Verdict: event.NewComment, Body: event.T("急いで")},
		{ID: "9", Kind: "note", Author: "bot", Hash: "h2", Verdict: event.BotComment}}})
	add(&event.MessageAdded{Role: "system", Purpose: event.SystemMessage, Content: event.T("Be good <&>.")})
	add(&event.MessageAdded{Role: "user", Purpose: event.TaskMessage, Content: event.T("値が違う"), Comments: []string{"12"}})
	call := event.ToolCall{ID: "c1", Name: "ws__read_file", Args: event.T(`{"path":"a.go"}`)}
	add(&event.LLMRequested{Purpose: "work", Protocol: protocol, Model: "m", Estimated: 100})
	add(&event.LLMReplied{Text: event.T("I look."), Calls: []event.ToolCall{call}, Finish: "tool_calls", Usage: event.Usage{Prompt: 120, Completion: 8}})
	add(&event.ToolRequested{Reply: 9, CallID: "c1", Server: "ws", Tool: "read_file", Args: call.Args, Again: true})
	add(&event.ToolReplied{Content: event.T("package a // <b>"), DurationMS: 12})
	add(&event.ToolRequested{Reply: 9, Index: 1, Server: "ws", Tool: "run", Args: event.T("nonsense")})
	add(&event.ToolFailed{Kind: "bad_arguments", Message: "not an object", DurationMS: 1})
	add(&event.PauseRequested{By: "command"})
	add(&event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "person"}})
	add(&event.ProcessEnded{Reason: "paused"})
	add(&event.ProcessStarted{Version: "1", Decisions: 1, Host: "h", PID: 9})
	add(&event.ResumeRequested{By: "command", Person: true})
	add(&event.ContextResumed{})
	add(&event.SummaryAdded{Purpose: event.CompactionSummary, From: 9, To: 13, Text: event.T("a.go was read"), Original: 200, Tokens: 10})
	add(&event.LLMReplied{Text: event.T("直しました。"), Finish: "stop", Usage: event.Usage{Prompt: 150, Completion: 9}})
	add(&event.SummaryAdded{Purpose: event.FinalSummary, From: 6, To: 21, Text: event.T("直した"), Original: 100, Tokens: 3})
	add(&event.ContextCompleted{Reason: "done"})
	return events
}

func fold(events []event.Event) (*State, map[string]string) {
	s, f, files := NewState(), Files{}, map[string]string{}
	for _, e := range events {
		s.Apply(e)
		for _, c := range f.Apply(s, e) {
			if c.Replace {
				files[c.Name] = ""
			}
			files[c.Name] += string(c.Data)
		}
	}
	return s, files
}

// TestFiles compares the projection files of a story with those in testdata.
func TestFiles(t *testing.T) {
	for _, protocol := range []string{"tools", "json"} {
		_, files := fold(story(protocol))
		for _, name := range FileNames(uuid) {
			golden := filepath.Join("testdata", protocol, name)
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(files[name]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), files[name]); d != "" {
				t.Errorf("%s (run with -update if this is meant):\n%s", golden, d)
			}
		}
	}
}

func TestState(t *testing.T) {
	s, _ := fold(story("tools"))
	if s.Status != Completed || s.Resumes != 1 || s.Lang != "ja" || s.Key.Project != "g/s/p" || !s.PausedAt.Before(s.ResumedAt) {
		t.Errorf("%+v", s)
	}
	if u := s.Usage; u.LLMBegun != 1 || u.LLMCalls != 2 || u.ToolCalls != 2 || u.Tokens() != 287 || u.Ratio < 1.1 {
		t.Errorf("%+v", u)
	}
	if d := cmp.Diff([]string{"9", "12"}, s.Comments.IDs()); d != "" {
		t.Error(d)
	}
	if len(s.Comments.Pending) != 0 || s.Comments.Ignored["bot"] != 1 {
		t.Errorf("%+v", s.Comments)
	}
	// Resting between the pause and the next process does not count as work.
	if want := 25500 * time.Millisecond; s.Usage.Active != want {
		t.Errorf("active for %s", s.Usage.Active)
	}
}

func TestFailedFetchForgetsNothing(t *testing.T) {
	s, _ := fold(append(story("json")[:7], event.Event{Seq: 8, Body: &event.CommentsFetched{Reason: "resume", Last: true, Error: "no"}}))
	if _, ok := s.Comments.Seen("12"); !ok || s.Comments.Error == "" || len(s.Comments.IDs()) != 2 {
		t.Errorf("%+v", s.Comments)
	}
}

func TestMessages(t *testing.T) {
	s, _ := fold(story("tools")[:13])
	native := s.Conversation.Shown("tools", 1000).Messages
	want := []llm.Message{
		{Role: llm.System, Content: "Be good <&>."}, {Role: llm.User, Content: "値が違う"},
		{Role: llm.Assistant, Content: "I look.", Calls: []llm.ToolCall{{ID: "c1", Name: "ws__read_file", Arguments: `{"path":"a.go"}`}}},
		{Role: llm.ToolRole, Content: "package a // <b>", CallID: "c1", Name: "ws/read_file"},
		{Role: llm.User, Content: "previous_command: {\"args\":\"nonsense\",\"tool\":\"ws/run\"}\nprevious_output:\nerror: not an object"},
	}
	if d := cmp.Diff(want, native); d != "" {
		t.Error(d)
	}
	text := s.Conversation.Shown("json", 8).Messages
	if got := text[3]; got.Role != llm.User || got.Content != "previous_command: {\"args\":{\"path\":\"a.go\"},\"tool\":\"ws/read_file\"}\nprevious_output:\npacka\n[… 9 bytes omitted …]\nb>" {
		t.Errorf("%+v", got)
	}
}

// TestPrefixes: folding a prefix and then the rest is folding the whole.
func TestPrefixes(t *testing.T) {
	events := story("json")
	_, whole := fold(events)
	for n := range events {
		s, f, files := NewState(), Files{}, map[string]string{}
		for _, part := range [][]event.Event{events[:n], events[n:]} {
			for _, e := range part {
				s.Apply(e)
				for _, c := range f.Apply(s, e) {
					if c.Replace {
						files[c.Name] = ""
					}
					files[c.Name] += string(c.Data)
				}
			}
		}
		if d := cmp.Diff(whole, files); d != "" {
			t.Fatalf("parted at %d: %s", n, d)
		}
	}
}
