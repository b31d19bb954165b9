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
		"fenced end": {event.LLMReplied{Text: event.T("```json\n{\"done\":true,\"comment\":\"fine\"}\n```")}, Parsed{Done: true, Comment: "fine"}},
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

// TestProseStaysProse has closing words that quote the JSON protocol or a call.
func TestProseStaysProse(t *testing.T) {
	for _, text := range []string{
		`The endpoint now answers {"done": true, "comment": "ok"} as documented.`,
		`I made the parser accept {"done": false} too. The tests pass.`,
		`A request like {"command": {"tool": "ws/run", "args": {}}} is refused now.`,
		"The handler returns:\n```json\n{\"done\": true}\n```\nNothing else changed.",
		"The docs show `<tool_call>` with `{\"name\":\"ws__run\",\"arguments\":{}}`.",
		`{"answer":42}`,
	} {
		got := Parse(withReply("tools", event.LLMReplied{Text: event.T(text), Finish: "stop"}))
		if d := cmp.Diff(Parsed{Done: true, Comment: text}, got); d != "" {
			t.Error(d)
		}
	}
}

// TestWrittenCallsAreNotAnEnd has replies that an agent once took for the end of
// the work, with nothing done.
func TestWrittenCallsAreNotAnEnd(t *testing.T) {
	for name, reply := range map[string]event.LLMReplied{
		"cut off":            {Text: event.T("I read it.\n<tool_call>{\"name\":\"ws__read_file\",\"argum"), Finish: "stop"},
		"mark at the end":    {Text: event.T("Now I fix it.\n<tool_call>"), Finish: "stop"},
		"unknown tool":       {Text: event.T(`<tool_call>{"name":"shell","arguments":{"cmd":"ls"}}</tool_call>`), Finish: "stop"},
		"arguments are text": {Text: event.T(`<tool_call>{"name":"ws__run","arguments":"ls"}</tool_call>`), Finish: "stop"},
		"harmony":            {Text: event.T(`<|channel|>commentary to=functions.shell<|message|>{"cmd":"ls"}<|call|>`), Finish: "stop"},
		"mistral":            {Text: event.T(`[TOOL_CALLS]shell[ARGS]{"cmd":"ls"}`), Finish: "stop"},
		"announced":          {Text: event.T("I will read the file first."), Finish: "tool_calls"},
		"announced, older":   {Text: event.T("I will read the file first."), Finish: "function_call"},
		"bare, unknown":      {Text: event.T(`{"name":"shell","arguments":{"cmd":"ls"}}`), Finish: "stop"},
		"none was offered":   {Text: event.T(`<tool_call>{"name":"ws__run","arguments":{}}</tool_call>`), Finish: "stop"},
	} {
		if got := Parse(withReply("tools", reply)); got.Problem == "" || got.Done || len(got.Calls) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
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

func TestFunctionNames(t *testing.T) {
	seen := map[string]string{}
	for _, c := range [][2]string{{"ext", "a.b"}, {"ext", "a_b"}, {"ext", "a/b"}, {"ext", "a b"}, {"ext", "日本"}, {"ext", "中国"}, {"e.xt", "a_b"},
		{"a", "_b"}, {"a_", "b"}, {"s", strings.Repeat("a", 70)}, {"s", strings.Repeat("a", 71)}, {"s", strings.Repeat("a/b", 60)}, {"s", strings.Repeat("a/b", 61)}} {
		name, tool := FunctionName(c[0], c[1]), c[0]+"/"+c[1]
		if len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return r > 127 || strings.ContainsRune("./ ", r) }) {
			t.Errorf("%s: %q", tool, name)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%s and %s are both %q", tool, other, name)
		}
		seen[name] = tool
	}
	if got := FunctionName("workspace", "read_file"); got != "workspace__read_file" {
		t.Errorf("%q", got)
	}
}
