package llmtest

import "encoding/json"

type anthropicAnswer struct {
	ID      string           `json:"id"`
	Type    string           `json:"type"`
	Role    string           `json:"role"`
	Model   string           `json:"model"`
	Content []anthropicBlock `json:"content"`
	Stop    *string          `json:"stop_reason"`
	Usage   map[string]int   `json:"usage"`
}

func anthropicWhole(reply Reply, r Request) string {
	out := anthropicBegun(reply, r)
	stop := anthropicStop(reply.Finish)
	out.Content, out.Stop = anthropicContent(reply, r), &stop
	return marshal(out)
}

func anthropicBegun(reply Reply, r Request) anthropicAnswer {
	out := anthropicAnswer{ID: "msg_scripted", Type: "message", Role: "assistant", Model: r.Model, Content: []anthropicBlock{}}
	switch {
	case reply.NoUsage:
	case reply.counted:
		out.Usage = map[string]int{"input_tokens": r.cached.fresh, "cache_read_input_tokens": r.cached.read,
			"cache_creation_input_tokens": r.cached.written, "output_tokens": reply.Usage.Completion}
	default:
		out.Usage = map[string]int{"input_tokens": reply.Usage.Prompt - reply.Usage.Cached, "cache_read_input_tokens": reply.Usage.Cached,
			"cache_creation_input_tokens": 0, "output_tokens": reply.Usage.Completion}
	}
	return out
}

func anthropicStop(finish string) string {
	switch finish {
	case "tool_calls":
		return "tool_use"
	case "length":
		return "max_tokens"
	case "content_filter":
		return "refusal"
	case "stop":
		return "end_turn"
	}
	return finish
}

// anthropicContent are the blocks of an answer: thinking, text, calls.
func anthropicContent(reply Reply, r Request) []anthropicBlock {
	out := []anthropicBlock{}
	if reply.Reasoning != "" {
		out = append(out, anthropicBlock{Type: "thinking", Thinking: reply.Reasoning, Signature: reply.Signature + r.bound})
	}
	if reply.Text != "" {
		out = append(out, anthropicBlock{Type: "text", Text: &reply.Text})
	}
	for _, c := range reply.Calls {
		out = append(out, anthropicBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage(c.Arguments)})
	}
	return out
}

// anthropicEvents is the stream in the order of the API.
func anthropicEvents(reply Reply, r Request) []string {
	var out []string
	add := func(kind string, fields map[string]any) {
		fields["type"] = kind
		out = append(out, "event: "+kind+"\n"+event(marshal(fields)))
	}
	add("message_start", map[string]any{"message": anthropicBegun(reply, r)})
	add("ping", map[string]any{})
	empty := ""
	for i, b := range anthropicContent(reply, r) {
		delta := func(fields map[string]any) { add("content_block_delta", map[string]any{"index": i, "delta": fields}) }
		begun := map[string]any{"type": b.Type}
		switch b.Type {
		case "thinking":
			begun["thinking"], begun["signature"] = empty, empty
		case "text":
			begun["text"] = empty
		default:
			begun["id"], begun["name"], begun["input"] = b.ID, b.Name, map[string]any{}
		}
		add("content_block_start", map[string]any{"index": i, "content_block": begun})
		for _, p := range pieces(b.Thinking) {
			delta(map[string]any{"type": "thinking_delta", "thinking": p})
		}
		if b.Signature != "" {
			delta(map[string]any{"type": "signature_delta", "signature": b.Signature})
		}
		for _, p := range pieces(b.text()) {
			delta(map[string]any{"type": "text_delta", "text": p})
		}
		for _, p := range pieces(string(b.Input)) {
			delta(map[string]any{"type": "input_json_delta", "partial_json": p})
		}
		add("content_block_stop", map[string]any{"index": i})
	}
	end := map[string]any{"delta": map[string]any{"stop_reason": anthropicStop(reply.Finish), "stop_sequence": nil}}
	if !reply.NoUsage {
		end["usage"] = map[string]int{"output_tokens": reply.Usage.Completion}
	}
	add("message_delta", end)
	add("message_stop", map[string]any{})
	return out
}
