package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"agent/llm"
)

// What is kept of earlier requests never shows: each body is that of a provider that sends
// its first request, and what the messages hold is what the turns hold, in their order.
func TestBodyOfAGrowingConversation(t *testing.T) {
	p := &Provider{host: "h"}
	r := llm.Request{Model: "m", Thread: new(llm.Thread), Tools: []llm.Tool{{Name: "f", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []llm.Message{{Role: llm.System, Content: "Be good."}, {Role: llm.User, Content: "<Do it>"}}}
	for n := range 30 {
		if n == 20 { // compacted
			r.Messages = slices.Concat(r.Messages[:2], []llm.Message{{Role: llm.Assistant, Content: "I did much."}}, r.Messages[12:])
			r.Thread = new(llm.Thread)
		}
		answer := llm.Message{Role: llm.Assistant, Content: fmt.Sprint("step ", n)}
		for i := range n % 3 {
			answer.Calls = append(answer.Calls, llm.ToolCall{ID: fmt.Sprintf("c%d_%d", n, i), Name: "f", Arguments: `{"a": "&"}`})
		}
		r.Messages = append(r.Messages, answer)
		for _, c := range answer.Calls {
			r.Messages = append(r.Messages, llm.Message{Role: llm.ToolRole, CallID: c.ID, Content: "result of " + c.ID})
		}
		if n%4 == 0 {
			r.Messages = append(r.Messages, llm.Message{Role: llm.User, Content: fmt.Sprint("more ", n)})
		}
		s := p.shape(r)
		unknown := r
		unknown.Thread = nil
		got, want := joined(t, p, r, s), joined(t, &Provider{host: "h"}, unknown, s)
		if !bytes.Equal(got, want) {
			t.Fatalf("step %d:\n%s\nwant\n%s", n, got, want)
		}
		wantTurns(t, got, r, s)
	}
}

func joined(t *testing.T, p *Provider, r llm.Request, s shape) []byte {
	t.Helper()
	pieces, _, err := p.body(r, s)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Join(pieces, nil)
}

func wantTurns(t *testing.T, body []byte, r llm.Request, s shape) {
	t.Helper()
	var sent struct {
		Messages []struct {
			Role    string            `json:"role"`
			Content []json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var got, want []string
	marked := map[int]bool{}
	for i, m := range sent.Messages {
		if i > 0 && m.Role == sent.Messages[i-1].Role {
			t.Fatalf("two messages of one side follow each other: %s", body)
		}
		for _, block := range m.Content {
			plain := bytes.Replace(block, []byte(`,"cache_control":{"type":"ephemeral"}`), nil, 1)
			marked[i] = len(plain) != len(block)
			got = append(got, m.Role+string(plain))
		}
	}
	for _, m := range s.Messages(r.Messages)[1:] {
		for _, block := range s.blocks(m) {
			data, _ := json.Marshal(block)
			want = append(want, roleOf(m)+string(data))
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got\n%q\nwant\n%q", got, want)
	}
	left := 2 // the last two of the user
	for i, m := range slices.Backward(sent.Messages) {
		want := m.Role == "user" && left > 0
		if marked[i] != want {
			t.Fatalf("message %d is marked: %t: %s", i, marked[i], body)
		}
		if want {
			left--
		}
	}
}
