package handlers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/llm"
	"agent/projections"
)

// kinds reads the constants of type llm.Kind from their source, so that a new one cannot be forgotten.
func kinds(t *testing.T) (all []llm.Kind) {
	file, err := parser.ParseFile(token.NewFileSet(), "../llm/llm.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Kind" {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, llm.Kind(value))
		}
		return true
	})
	return all
}

// TestEveryKindLeadsSomewhere plays a server that fails in one way for ever.
// Nothing that a server says makes a task fail at once, and nobody is left without a word.
func TestEveryKindLeadsSomewhere(t *testing.T) {
	type end struct {
		status projections.Status
		reason string
		until  string
		calls  int // of the model
	}
	person := func(kind llm.Kind) end { return end{projections.Paused, "model_" + string(kind), "person", 1} }
	later := func(kind llm.Kind) end { return end{projections.Paused, "model_" + string(kind), "time", maxAttempts} }
	want := map[llm.Kind]end{
		llm.Transient: later(llm.Transient), llm.RateLimited: later(llm.RateLimited), llm.Timeout: later(llm.Timeout),
		llm.Quota: person(llm.Quota), llm.Auth: person(llm.Auth), llm.NotFound: person(llm.NotFound), llm.Filtered: person(llm.Filtered),
		llm.Invalid: {projections.Paused, "model_invalid", "person", 1 + len(llm.Ladder)}, llm.ContextOverflow: person(llm.ContextOverflow), llm.Truncated: person(llm.Truncated),
		llm.ToolsRefused:  {projections.Paused, "model_tools_refused", "person", 2}, // once with tools, once without
		llm.MalformedCall: {projections.Failed, "unusable_replies", "", maxCorrections},
		llm.Empty:         {projections.Failed, "unusable_replies", "", maxCorrections},
	}
	all := kinds(t)
	if len(all) != len(want) || len(all) != len(responses) {
		t.Errorf("%d kinds, %d of them are tested and %d have a response", len(all), len(want), len(responses))
	}
	for _, kind := range append(all, "of_a_newer_release") {
		t.Run(string(kind), func(t *testing.T) {
			w := newWorld(t, "auto", failed(string(kind), 0))
			w.run()
			s := w.state
			got := end{status: s.Status, calls: w.calls}
			purpose := "paused"
			switch s.Status {
			case projections.Paused:
				got.reason, got.until = string(s.Paused.Reason), s.Paused.Until.Kind
			case projections.Failed:
				got.reason, purpose = s.LastError, "failed"
			default: // no kind ends so
			}
			expected, known := want[kind]
			if !known {
				expected = person(kind)
			}
			if got != expected {
				t.Errorf("ends as %+v, want %+v", got, expected)
			}
			if comment := w.said(purpose); got.until != "time" {
				wants(t, comment, []string{"`no`"}, nil) // the server's words
			}
			if sentence, _ := Reason(s, i18n.En); sentence == i18n.Text(i18n.En, "why.other") {
				t.Errorf("no text says why")
			}
		})
	}
}

// With protocol tools there is no plainer way to ask.
func TestToolsRefusedWhereTheyMustBe(t *testing.T) {
	w := newWorld(t, "tools", failed("tools_refused", 0))
	w.run()
	if w.state.Status != projections.Paused || w.state.Paused.Until.Kind != "person" || w.calls != 1 {
		t.Errorf("%s after %d calls", w.state.Status, w.calls)
	}
}

// A person's resume tries again, after each kind that asks for one.
func TestResumeAfterModelPause(t *testing.T) {
	for _, kind := range kinds(t) {
		w := newWorld(t, "tools", failed(string(kind), 0), text("Fixed."))
		if responses[kind] == retries {
			w.replies = []event.Body{failed(string(kind), time.Hour), text("Fixed.")}
		}
		w.rests = [][]event.Body{{&event.ResumeRequested{By: "command", Person: true}}}
		if w.run(); w.state.Status != projections.Completed {
			t.Errorf("%s: %s", kind, w.state.Status)
		}
	}
}

// The comment at the end shows what was broken, never our complaint about it.
func TestUnusableRepliesAreShown(t *testing.T) {
	silent := &event.LLMFailed{Kind: "empty", Message: "the answer holds neither text nor calls"}
	tests := map[string]struct {
		protocol string
		reply    event.Body
		with     []string
	}{
		"arguments":      {"tools", native("ws__read_file", `{"path": a.go`), []string{"were not a JSON object", "ws__read_file", `{"path": a.go`}},
		"unknown tool":   {"tools", native("rm", `{"path":"/"}`), []string{"a tool that does not exist", `rm {"path":"/"}`}},
		"malformed call": {"tools", &event.LLMFailed{Kind: "malformed_call", Message: "failed_generation: <tool_call>x"}, []string{"could not read the tool call", "failed_generation: <tool_call>x"}},
		"empty":          {"tools", silent, []string{"was empty", "neither text nor calls"}},
		"words":          {"json", text("I am a teapot."), []string{"The latest reply: `I am a teapot.`"}},
		"cut off":        {"json", &event.LLMReplied{Text: event.T(`{"command":`), Finish: "length"}, []string{`{"command":`}},
	}
	for name, test := range tests {
		for _, planned := range []bool{false, true} {
			w := newWorld(t, test.protocol, test.reply)
			w.state.Config.Planning = event.Planning{Enabled: planned, MaxActions: 5}
			w.run()
			if w.state.Status != projections.Failed || w.state.LastError != "unusable_replies" {
				t.Fatalf("%s, planned %v: %s %s", name, planned, w.state.Status, w.state.LastError)
			}
			with := test.with
			if planned && name == "arguments" || planned && name == "unknown tool" {
				with = test.with[1:] // no tool can be called where the plan is made
				if name == "unknown tool" {
					with = []string{`rm {"path":"/"}`}
				}
			}
			wants(t, w.said("failed"), with, []string{"Reply with exactly", "Reply again", "Call the tool", "Make the call"})
		}
	}
}
