package reply

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/projections"
	"github.com/google/go-cmp/cmp"
)

func withReply(protocol string, reply event.LLMReplied) *projections.State {
	s := projections.NewState()
	s.Config = &event.ConfigPinned{Protocol: protocol}
	s.Tools = &event.ToolsListed{Servers: []event.Server{{Name: "ws", Tools: []event.Tool{{Name: "read_file"}, {Name: "run"}}}}}
	s.Work.Reply, s.Work.ReplySeq = &reply, 9
	return s
}

func read(args string) []Call {
	return []Call{{Index: 0, Server: "ws", Tool: "read_file", Args: args}}
}

func TestParseJSONReply(t *testing.T) {
	const command = `{"command":{"comment":"why","tool":"ws/read_file","args":{"path":"a"}}}`
	tests := map[string]struct {
		text string
		want Parsed
	}{
		"plain":            {command, Parsed{Calls: read(`{"path":"a"}`), Comment: "why"}},
		"comment outside":  {`{"comment":"top","command":{"tool":"ws/read_file","args":{}}}`, Parsed{Calls: read(`{}`), Comment: "top"}},
		"text after":       {command + "\nI hope this helps {really}.", Parsed{Calls: read(`{"path":"a"}`), Comment: "why"}},
		"text before":      {"Sure {ok}: " + command, Parsed{Calls: read(`{"path":"a"}`), Comment: "why"}},
		"fence":            {"```json\n" + command + "\n```", Parsed{Calls: read(`{"path":"a"}`), Comment: "why"}},
		"fence in string":  {"```json\n{\"done\":true,\"comment\":\"```go\\nx{}\\n```\"}\n```", Parsed{Done: true, Comment: "```go\nx{}\n```"}},
		"think":            {"<think>maybe {\"done\":true}</think>" + command, Parsed{Calls: read(`{"path":"a"}`), Comment: "why"}},
		"think unopened":   {"maybe {\"done\":true}</think>" + command, Parsed{Calls: read(`{"path":"a"}`), Comment: "why"}},
		"two objects":      {command + `{"done":true,"comment":"x"}`, Parsed{Calls: read(`{"path":"a"}`), Comment: "why"}},
		"chatter object":   {`{"thought":"hm"}` + command, Parsed{Calls: read(`{"path":"a"}`), Comment: "why"}},
		"args as string":   {`{"command":{"tool":"ws/read_file","args":"{\"path\":\"a\"}"}}`, Parsed{Calls: read(`{"path":"a"}`)}},
		"args missing":     {`{"command":{"tool":"ws/read_file"}}`, Parsed{Calls: read(`{}`)}},
		"args null":        {`{"command":{"tool":"ws/read_file","args":null}}`, Parsed{Calls: read(`{}`)}},
		"native name":      {`{"command":{"tool":"ws__read_file","args":{}}}`, Parsed{Calls: read(`{}`)}},
		"old name":         {`{"command":{"tool":"ws_read_file","args":{}}}`, Parsed{Calls: read(`{}`)}},
		"unknown tool":     {`{"command":{"tool":"ws/delete","args":{}}}`, Parsed{Calls: []Call{{Tool: "ws/delete", Args: "{}"}}}},
		"done":             {`{"done":true,"comment":"fine"}`, Parsed{Done: true, Comment: "fine"}},
		"done no comment":  {`{"done":true}`, Parsed{Done: true}},
		"command and done": {`{"done":true,"command":{"tool":"ws/read_file","args":{}}}`, Parsed{Calls: read(`{}`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Parse(withReply("json", event.LLMReplied{Text: event.T(tt.text), Finish: "stop"}))
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseUnusableReply(t *testing.T) {
	tests := map[string]event.LLMReplied{
		"prose":        {Text: event.T("I will look at the file."), Finish: "stop"},
		"empty":        {Text: event.T("  \n"), Finish: "stop"},
		"broken":       {Text: event.T(`{"command":{"tool":"ws/read_file"`), Finish: "stop"},
		"not done":     {Text: event.T(`{"done":false,"comment":"x"}`), Finish: "stop"},
		"no tool":      {Text: event.T(`{"command":{"args":{}}}`), Finish: "stop"},
		"only comment": {Text: event.T(`{"comment":"hello"}`), Finish: "stop"},
		"cut":          {Text: event.T(`{"done":true,"comment":"x"}`), Finish: "length"},
		"only thought": {Text: event.T("<think>and on and on"), Finish: "stop"},
		"deep":         {Text: event.T(strings.Repeat("{", 100_000)), Finish: "stop"},
	}
	for name, reply := range tests {
		t.Run(name, func(t *testing.T) {
			got := Parse(withReply("json", reply))
			if got.Problem == "" || got.Done || len(got.Calls) > 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestParseNativeReply(t *testing.T) {
	call := func(id, name, args string) event.ToolCall {
		return event.ToolCall{ID: id, Name: name, Args: event.T(args)}
	}
	tests := map[string]struct {
		reply event.LLMReplied
		want  Parsed
	}{
		"call":       {event.LLMReplied{Text: event.T("look"), Calls: []event.ToolCall{call("a", "ws__read_file", `{"path":"x"}`)}}, Parsed{Comment: "look", Calls: []Call{{0, "a", "ws", "read_file", `{"path":"x"}`}}}},
		"empty args": {event.LLMReplied{Calls: []event.ToolCall{call("a", "ws__read_file", "")}}, Parsed{Calls: []Call{{0, "a", "ws", "read_file", "{}"}}}},
		"unknown":    {event.LLMReplied{Calls: []event.ToolCall{call("a", "rm", "{}")}}, Parsed{Calls: []Call{{0, "a", "", "rm", "{}"}}}},
		"two":        {event.LLMReplied{Calls: []event.ToolCall{call("a", "ws__run", "{}"), call("a", "ws__run", "{}")}}, Parsed{Calls: []Call{{0, "a", "ws", "run", "{}"}, {1, "a_1", "ws", "run", "{}"}}}},
		"no id":      {event.LLMReplied{Calls: []event.ToolCall{call("", "ws__run", "{}")}}, Parsed{Calls: []Call{{0, "call_0", "ws", "run", "{}"}}}},
		"plain end":  {event.LLMReplied{Text: event.T("All done.")}, Parsed{Done: true, Comment: "All done."}},
		"json end":   {event.LLMReplied{Text: event.T(`{"done":true,"comment":"fine"}`)}, Parsed{Done: true, Comment: "fine"}},
		"text call":  {event.LLMReplied{Text: event.T(`{"command":{"tool":"ws/read_file","args":{"path":"x"}}}`)}, Parsed{Calls: read(`{"path":"x"}`)}},
		"other json": {event.LLMReplied{Text: event.T(`{"answer":42}`)}, Parsed{Done: true, Comment: `{"answer":42}`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, Parse(withReply("tools", tt.reply))); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"done":true}`)
	f.Add("<think>{</think>{\"command\":{\"tool\":\"ws/run\",\"args\":{}}}")
	f.Fuzz(func(t *testing.T, text string) {
		for _, protocol := range []string{"json", "tools"} {
			p := Parse(withReply(protocol, event.LLMReplied{Text: event.T(text), Finish: "stop"}))
			if p.Problem == "" && !p.Done && len(p.Calls) == 0 {
				t.Fatalf("%s: %q leads nowhere: %+v", protocol, text, p)
			}
			for _, c := range p.Calls {
				if c.Tool != "" && !strings.Contains(text, strings.Trim(c.Tool, "\"")) && !strings.Contains(text, `\`) {
					t.Fatalf("the tool %q was invented", c.Tool)
				}
			}
		}
	})
}

func TestFunctionNameFits(t *testing.T) {
	long := FunctionName("server.one", strings.Repeat("a/b", 60))
	if len(long) > maxName || strings.ContainsAny(long, "./") {
		t.Errorf("%q", long)
	}
	if long == FunctionName("server.one", strings.Repeat("a/b", 61)) {
		t.Error("two long names became one")
	}
}
