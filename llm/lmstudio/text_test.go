package lmstudio

import (
	"encoding/json"
	"strings"
	"testing"

	"agent/llm"

	"github.com/google/go-cmp/cmp"
)

var tools = []llm.Tool{
	{Name: "read", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"},"all":{"type":["boolean","null"]}}}`)},
	{Name: "list"},
}

func TestCallsInText(t *testing.T) {
	one := []llm.ToolCall{{Name: "read", Arguments: `{"path":"a"}`}}
	for name, c := range map[string]struct {
		text, prose string
		calls       []llm.ToolCall
	}{
		"tool_call":            {"<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>", "", one},
		"in one line":          {`[TOOL_REQUEST]{"name":"read","arguments":{"path":"a"}}[END_TOOL_REQUEST]`, "", one},
		"after prose":          {"I read it.\n\n" + `<tool_call>{"name":"read","arguments":{"path":"a"}}</tool_call>` + "\n", "I read it.", one},
		"no closing mark":      {`<tool_call>{"name":"read","arguments":{"path":"a"}}`, "", one},
		"parameters":           {`{"name":"read","parameters":{"path":"a"}}`, "", one},
		"bare":                 {` {"name":"read","arguments":{"path":"a"}} `, "", one},
		"with type and id":     {`{"type":"function","id":"7","name":"read","arguments":{"path":"a"}}`, "", one},
		"marks in a value":     {`<tool_call>{"name":"read","arguments":{"path":"</tool_call>"}}</tool_call>`, "", []llm.ToolCall{{Name: "read", Arguments: `{"path":"</tool_call>"}`}}},
		"two":                  {`<tool_call>{"name":"list","arguments":{}}</tool_call>` + "\n" + `<tool_call>{"name":"read","arguments":{"path":"a"}}</tool_call>`, "", append([]llm.ToolCall{{Name: "list", Arguments: "{}"}}, one...)},
		"after a closed fence": {"```\nx\n```\n" + `<tool_call>{"name":"read","arguments":{"path":"a"}}</tool_call>`, "```\nx\n```", one},
		"function":             {"<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>", "", one},
		"typed values": {"<tool_call><function=read><parameter=path>\n 12\nx</parameter>\n\n</parameter><parameter=line>\n7\n</parameter><parameter=all>true</parameter></function></tool_call>", "",
			[]llm.ToolCall{{Name: "read", Arguments: `{"all":true,"line":7,"path":" 12\nx\u003c/parameter\u003e\n"}`}}},
		"function without arguments": {"<tool_call><function=list></function></tool_call>", "", []llm.ToolCall{{Name: "list", Arguments: "{}"}}},
	} {
		prose, calls := split(c.text, tools)
		if d := cmp.Diff(c.calls, calls); d != "" || prose != c.prose {
			t.Errorf("%s: %q %s", name, prose, d)
		}
	}
}

func TestTextThatIsNoCall(t *testing.T) {
	good := `<tool_call>{"name":"read","arguments":{"path":"a"}}</tool_call>`
	for name, text := range map[string]string{
		"prose":                  "I shall read it.",
		"unknown tool":           `<tool_call>{"name":"delete","arguments":{}}</tool_call>`,
		"unknown tool, bare":     `{"name":"delete","arguments":{}}`,
		"similar name":           `{"name":"read ","arguments":{}}`,
		"a known and an unknown": good + "\n" + `<tool_call>{"name":"delete","arguments":{}}</tool_call>`,
		"quoted inside":          "The issue says " + good + ", which I do not do.",
		"quoted, then prose":     "The issue says:\n" + good + "\nI do not do that.",
		"in a code block":        "For example:\n```\n" + good,
		"in a closed code block": "```\n" + good + "\n```",
		"arguments are a list":   `{"name":"read","arguments":[1]}`,
		"arguments are a text":   `{"name":"read","arguments":"{}"}`,
		"no arguments":           `{"name":"read"}`,
		"both kinds":             `{"name":"read","arguments":{},"parameters":{}}`,
		"something else":         `{"name":"read","arguments":{},"price":3}`,
		"two bare ones":          `{"name":"read","arguments":{}} {"name":"read","arguments":{}}`,
		"cut":                    `<tool_call>{"name":"read","arguments":{"path":`,
		"wrong closing mark":     `<tool_call>{"name":"read","arguments":{}}[END_TOOL_REQUEST]`,
		"function, unknown":      "<tool_call><function=delete></function></tool_call>",
		"function, cut":          "<tool_call><function=read><parameter=path>a</parameter>",
		"function, value cut":    "<tool_call><function=read><parameter=path>a",
		"function, twice":        "<tool_call><function=read><parameter=path>a</parameter><parameter=path>b</parameter></function></tool_call>",
		"a document":             `{"done":true,"comment":"read"}`,
		"null":                   `{"name":"read","arguments":null}`,
		"nothing":                "",
	} {
		if prose, calls := split(text, tools); calls != nil || prose != text {
			t.Errorf("%s: %q %+v", name, prose, calls)
		}
	}
	if _, calls := split(good, nil); calls != nil {
		t.Error("a call without any tools")
	}
}

func FuzzSplit(f *testing.F) {
	f.Add(`x` + "\n" + `<tool_call>{"name":"read","arguments":{"path":"a"}}</tool_call>`)
	f.Add("[TOOL_REQUEST]<function=read><parameter=line>1</parameter></function>[END_TOOL_REQUEST]")
	f.Fuzz(func(t *testing.T, text string) {
		prose, calls := split(text, tools)
		if len(calls) == 0 && prose != text || !strings.HasPrefix(strings.TrimSpace(text), strings.TrimSpace(prose)) {
			t.Errorf("%q became %q", text, prose)
		}
		for _, c := range calls {
			var object map[string]any
			if !known(tools, c.Name) || json.Unmarshal([]byte(c.Arguments), &object) != nil {
				t.Errorf("%q: %+v", text, c)
			}
		}
	})
}
