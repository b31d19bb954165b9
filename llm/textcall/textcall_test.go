package textcall

import (
	"encoding/json"
	"strings"
	"testing"

	"agent/llm"

	"github.com/google/go-cmp/cmp"
)

var offered = []llm.Tool{
	{Name: "ws__read_file", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},"start":{"type":"integer"}}}`)},
	{Name: "ws__run_command", Schema: []byte(`{"type":"object","properties":{"argv":{"type":"array"}}}`)},
	{Name: "ws__git_diff", Schema: []byte(`{"type":"object"}`)},
}

func read(args string) []llm.ToolCall {
	return []llm.ToolCall{{Name: "ws__read_file", Arguments: args}}
}

func TestCalls(t *testing.T) {
	const object = `{"name": "ws__read_file", "arguments": {"path": "a.go"}}`
	one := read(`{"path":"a.go"}`)
	for name, c := range map[string]struct {
		text, prose string
		calls       []llm.ToolCall
	}{
		"hermes":                  {"I look.\n<tool_call>\n" + object + "\n</tool_call>", "I look.", one},
		"two in a row":            {"<tool_call>" + object + "</tool_call>\n<tool_call>" + object + "</tool_call>", "", append(read(`{"path":"a.go"}`), one...)},
		"end token for the mark":  {"<tool_call>" + object, "", one},
		"list":                    {"<tool_calls>[" + object + "]</tool_calls>", "", one},
		"qwen coder":              {"<function=ws__read_file>\n<parameter=path>\na.go\n</parameter>\n<parameter=start>\n3\n</parameter>\n</function>", "", read(`{"path":"a.go","start":3}`)},
		"qwen coder, wrapped":     {"Sure.\n<tool_call>\n<function=ws__read_file>\n<parameter=path>\na.go\n</parameter>\n</function>\n</tool_call>", "Sure.", one},
		"a value with the mark":   {"<function=ws__read_file><parameter=path>x</parameter> y</parameter></function>", "", read(`{"path":"x\u003c/parameter\u003e y"}`)},
		"llama, object":           {`<function=ws__read_file>{"path": "a.go"}</function>`, "", one},
		"llama, python tag":       {`<|python_tag|>{"name": "ws__read_file", "parameters": {"path": "a.go"}}<|eom_id|>`, "", one},
		"bare":                    {object, "", one},
		"bare, type and id":       {`{"type":"function","id":"7","name":"ws__read_file","parameters":{"path":"a.go"}}`, "", one},
		"bare, nested":            {`{"type":"function","function":{"name":"ws__read_file","arguments":"{\"path\":\"a.go\"}"}}`, "", one},
		"bare, tool_calls":        {`{"tool_calls":[{"function":{"name":"ws__read_file","arguments":{"path":"a.go"}}}]}`, "", one},
		"bare, function_call":     {`{"function_call":{"name":"ws__read_file","arguments":{"path":"a.go"}}}`, "", one},
		"bare list":               {"[" + object + "]", "", one},
		"fenced":                  {"First I read it.\n\n```json\n" + object + "\n```\n", "First I read it.", one},
		"fenced without language": {"```\n" + object + "\n```", "", one},
		"cohere":                  {"```json\n[{\"tool_name\":\"ws__read_file\",\"parameters\":{\"path\":\"a.go\"}}]\n```", "", one},
		"mistral":                 {`[TOOL_CALLS] [{"name":"ws__read_file","arguments":{"path":"a.go"}}]</s>`, "", one},
		"mistral, args":           {`[TOOL_CALLS]ws__read_file[ARGS]{"path":"a.go"}`, "", one},
		"mistral, call id":        {`Ok.[TOOL_CALLS]ws__read_file[CALL_ID]abc123def[ARGS]{"path":"a.go"}`, "Ok.", one},
		"lm studio":               {"[TOOL_REQUEST]" + object + "[END_TOOL_REQUEST]", "", one},
		"granite":                 {"<|tool_call|>[" + object + "]", "", one},
		"glm":                     {"<tool_call>ws__read_file\n<arg_key>path</arg_key>\n<arg_value>a.go</arg_value>\n<arg_key>start</arg_key>\n<arg_value>3</arg_value>\n</tool_call>", "", read(`{"path":"a.go","start":3}`)},
		"glm, no arguments":       {"<tool_call>ws__git_diff\n</tool_call>", "", []llm.ToolCall{{Name: "ws__git_diff", Arguments: "{}"}}},
		"deepseek":                {"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>ws__read_file\n```json\n{\"path\":\"a.go\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "", one},
		"deepseek, newer":         {"Let me see.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ws__read_file<｜tool▁sep｜>{\"path\":\"a.go\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>", "Let me see.", one},
		"kimi":                    {"<|tool_calls_section_begin|><|tool_call_begin|>functions.ws__read_file:0<|tool_call_argument_begin|>{\"path\":\"a.go\"}<|tool_call_end|><|tool_calls_section_end|>", "", one},
		"invoke":                  {"<function_calls>\n<invoke name=\"ws__read_file\">\n<parameter name=\"path\">a.go</parameter>\n</invoke>\n</function_calls>", "", one},
		"invoke alone":            {"<invoke name=\"ws__read_file\"><parameter name=\"path\">a.go</parameter></invoke>", "", one},
		"harmony":                 {`<|channel|>commentary to=functions.ws__read_file <|constrain|>json<|message|>{"path":"a.go"}<|call|>`, "", one},
		"harmony, from the start": {`<|start|>assistant<|channel|>commentary to=functions.ws__read_file<|message|>{"path":"a.go"}`, "", one},
		"list of arguments":       {"<function=ws__run_command><parameter=argv>[\"go\",\"test\"]</parameter></function>", "", []llm.ToolCall{{Name: "ws__run_command", Arguments: `{"argv":["go","test"]}`}}},
	} {
		if d := cmp.Diff(Found{Prose: c.prose, Calls: c.calls}, Read(c.text, offered)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if got := Read(c.text, nil); got.Problem != NotOffered || got.Prose != c.text {
			t.Errorf("%s, with no tool offered: %+v", name, got)
		}
	}
}

func TestProblems(t *testing.T) {
	for text, want := range map[string]Problem{
		`<tool_call>{"name":"ws__read_file","arguments":{"path":"a`:            CutOff,
		"I read it now.\n<tool_call>":                                          CutOff,
		"I read it now.\n<tool_c":                                              CutOff,
		"<function=ws__read_file>\n<parameter=path>\na.go":                     CutOff,
		"[TOOL_CALLS]ws__read_file":                                            CutOff,
		"[TOOL_CALLS]":                                                         CutOff,
		"<|channel|>commentary to=functions.ws__read_file":                     CutOff,
		`{"name":"ws__read_file","arguments":{"path":"a.go"`:                   CutOff,
		"```json\n{\"name\":\"ws__read_file\",":                                CutOff,
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ws__read":                      CutOff,
		`<tool_call>{"name":"delete_all","arguments":{}}</tool_call>`:          NotOffered,
		`{"name":"ws__no_such","arguments":{}}`:                                NotOffered,
		`<tool_call>{"name":"ws__read_file","arguments":["a.go"]}</tool_call>`: BadArguments,
		`<tool_call>{"name":"ws__read_file","arguments":"a.go"}</tool_call>`:   BadArguments,
	} {
		if got := Read(text, offered); got.Problem != want || len(got.Calls) > 0 || got.Prose != text {
			t.Errorf("%q: %+v, want %s", text, got, want)
		}
	}
}

// TestProse has texts that look like calls and are none.
func TestProse(t *testing.T) {
	const object = `{"name":"ws__read_file","arguments":{"path":"a.go"}}`
	for _, text := range []string{
		"I fixed the loop. The test passes.",
		"",
		"The server expects `<tool_call>` around a call.",
		"The parser now reads `<tool_call>" + object + "</tool_call>`.",
		"> <tool_call>" + object + "</tool_call>",
		"It sends <tool_call>" + object + "</tool_call> and then waits.",
		"Example:\n```xml\n<tool_call>" + object + "</tool_call>\n```\n",
		"Example:\n```json\n" + object + "\n```\nThat is how a call looks.",
		"The config is now:\n```json\n{\"name\": \"x\"}\n```",
		"```json\n{\"name\": \"x\", \"version\": 2}\n```",
		`{"done": true, "comment": "ready"}`,
		`{"name": "a package", "version": "1"}`,
		"[see the docs](https://example.com) for more",
		"- [x] done\n- [ ] open",
		"{curly} braces in prose",
		"Use <function= as the mark of a call.",
		"An answer of " + object + " was expected.",
		"<|channel|>final<|message|>All done.",
	} {
		if got := Read(text, offered); got.Problem != None || len(got.Calls) > 0 || got.Prose != text {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, format := range formats {
		f.Add("x\n" + format.begin + `{"name":"ws__read_file","arguments":{}}`)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Read(text, offered)
		for _, c := range got.Calls {
			var args map[string]json.RawMessage
			if json.Unmarshal([]byte(c.Arguments), &args) != nil || !strings.HasPrefix(c.Name, "ws__") {
				t.Fatalf("%+v", c)
			}
		}
		if len(got.Calls) == 0 && got.Prose != text {
			t.Fatalf("prose %q", got.Prose)
		}
	})
}
