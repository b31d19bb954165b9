package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"agent/llm"
)

// What is kept of earlier requests never shows: each body is that of a provider that sends
// its first request, in every shape and by both APIs.
func TestBodyOfAGrowingConversation(t *testing.T) {
	for _, profile := range llm.ProfileNames() {
		p := &Provider{host: "h", learned: map[string][]string{}}
		r := llm.Request{Model: "m", Profile: profile, Thread: new(llm.Thread), Messages: []llm.Message{{Role: llm.System, Content: "Be good."}, {Role: llm.User, Content: "<Do it>"}}}
		for n := range 30 {
			switch n {
			case 12: // compacted
				r.Messages = slices.Concat(r.Messages[:2], []llm.Message{{Role: llm.Assistant, Content: "I did much."}}, r.Messages[10:])
				r.Thread = new(llm.Thread)
			case 20: // a step down the ladder
				r.Shape = append(r.Shape, llm.StepStrictRoles)
			case 25:
				r.Model = "another"
			}
			answer := llm.Message{Role: llm.Assistant, Content: fmt.Sprint("step ", n), Reasoning: &llm.Opaque{From: "h m", Data: json.RawMessage(`{"reasoning_content":"thought"}`)}}
			for i := range n % 3 {
				answer.Calls = append(answer.Calls, llm.ToolCall{ID: fmt.Sprintf("c.%d.%d", n, i), Name: "f", Arguments: `{"a": "&"}`})
			}
			r.Messages = append(r.Messages, answer)
			for _, c := range answer.Calls {
				r.Messages = append(r.Messages, llm.Message{Role: llm.ToolRole, CallID: c.ID, Content: "result of " + c.ID})
			}
			if n%4 == 0 {
				r.Messages = append(r.Messages, llm.Message{Role: llm.User, Content: fmt.Sprint("more ", n)})
			}
			first := &Provider{host: "h", learned: map[string][]string{}}
			wantBody(t, p.chatBody, first.chatBody, r, p.shape(r))
			wantBody(t, p.responsesBody, first.responsesBody, r, p.shape(r))
		}
	}
}

func wantBody(t *testing.T, kept, first func(llm.Request, shape) ([][]byte, error), r llm.Request, s shape) {
	t.Helper()
	got, err := kept(r, s)
	if err != nil {
		t.Fatal(err)
	}
	r.Thread = nil
	want, err := first(r, s)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := bytes.Join(got, nil), bytes.Join(want, nil); !bytes.Equal(got, want) {
		t.Fatalf("%s, %d turns:\n%s\nwant\n%s", s.Name, len(r.Messages), got, want)
	}
}
