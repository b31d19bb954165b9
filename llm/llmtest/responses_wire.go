package llmtest

import (
	"encoding/json"
	"fmt"
)

// responsesAnswer is a response of the Responses API.
type responsesAnswer struct {
	ID         string             `json:"id"`
	Object     string             `json:"object"`
	Status     string             `json:"status"`
	Model      string             `json:"model"`
	Output     []responsesItem    `json:"output"`
	Incomplete *map[string]string `json:"incomplete_details"`
	Usage      map[string]any     `json:"usage,omitempty"`
}

func responsesWhole(reply Reply, r Request) string { return marshal(response(reply, r)) }

func response(reply Reply, r Request) responsesAnswer {
	out := responsesAnswer{ID: "resp_scripted", Object: "response", Status: "completed", Model: r.Model, Output: output(reply)}
	switch reply.Finish {
	case "length":
		out.Status, out.Incomplete = "incomplete", &map[string]string{"reason": "max_output_tokens"}
	case "content_filter":
		out.Status, out.Incomplete = "incomplete", &map[string]string{"reason": "content_filter"}
	}
	if u := reply.Usage; !reply.NoUsage {
		out.Usage = map[string]any{
			"input_tokens": u.Prompt, "output_tokens": u.Completion, "total_tokens": u.Prompt + u.Completion,
			"input_tokens_details":  map[string]int{"cached_tokens": u.Cached},
			"output_tokens_details": map[string]int{"reasoning_tokens": u.Reasoning},
		}
	}
	return out
}

// output holds the items of an answer: reasoning, a message, calls.
func output(reply Reply) []responsesItem {
	out := []responsesItem{}
	if reply.Reasoning != "" {
		out = append(out, responsesItem{Type: "reasoning", ID: "rs_0", Summary: parts("summary_text", reply.Reasoning), Encrypted: reply.Signature})
	}
	if reply.Text != "" || len(reply.Calls) == 0 {
		out = append(out, responsesItem{Type: "message", ID: "msg_0", Status: "completed", Role: "assistant", Content: parts("output_text", reply.Text)})
	}
	for i, c := range reply.Calls {
		out = append(out, responsesItem{Type: "function_call", ID: fmt.Sprintf("fc_%d", i), Status: "completed", CallID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	return out
}

func parts(kind, text string) json.RawMessage {
	return json.RawMessage(marshal([]any{map[string]string{"type": kind, "text": text}}))
}

// responsesEvents brings every text four times, as the API does: in pieces, as
// a whole, in its item, and in the response at the end.
func responsesEvents(reply Reply, r Request) []string {
	var out []string
	add := func(kind string, fields map[string]any) {
		fields["type"], fields["sequence_number"] = kind, len(out)
		out = append(out, "event: "+kind+"\n"+event(marshal(fields)))
	}
	begun := responsesAnswer{ID: "resp_scripted", Object: "response", Status: "in_progress", Model: r.Model, Output: []responsesItem{}}
	add("response.created", map[string]any{"response": begun})
	whole := response(reply, r)
	for i, item := range whole.Output {
		kind, text := "response.output_text", reply.Text
		switch item.Type {
		case "reasoning":
			kind, text = "response.reasoning_summary_text", reply.Reasoning
		case "function_call":
			kind, text = "response.function_call_arguments", item.Arguments
		}
		add("response.output_item.added", map[string]any{"output_index": i, "item": responsesItem{Type: item.Type, ID: item.ID, Status: "in_progress", CallID: item.CallID, Name: item.Name}})
		for _, p := range pieces(text) {
			add(kind+".delta", map[string]any{"output_index": i, "item_id": item.ID, "delta": p})
		}
		add(kind+".done", map[string]any{"output_index": i, "item_id": item.ID, "text": text})
		add("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	add("response."+whole.Status, map[string]any{"response": whole})
	return out
}
