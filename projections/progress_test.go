package projections

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent/eventlog/event"
)

func TestSaying(t *testing.T) {
	call := []event.ToolCall{{ID: "c", Name: "ws__x", Args: event.T("{}")}}
	for name, c := range map[string]struct {
		text  string
		calls []event.ToolCall
		want  saying
	}{
		"closing words":         {`{"done":true,"comment":"Fixed."}`, nil, saying{"Fixed.", true, false}},
		"command":               {`{"comment":"I look.","command":{"tool":"ws/x"}}`, nil, saying{"I look.", true, true}},
		"comment in command":    {"<think>{\"comment\":\"no\"}</think>```json\n" + `{"comment":"","command":{"tool":"ws/x","comment":"I look."}}` + "\n```", nil, saying{"I look.", true, true}},
		"inner comments":        {`{"plan":{"comment":"inner"}}`, nil, saying{"", true, false}},
		"no text as comment":    {`{"comment":{"a":"b"},"command":"rm"}`, nil, saying{"", true, false}},
		"braces of a program":   {`func f() {} {"done":true,"comment":"Fixed."}`, nil, saying{"Fixed.", true, false}},
		"plain":                 {" All is well. ", nil, saying{"All is well.", false, false}},
		"native":                {"I look.", call, saying{"I look.", false, true}},
		"native, silent":        {"", call, saying{"", false, true}},
		"native with a comment": {`{"comment":"I look."}`, call, saying{"I look.", true, true}},
		"native with a form":    {`{"plan":{}}`, call, saying{"", true, true}},
		"native about JSON":     {`I set {"a":1}.`, call, saying{`I set {"a":1}.`, true, true}},
	} {
		if got := sayingOf(&event.LLMReplied{Text: event.T(c.text), Calls: c.calls}); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// told folds bodies into a context with or without a plan.
func told(planning event.Planning, bodies ...event.Body) *State {
	s := NewState()
	all := append([]event.Body{&event.ContextCreated{Format: 1, UUID: uuid}, &event.ConfigPinned{Protocol: "json", Planning: planning}}, bodies...)
	for i, b := range all {
		s.Apply(event.Event{Seq: uint64(i + 1), Body: b})
	}
	return s
}

func call(purpose, reply string) []event.Body {
	return []event.Body{&event.LLMRequested{Purpose: purpose}, &event.LLMReplied{Text: event.T(reply)}}
}

func join(parts ...[]event.Body) (all []event.Body) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// brief is a note in the words of these tests.
func brief(notes []Note) (lines []string) {
	for _, n := range notes {
		lines = append(lines, strings.TrimRight(strings.Join([]string{string(n.Kind), n.Stage, n.Action, n.Tool, n.Args, n.Text}, "|"), "|"))
	}
	return lines
}

// TestSimpleNotes: without a plan, what is said beside commands is progress. The
// closing words, summaries and errors are not.
func TestSimpleNotes(t *testing.T) {
	s := told(event.Planning{}, join(
		call("work", `{"command":{"tool":"ws/x","comment":"One."}}`), call("work", `{"command":{"tool":"ws/x"}}`),
		call("summary", `{"command":{"tool":"ws/x","comment":"A summary."}}`), call("work", "nonsense"),
		[]event.Body{&event.ToolRequested{Server: "ws", Tool: "x"}, &event.ToolReplied{IsError: true, Content: event.T("no")},
			&event.LLMRequested{Purpose: "work"}, &event.LLMFailed{Kind: "timeout", Message: "dial tcp 10.0.0.7:443"}},
		call("work", `{"command":{"tool":"ws/x","comment":"Two."}}`), call("work", `{"done":true,"comment":"Fixed."}`))...)
	if d := cmp.Diff([]string{"reply||||" + "|One.", "reply|||||Two."}, brief(s.Progress.Notes)); d != "" {
		t.Error(d)
	}
	if n := s.Progress.Notes[1]; n.Call != 4 || n.Tools != 1 {
		t.Errorf("it counts %d model calls and %d tool calls", n.Call, n.Tools)
	}
}

func TestPlannedNotes(t *testing.T) {
	planning := event.Planning{Enabled: true, MaxHistory: 9, Notify: event.Notify{Start: true, Collection: true}}
	s := told(planning, join(
		[]event.Body{&event.PhaseEntered{Phase: Understanding}}, call(Understanding, `{"comment":"Not announced."}`),
		[]event.Body{&event.PhaseEntered{Phase: Information}}, call(Information, `{"comment":"Collected."}`),
		[]event.Body{&event.PhaseEntered{Phase: PlanPhase}}, call(PlanPhase, "no form"), []event.Body{&event.MessageAdded{Role: "user", Purpose: event.CorrectionMessage}},
		call(PlanPhase, `{"plan":{}}`), call("compaction", `{"comment":"aside"}`),
		[]event.Body{&event.PlanMade{Plan: event.Plan{Actions: event.ActionPlan{Actions: []event.Action{{ID: "a"}}}}},
			&event.PhaseEntered{Phase: Execution}, &event.ActionStarted{Action: "a"}}, call("work", "Said plainly."),
		[]event.Body{&event.ToolRequested{Server: "ws", Tool: "x", Args: event.T(`{"path": "` + strings.Repeat("長", 50) + `"}`)}, &event.ToolFailed{Kind: "timeout", Message: "slow"},
			&event.ToolRequested{Server: "ws", Tool: "x"}, &event.ToolInterrupted{Reason: "killed"},
			&event.LLMRequested{Purpose: "work"}, &event.LLMFailed{Kind: event.Interrupted},
			&event.LLMRequested{Purpose: "work"}, &event.LLMFailed{Kind: "tools_refused", Message: "no tools"},
			&event.LLMRequested{Purpose: "work"}, &event.LLMFailed{Kind: "timeout", Message: "dial tcp 10.0.0.7:443"}, &event.LLMRequested{Purpose: "work"}, &event.LLMFailed{Kind: "rate_limited", Status: 429, Message: "slow"}})...)
	want := []string{"start|pre_planning", "reply|pre_planning||||Collected.", "unusable|planning", "reply|planning", "reply|execution|a|||Said plainly.",
		`tool|execution|a|ws/x|{"path": "` + strings.Repeat("長", 29) + "…|slow", "model|execution|a", "model|execution|a|||slow"}
	if d := cmp.Diff(want, brief(s.Progress.Notes)); d != "" {
		t.Error(d)
	}
}

// TestNotesAreBounded keeps the latest notes, and counts the others by stage.
func TestNotesAreBounded(t *testing.T) {
	for _, planning := range []event.Planning{{}, {Enabled: true, MaxHistory: 7}, {Enabled: true}} {
		var all []event.Body
		for range 150 {
			all = append(all, call("work", `{"command":{"tool":"ws/x","comment":"Again."}}`)...)
		}
		s := told(planning, join([]event.Body{&event.PhaseEntered{Phase: Execution}}, all)...)
		want, stage := 20, ""
		if planning.Enabled {
			want, stage = max(planning.MaxHistory, 7), Execution
			if planning.MaxHistory == 0 {
				want = 100
			}
		}
		if len(s.Progress.Notes) != want || s.Progress.Dropped[stage] != 150-want || s.Progress.Notes[want-1].Call != 150 {
			t.Errorf("%d notes, dropped %v", len(s.Progress.Notes), s.Progress.Dropped)
		}
	}
}

// TestPosts follows a comment that is posted, fails, is deleted and comes back.
func TestPosts(t *testing.T) {
	var all []event.Body
	for _, c := range []struct {
		edit    string
		outcome event.Body
		want    Post // without At
	}{
		{"", &event.CommentFailed{Kind: "transient"}, Post{Tried: 3, Failed: 1, Lost: []uint64{3}}},
		{"", &event.CommentPosted{ID: "7"}, Post{ID: "7", Tried: 5, Stands: 5}},
		{"7", &event.CommentFailed{Kind: "ambiguous"}, Post{ID: "7", Tried: 7, Stands: 5, Failed: 1}},
		{"7", &event.CommentFailed{Kind: "not_found"}, Post{}},
		{"", &event.CommentPosted{ID: "8"}, Post{ID: "8", Tried: 11, Stands: 11}},
	} {
		all = append(all, &event.CommentRequested{Purpose: "progress", Edit: c.edit, Body: event.T("x")}, c.outcome)
		if d := cmp.Diff(c.want, told(event.Planning{}, all...).Progress.Posts["progress"]); d != "" {
			t.Errorf("after %T: %s", c.outcome, d)
		}
	}
	s := told(event.Planning{}, &event.CommentRequested{Purpose: "paused"}, &event.CommentPosted{ID: "9"})
	if len(s.Progress.Posts) != 0 {
		t.Error("a comment that is no progress")
	}
}
