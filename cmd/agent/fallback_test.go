package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/llm/llmtest"
)

// The model server goes out of service in mid-run. The next one of llm.fallback, of
// another kind, goes on with the task; the next run asks the first one again.
func TestFallbackGoesOn(t *testing.T) {
	t.Parallel()
	out := true
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if n == 0 {
			return write("hello.txt", "hello\n")
		}
		if out {
			return llmtest.RateLimit(5 * time.Minute) // too long to wait for in this run
		}
		return llmtest.Done("I did the second task.")
	})
	script := summarising(greet())
	other := llmtest.NewStrict(func(n int, r llmtest.Request) llmtest.Reply { return script(n+1, r) }, llmtest.DialectNamed("Anthropic, adaptive and bound"))
	t.Cleanup(other.Close)
	w.llm = fmt.Sprintf("\n  fallback: [anthropic]\n  anthropic: {base_url: %s, api_key: %s, model: claude-sonnet-5-5}", other.URL(), testKey)
	w.agent(0, "run")
	l := w.only()
	if l.State != "completed" {
		t.Fatalf("%+v", l)
	}
	if s := find[*event.LLMSwitched](w.events(l.UUID)); len(s) != 1 || s[0].Provider != "anthropic" || s[0].Reason != "rate_limited" {
		t.Errorf("%+v", s)
	}
	if n := len(other.Requests()); n == 0 {
		t.Error("the other server was not asked")
	}
	if text, _ := w.agent(0, "inspect", l.UUID[:8]); !strings.Contains(text, "llm.switched") {
		t.Errorf("inspect does not show the change:\n%s", text)
	}
	w.agent(0, "replay", l.UUID[:8])
	out = false
	asked := len(w.model.Requests())
	w.issue("Another task")
	w.agent(0, "run")
	if len(w.model.Requests()) == asked {
		t.Error("the next run did not ask the first server")
	}
}
