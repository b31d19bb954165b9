package handlers

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/llm"
)

// TestRefusedTool: a refusal that names one function leaves that one out, says so,
// and the work goes on with the others as native calls.
func TestRefusedTool(t *testing.T) {
	for name, c := range map[string]struct {
		kind, message string
		out           string // the tool that is left out, "" for none
	}{
		"OpenAI":                {"invalid", "Invalid schema for function 'ws__run_command': In context=(), object schema missing properties. (tools[0].function.parameters)", "ws__run_command"},
		"called not to support": {"tools_refused", "function ws__run_command: oneOf is not supported", "ws__run_command"},
		"by place":              {"invalid", "tools.1.custom.input_schema: JSON schema is invalid", "ws__run_command"},
		"Gemini":                {"invalid", "GenerateContentRequest.tools[0].function_declarations[1].parameters.properties: should be non-empty", "ws__run_command"},
		"several":               {"invalid", "functions ws__run_command and ws__read_file are invalid", ""},
		"part of a name":        {"invalid", "function ws__run_command2 is unknown", ""},
		"no such place":         {"invalid", "tools[7] is invalid", ""},
		"two places":            {"invalid", "tools[0] and tools[1] are invalid", ""},
		"other trouble":         {"quota", "ws__run_command: no money", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "auto")
			w.tools["ws/read_file"] = &event.ToolReplied{Content: event.T("x")}
			refused, read, adapted := 0, false, ""
			w.reply = func(in *event.LLMRequested, r *llm.Request) event.Body {
				if refused++; refused == 1 {
					return &event.LLMFailed{Kind: c.kind, Message: c.message}
				}
				if c.out != "" && in.Purpose == "work" && (in.Protocol != "tools" || len(r.Tools) != 1 || r.Tools[0].Name != "ws__read_file") {
					t.Errorf("%s request with %+v", in.Protocol, r.Tools)
				}
				if !read && in.Purpose == "work" && c.out != "" {
					read = true
					return native("ws__read_file", `{"path":"a"}`)
				}
				return text(`{"done":true,"comment":"Fixed."}`)
			}
			out := w.run()
			last := ""
			for _, b := range w.all {
				switch b := b.(type) {
				case *event.LLMAdapted:
					adapted += b.Tool
				case *event.CommentRequested:
					last = b.Body.Inline
				}
			}
			if adapted != c.out || c.out != "" && (w.state.Status != "completed" || !strings.Contains(last, "refused the tool `ws__run_command`")) {
				t.Errorf("left out %q and said\n%s\n%s", adapted, last, out)
			}
		})
	}
}
