package handlers

import (
	"fmt"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/handlers/prompt"
	"agent/llm"
	"agent/projections"
)

// narrow plays a server whose window is much smaller than the configured one. It
// says so in its own way, and the task needs many long tool results.
func narrow(t *testing.T, refusal *event.LLMFailed, window int) *world {
	w := newWorld(t, "tools")
	w.steps = 2000
	w.state.Config.Limits.MaxCalls = 100
	w.add(&event.ConfigPinned{Provider: "openai", Model: "m", ContextLength: 128000, Protocol: "tools", Language: "en",
		Labels: w.state.Config.Labels, Limits: w.state.Config.Limits, Comments: w.state.Config.Comments, Storage: event.Storage{Threshold: 0.7, Keep: 4}}, 0)
	w.tools["ws/read_file"] = &event.ToolReplied{Content: event.T(strings.Repeat("func main() { return }\n", 150))}
	reads := 0
	w.reply = func(in *event.LLMRequested, r *llm.Request) event.Body {
		if in.Estimated > window {
			return refusal
		}
		if reads++; reads > 20 || in.Purpose != "work" {
			return text("Fixed.")
		}
		return native("ws__read_file", fmt.Sprintf(`{"path":"%d"}`, reads))
	}
	return w
}

// A window that is smaller than configured is learned, however the server says it.
func TestOverflowIsLearned(t *testing.T) {
	for name, refusal := range map[string]*event.LLMFailed{
		"no number": {Kind: "context_overflow", Message: "too long"},
		"number":    {Kind: "context_overflow", Message: "too long", Window: 6000},
		"unknown":   {Kind: "invalid", Message: "something is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			w := narrow(t, refusal, 6000)
			w.run()
			refusals := 0
			for _, b := range w.all {
				if f, ok := b.(*event.LLMFailed); ok && f.Kind == refusal.Kind {
					refusals++
				}
			}
			if w.state.Status != projections.Completed || refusals == 0 || refusals > 2 {
				t.Errorf("%s after %d refusals:\n%s", w.state.Status, refusals, w.out.String())
			}
		})
	}
}

// A request that can be made no shorter is for a person, and is not sent for ever.
func TestOverflowWithoutEnd(t *testing.T) {
	w := narrow(t, &event.LLMFailed{Kind: "context_overflow", Message: "too long"}, 6000)
	answer, full := w.reply, false
	w.reply = func(in *event.LLMRequested, r *llm.Request) event.Body {
		if full = full || in.Estimated > 6000; full {
			return &event.LLMFailed{Kind: "context_overflow", Message: "too long"}
		}
		return answer(in, r)
	}
	w.rests = [][]event.Body{{&event.ResumeRequested{By: "command", Person: true}}}
	w.run()
	refusals := 0
	for _, b := range w.all {
		if _, ok := b.(*event.LLMFailed); ok {
			refusals++
		}
	}
	if w.state.Status != projections.Paused || w.state.Paused.Reason != "model_context_overflow" || refusals > 2*(maxRefusals+1) {
		t.Errorf("%s %+v after %d refusals", w.state.Status, w.state.Paused, refusals)
	}
}

// A refusal whose reason is not the length is no reason to send the same again: after
// the first try of a shorter request come the plainer shapes, each once, then a person.
func TestUnknownRefusalEnds(t *testing.T) {
	for name, before := range map[string]event.Body{"of a long request": nil, "after one for its length": &event.LLMFailed{Kind: "context_overflow", Message: "too long"}} {
		w := narrow(t, nil, 1<<30)
		answer, calls := w.reply, 0
		w.reply = func(in *event.LLMRequested, r *llm.Request) event.Body {
			if calls++; calls == 6 && before != nil {
				return before
			}
			if calls > 5 {
				return &event.LLMFailed{Kind: "invalid", Message: "something is wrong"}
			}
			return answer(in, r)
		}
		w.run()
		if most := 5 + (len(llm.Ladder)-1)*(1+maxRefusals); w.state.Status != projections.Paused || w.state.Paused.Until.Kind != "person" || calls > most {
			t.Errorf("%s: %s after %d calls:\n%s", name, w.state.Status, calls, w.out.String())
		}
	}
}

// What others wrote never fills the window by itself.
func TestFirstRequestLeavesRoom(t *testing.T) {
	for _, window := range []int{4096, 8192, 32768} {
		for name, word := range map[string]string{"prose": "inherited words ", "code": "if (a[i]++ != 0x3f) { b += 17; }\n", "日本語": "前回の作業の要約です。"} {
			w := newWorld(t, "json", text(`{"done":true,"comment":"Fixed."}`))
			long := strings.Repeat(word, 60000/len(word))
			c := *w.state.Config
			c.ContextLength, c.Inherit = window, event.Inherit{Enabled: true, MaxTokens: 8000}
			c.Project = event.ProjectRule{Rules: true}
			w.add(&c, 0)
			w.inherited = &event.ContextInherited{From: "00000000-0000-4000-8000-000000000009", Summary: event.T(long)}
			w.body = long
			for i := range 50 {
				w.comments = append(w.comments, nil)
				w.comments[0] = append(w.comments[0], event.Comment{ID: fmt.Sprint(i), Author: "alice", Verdict: event.NewComment, Body: event.T(long[:5000-5000%len(word)])})
			}
			w.run()
			first := 0
			for _, b := range w.all {
				if r, ok := b.(*event.LLMRequested); ok && first == 0 {
					first = r.Estimated
				}
			}
			if first == 0 || first > window*3/4 {
				t.Errorf("%s: the first request has %d of %d tokens", name, first, window)
			}
			if r := prompt.Request(w.state); len(r.Weights) != len(r.Messages) {
				t.Errorf("%d weights for %d messages", len(r.Weights), len(r.Messages))
			}
		}
	}
}
