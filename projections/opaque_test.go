package projections

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/llm"
)

// What a server wants back stays with the turn, whole also where it goes to a blob, and
// counts in the estimate. What redaction has changed is dropped: no server would take it.
func TestOpaque(t *testing.T) {
	data := `{"signature":"` + strings.Repeat("x", event.MaxText) + `"}`
	blobs := map[string][]byte{}
	body := &event.LLMReplied{Text: event.T("I look."), Opaque: event.T(data), From: "host model", Usage: event.Usage{Prompt: 10, Completion: 10, Reasoning: 700}}
	if err := event.Spill(body, func(b []byte) (string, error) { blobs["hash"] = b; return "hash", nil }); err != nil {
		t.Fatal(err)
	}
	stored, err := event.Encode(body, false)
	if err != nil || len(stored) > 4096 {
		t.Fatalf("%d bytes stay in the line: %v", len(stored), err)
	}
	again, _, err := event.DecodeBody(body.Type(), 1, stored)
	if err != nil {
		t.Fatal(err)
	}
	event.Fetch(again, func(hash string) ([]byte, error) { return blobs[hash], nil })
	for name, want := range map[string]bool{"kept": true, "redacted": false} {
		var c Conversation
		c.apply(event.Event{Seq: 1, Redacted: !want, Body: again})
		shown := c.Shown("tools", 1000)
		m, w := shown.Messages[0], shown.Weights[0]
		if got := m.Reasoning.Of("host model"); (string(got) == data) != want {
			t.Errorf("%s: %d bytes come back", name, len(got))
		}
		if m.Reasoning.Of("host other") != nil {
			t.Errorf("%s: another model gets it", name)
		}
		if counts := w.Estimate >= 700*llm.PerToken; counts != want {
			t.Errorf("%s: estimated as %d", name, w.Estimate/llm.PerToken)
		}
	}
}
