package engine

import (
	"testing"

	"agent/llm"

	"github.com/google/go-cmp/cmp"
)

func TestWrittenCalls(t *testing.T) {
	const text = "I read it.\n<tool_call>{\"name\":\"fs__read\",\"arguments\":{\"path\":\"a\"}}</tool_call>"
	r := llm.Request{Tools: []llm.Tool{{Name: "fs__read"}}, Messages: make([]llm.Message, 3)}
	native := []llm.ToolCall{{ID: "x", Name: "fs__read", Arguments: "{}"}}
	for name, c := range map[string]struct {
		request llm.Request
		reply   llm.Reply
		text    string
		calls   []llm.ToolCall
		written bool
	}{
		"written":          {r, llm.Reply{Text: text, FinishReason: "stop"}, "I read it.", []llm.ToolCall{{ID: "call_3_0", Name: "fs__read", Arguments: `{"path":"a"}`}}, true},
		"after a thought":  {r, llm.Reply{Text: "<think>hm</think>" + text}, "I read it.", []llm.ToolCall{{ID: "call_3_0", Name: "fs__read", Arguments: `{"path":"a"}`}}, true},
		"native ones win":  {r, llm.Reply{Text: text, Calls: native}, text, native, false},
		"cut by length":    {r, llm.Reply{Text: text, FinishReason: "length"}, text, nil, false},
		"no tools offered": {llm.Request{}, llm.Reply{Text: text}, text, nil, false},
		"prose":            {r, llm.Reply{Text: "Done."}, "Done.", nil, false},
	} {
		got, written := withWrittenCalls(c.request, c.reply)
		if d := cmp.Diff(c.calls, got.Calls); d != "" || got.Text != c.text || written != c.written {
			t.Errorf("%s: %q %v %s", name, got.Text, written, d)
		}
	}
}
