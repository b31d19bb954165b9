package handlers

import (
	"fmt"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/llm"
)

const (
	window   = 8192
	rule     = "Never touch the file LICENSE."
	finished = "item 1 is finished"
)

// longRun plays a conversation of many tool calls, whose results have so many lines, in a small window.
func longRun(t *testing.T, protocol string, calls, lines int, summary func(i int) event.Body) (w *world, requests []llm.Request, compactions int) {
	w = newWorld(t, protocol)
	w.steps = calls * 20
	w.state.Config.ContextLength = window
	w.state.Config.Limits.MaxCalls = calls * 5
	w.state.Config.Storage = event.Storage{Threshold: 0.7, Keep: 5}
	w.state.Config.Prompt = rule + " {protocol} {mcp_prompt}"
	made := 0
	play := func(in *event.LLMRequested, r *llm.Request) event.Body {
		requests = append(requests, *r)
		if in.Purpose != "work" {
			compactions++
			return summary(compactions)
		}
		made++
		if made > calls {
			return text(`{"done":true,"comment":"Fixed."}`)
		}
		path := fmt.Sprintf(`{"path":"file-%d.go"}`, made)
		if protocol == "json" {
			return text(`{"command":{"tool":"ws/read_file","args":` + path + `}}`)
		}
		return &event.LLMReplied{Finish: "tool_calls", Calls: []event.ToolCall{{ID: fmt.Sprint(made), Name: "ws__read_file", Args: event.T(path)}}}
	}
	w.reply = func(in *event.LLMRequested, r *llm.Request) event.Body {
		outcome := play(in, r)
		if reply, ok := outcome.(*event.LLMReplied); ok {
			reply.Usage.Prompt = llm.EstimateRequest(*r)
		}
		return outcome
	}
	w.tools["ws/read_file"] = &event.ToolReplied{Content: event.T(strings.Repeat("func f() { return } // 説明\n", lines))}
	w.run()
	return w, requests, compactions
}

// TestLongConversationFits: no request passes the window, the one for a summary
// neither (B10); the rule of the system prompt is in every request for work (B11);
// and what was summarised is not summarised again at the next step (B12).
func TestLongConversationFits(t *testing.T) {
	for i, lines := range []int{60, 60, 20, 200, 1000, 1000} {
		protocol := []string{"json", "tools"}[i%2]
		t.Run(fmt.Sprintf("%s, %d lines", protocol, lines), func(t *testing.T) {
			w, requests, compactions := longRun(t, protocol, 200, lines, func(i int) event.Body { return text(fmt.Sprintf("%s, and %d more", finished, i)) })
			if w.state.Status != "completed" || compactions < 10 {
				t.Fatalf("%s after %d compactions", w.state.Status, compactions)
			}
			ruled := 0
			for i, r := range requests {
				if n := llm.EstimateRequest(r); n > window {
					t.Fatalf("request %d has %d tokens", i, n)
				}
				if strings.Contains(r.Messages[0].Content, rule) {
					ruled++
				}
				checkPairs(t, r)
			}
			if ruled < len(requests)-compactions {
				t.Errorf("%d of %d requests have the rule, %d were for summaries", ruled, len(requests), compactions)
			}
			checkCompactions(t, w.all)
			last := requests[len(requests)-2] // before the final summary
			if !strings.Contains(last.Messages[0].Content, rule) || last.Messages[1].Role != llm.User || !strings.Contains(last.Messages[1].Content, "It is broken.") {
				t.Errorf("rule or task is lost: %+v", last.Messages[:2])
			}
			if !strings.Contains(last.Messages[2].Content, finished) {
				t.Errorf("what was finished is lost: %s", last.Messages[2].Content)
			}
		})
	}
}

// checkCompactions wants work between two of them, and each to come further.
func checkCompactions(t *testing.T, all []event.Body) {
	t.Helper()
	worked, to := true, uint64(0)
	for _, b := range all {
		switch b := b.(type) {
		case *event.LLMRequested:
			worked = worked || b.Purpose == "work"
		case *event.SummaryAdded:
			if b.Purpose != event.CompactionSummary {
				continue
			}
			if !worked || b.To <= to || b.From > b.To || b.Tokens >= b.Original {
				t.Fatalf("worked since the last one: %v, which came to %d: %+v", worked, to, b)
			}
			worked, to = false, b.To
		}
	}
}

// checkPairs wants every result to follow its call.
func checkPairs(t *testing.T, r llm.Request) {
	t.Helper()
	open := map[string]bool{}
	for _, m := range r.Messages {
		for _, c := range m.Calls {
			open[c.ID] = true
		}
		if m.Role == llm.ToolRole {
			if !open[m.CallID] {
				t.Fatalf("result without its call: %+v", m)
			}
			delete(open, m.CallID)
		}
	}
	if len(open) > 0 {
		t.Fatalf("calls without results: %v", open)
	}
}

// TestCompactionWithoutModel: what failed is not kept as a summary (B12); one is computed instead.
func TestCompactionWithoutModel(t *testing.T) {
	w, requests, _ := longRun(t, "json", 60, 60, func(int) event.Body { return &event.LLMFailed{Kind: "transient", Message: "Said-by-fault"} })
	if w.state.Status != "completed" {
		t.Fatalf("it %s", w.state.Status)
	}
	for i, r := range requests {
		if n := llm.EstimateRequest(r); n > window {
			t.Fatalf("request %d has %d tokens", i, n)
		}
	}
	for _, b := range w.all {
		if sum, ok := b.(*event.SummaryAdded); ok && (!sum.Computed || strings.Contains(sum.Text.View(), "Said-by-fault")) {
			t.Errorf("kept as a summary: %+v", sum)
		}
	}
}

// TestGrowthIsLinear: a compaction names what it stands for and copies nothing,
// so that the log grows by the same with each of hundreds.
func TestGrowthIsLinear(t *testing.T) {
	short, _, few := longRun(t, "json", 300, 60, func(int) event.Body { return text("short") })
	long, _, many := longRun(t, "json", 2400, 60, func(int) event.Body { return text("short") })
	if many < 7*few || many < 300 {
		t.Fatalf("%d and %d compactions", few, many)
	}
	if a, b := float64(short.bytes)/300, float64(long.bytes)/2400; b > a*1.1 {
		t.Errorf("%.0f bytes a call became %.0f", a, b)
	}
}
