package handlers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/llm"
)

// longPlan plays a plan of many actions, each of several calls, in a small window.
func longPlan(t *testing.T, protocol string, actions, calls int) (w *world, requests []llm.Request, compactions int) {
	var ids []string
	for i := range actions {
		ids = append(ids, fmt.Sprintf("a%d", i+1))
	}
	w = newPlanWorld(t, script{"understanding": {text(understood)}, "information": {text(nothing)}, "planning": {text(planned(ids...))},
		"reflection": {text(noRevision)}, "verification": {text(passed)}, "compaction": {text("All that was read was fine.")}})
	w.steps = actions * calls * 40
	w.state.Config.Protocol = protocol
	w.state.Config.ContextLength = window
	w.state.Config.Storage = event.Storage{Threshold: 0.7, Keep: 5}
	w.state.Config.Prompt = rule + " {protocol} {mcp_prompt}"
	made, plain := 0, w.reply
	w.reply = func(in *event.LLMRequested, r *llm.Request) event.Body {
		requests = append(requests, *r)
		var said event.Body
		switch {
		case in.Purpose == "compaction":
			compactions++
			said = plain(in, r)
		case in.Purpose != "work":
			said = plain(in, r)
		case w.state.Planning.Turns == calls-1 && calls > 1:
			said = text(`{"done":true,"comment":"It is read."}`)
		default:
			made++
			said = longRead(protocol, made, calls)
		}
		reply := *said.(*event.LLMReplied)
		reply.Usage.Prompt = llm.EstimateRequest(*r)
		return &reply
	}
	result := &event.ToolReplied{Content: event.T(strings.Repeat("func f() { return } // 説明\n", 60))}
	w.tools["ws/read_file"], w.tools["ws/run_command"] = result, result
	w.run()
	return w, requests, compactions
}

// longRead ends an action if it has one call only: its tool is read_file.
func longRead(protocol string, made, calls int) event.Body {
	tool := "read_file"
	if calls > 1 {
		tool = "run_command"
	}
	path := fmt.Sprintf(`{"path":"file-%d.go"}`, made)
	if protocol == "json" {
		return text(`{"command":{"tool":"ws/` + tool + `","args":` + path + `}}`)
	}
	return native("ws__"+tool, path)
}

// TestLongPlanFits: however often the conversation is compacted, every request
// fits the window and holds the goal, the criteria, the constraints, and what
// is done, and nothing that is done begins again (B10 to B13).
func TestLongPlanFits(t *testing.T) {
	for _, protocol := range []string{"json", "tools"} {
		t.Run(protocol, func(t *testing.T) {
			w, requests, compactions := longPlan(t, protocol, 30, 3)
			if w.state.Status != "completed" || w.state.Last.Partial || compactions < 10 {
				t.Fatalf("%s after %d compactions: %+v", w.state.Status, compactions, w.state.Last)
			}
			done, next := []string{}, 0
			for _, b := range w.all {
				switch b := b.(type) {
				case *event.ActionStarted:
					if slices.Contains(done, b.Action) {
						t.Fatalf("%s begins again", b.Action)
					}
				case *event.ActionFinished:
					done = append(done, b.Action)
				case *event.LLMRequested:
					wantPlanned(t, b, requests[next], protocol, done)
					next++
				}
			}
			if len(done) != 30 || next != len(requests) {
				t.Errorf("%d actions, %d of %d requests", len(done), next, len(requests))
			}
		})
	}
}

func wantPlanned(t *testing.T, in *event.LLMRequested, r llm.Request, protocol string, done []string) {
	t.Helper()
	if n := llm.EstimateRequest(r); n > window {
		t.Fatalf("%s: a request of %d tokens", in.Purpose, n)
	}
	if in.OutsideConversation() || in.Purpose == "understanding" || in.Purpose == "information" || in.Purpose == "planning" {
		return
	}
	if err := wellFormed(&r, protocol); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, m := range r.Messages {
		all.WriteString(m.Content + "\n")
	}
	want := []string{rule, "It is broken.", "Goal: Mend it", "Success criterion: tests pass", "Constraint: keep the API"}
	for _, id := range done {
		want = append(want, "[done] "+id+":")
	}
	for _, part := range want {
		if !strings.Contains(all.String(), part) {
			t.Fatalf("%s after %d actions lacks %q", in.Purpose, len(done), part)
		}
	}
}

// TestPlanGrowthIsLinear: a call costs the same at the end of a plan as at its beginning.
func TestPlanGrowthIsLinear(t *testing.T) {
	short, few, _ := longPlan(t, "tools", 30, 3)
	long, many, compactions := longPlan(t, "tools", 30, 9)
	if a, b := float64(short.bytes)/float64(len(few)), float64(long.bytes)/float64(len(many)); b > a*1.05 || compactions < 50 {
		t.Errorf("%.0f bytes a call became %.0f, after %d compactions", a, b, compactions)
	}
}

// TestLargestPlanLeavesRoom wants what is said in every step to take less than
// half of a small window, for a plan of as many actions as may be, each with a
// long purpose and long arguments in wide characters, also when much was
// collected before.
func TestLargestPlanLeavesRoom(t *testing.T) {
	var ids, needs []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("a%d", i+1))
		needs = append(needs, fmt.Sprintf(`{"id":"n%d","description":"%s","collection_method":{"tool":"ws/read_file","parameters":{}}}`, i+1, strings.Repeat("設定", 20)))
	}
	plan := strings.ReplaceAll(planned(ids...), `"do `, `"`+strings.Repeat("設定を読み込み", 20)+` `)
	plan = strings.Replace(plan, `"path":"a1"`, `"path":"`+strings.Repeat("長い道", 2000)+`"`, 1)
	information := `{"information_needs":{"required_information":[` + strings.Join(needs, ",") + `]}}`
	w := newPlanWorld(t, script{"understanding": {text(understood)}, "information": {text(information)}, "planning": {text(plan)},
		"reflection": {text(noRevision)}, "verification": {text(passed)}})
	w.steps = 10_000
	w.state.Config.ContextLength = window
	w.state.Config.Storage = event.Storage{Threshold: 0.7, Keep: 5}
	made, plain := 0, w.reply
	w.reply = func(in *event.LLMRequested, r *llm.Request) event.Body {
		if in.Purpose != "work" {
			return plain(in, r)
		}
		made++
		return longRead("tools", made, 1)
	}
	w.tools["ws/read_file"] = &event.ToolReplied{Content: event.T(strings.Repeat("設定", 400))}
	w.run()
	for _, b := range w.all {
		if m, ok := b.(*event.MessageAdded); ok && llm.Estimate(m.Content.View()) > window/2 {
			t.Errorf("a message (%s) of %d tokens", m.Purpose, llm.Estimate(m.Content.View()))
		}
	}
	if w.state.Status != "completed" || w.state.Planning.Count("success") != 100 {
		t.Errorf("%s, %d actions", w.state.Status, w.state.Planning.Count("success"))
	}
}
