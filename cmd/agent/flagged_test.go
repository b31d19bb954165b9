package main

import (
	"strings"
	"testing"

	"agent/llm/llmtest"
)

// TestFlaggedInput: a content filter that refuses the words of one task, in the ways that
// servers do, is no fault of the key or of the machine. That task waits for a person,
// the other one is done.
func TestFlaggedInput(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]llmtest.Reply{
		"403": llmtest.Error(403, "", "Your input was flagged by moderation: violence"),
		"400": llmtest.Error(400, "content_filter", "The response was filtered due to the prompt triggering the content management policy."),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := forms(llmtest.Always(llmtest.Done("I looked.")), llmtest.Always(llmtest.Done("I looked.")))
			w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
				if r.Contains("Greet the world") {
					return refusal
				}
				return script(n, r)
			})
			w.issue("Look at the readme")
			w.agent(0, "run")
			w.wantLabels(1, pausedLabel)
			w.wantLabels(2, doneLabel)
			if said := strings.Join(w.bodies(1), "\n"); !strings.Contains(said, "flagged") && !strings.Contains(said, "filtered") {
				t.Errorf("nobody is told why:\n%s", said)
			}
			for _, l := range w.list(0) {
				w.wantExact(l.UUID)
			}
		})
	}
}
