package export

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/fsx"
	"agent/internal/i18n"
	"agent/internal/redact"
)

const (
	uuid   = "11110000-0000-4000-8000-000000000001"
	secret = "hunter2-hunter2-hunter2"
	// evil acts on a terminal, a browser and a parser of Markdown, if it is let.
	evil = "\x1b]0;owned\a </script><script>alert(1)</script> \u202e ``` \u009b31m \x00 \u2028 \xff"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// at are the times of the events: a second apart.
func at(n int) time.Time { return time.Date(2026, 11, 27, 20, 0, n, 0, time.UTC) }

// log makes a context of events. The cause of an outcome is the latest intent.
func log(t *testing.T, bodies ...event.Body) Source {
	t.Helper()
	home := filepath.Join(t.TempDir(), "contexts")
	fsys, err := fsx.OpenOS(home)
	must(t, err)
	store, err := contexts.Open(fsys, contexts.Options{Dir: home})
	must(t, err)
	c, err := store.Create(&event.ContextCreated{Format: event.Format, UUID: uuid, TaskKey: "github.com/o/r/issues/1", Forge: "github.com", Kind: "github_issue",
		Trigger: "label", Title: "Fix it " + secret + evil, Version: "v1"}, at(0))
	must(t, err)
	intent := uint64(0)
	for i, b := range bodies {
		ev := event.Event{Time: at(i + 1), Body: b}
		if event.RoleOf(b) == event.Outcome {
			ev.Cause = intent
		}
		ev, err = c.Append(ev)
		must(t, err)
		if event.RoleOf(b) == event.Intent {
			intent = ev.Seq
		}
	}
	must(t, c.Close())
	return Source{Store: store, UUID: uuid, Redact: redact.New([]string{secret}), Secrets: []string{secret}, Version: "v1", Lang: "en"}
}

// run is a context with everything that the formats tell apart: a command of the
// configuration, a failed call of the model, a call that is written as text, arguments
// that are no object, a call that failed, a process that died, a pause, a summary.
func run(t *testing.T) Source {
	big := strings.Repeat("long output "+secret+"\n", 5000) // goes to a blob
	return log(t,
		&event.ProcessStarted{Version: "v1"},
		&event.ConfigPinned{Provider: "openai", Model: "gpt-5"},
		&event.ToolsListed{Servers: []event.Server{{Name: "workspace", Tools: []event.Tool{{Name: "run", Description: "runs", Schema: json.RawMessage(`{"type":"object"}`)}}}}},
		&event.ToolRequested{Server: "workspace", Tool: "run", Args: event.T(`{"argv":["make"]}`), Setup: true},
		&event.ToolReplied{Content: event.T("ready")},
		&event.MessageAdded{Role: "system", Purpose: "system", Content: event.T("Be good. " + secret)},
		&event.MessageAdded{Role: "user", Purpose: "task", Content: event.T("Fix it " + evil)},
		&event.PhaseEntered{Phase: "planning"},
		&event.LLMRequested{Purpose: "work", Model: "gpt-5", Attempt: 1},
		&event.LLMFailed{Kind: "timeout", Message: "no answer from " + secret},
		&event.LLMRequested{Purpose: "work", Model: "gpt-5", Attempt: 2}, // 12
		&event.LLMReplied{Text: event.T("I look. " + secret), Finish: "tool_calls", Model: "gpt-5-2026", CostUSD: 0.25, Usage: event.Usage{Prompt: 100, Completion: 20, Cached: 60},
			Calls: []event.ToolCall{{ID: "c1", Name: "workspace__run", Args: event.T(`{"token":"` + secret + `"}`)}, {Name: "nonsense", Args: event.T("not json " + evil), Written: true}}},
		&event.ToolRequested{Reply: 13, Index: 0, CallID: "c1", Server: "workspace", Tool: "run", Args: event.T(`{"token":"` + secret + `"}`)},
		&event.ToolReplied{Content: event.T(big)},
		&event.ToolRequested{Reply: 13, Index: 1, Tool: "nonsense", Args: event.T("not json")},
		&event.ToolFailed{Kind: "not_offered", Message: "no such tool"},
		&event.PhaseEntered{Phase: "execution"},
		&event.LLMRequested{Purpose: "work", Model: "gpt-5", Attempt: 1},
		&event.ProcessStarted{Version: "v1"}, // the one before died in the call
		&event.LLMFailed{Kind: event.Interrupted},
		&event.ContextPaused{Reason: "budget " + secret},
		&event.ContextResumed{},
		&event.SummaryAdded{Purpose: "compaction", From: 7, To: 17, Text: event.T("so far"), Original: 100, Tokens: 10},
		&event.LLMRequested{Purpose: "work", Model: "gpt-5", Attempt: 1},
		&event.LLMReplied{Text: event.T("Done."), Finish: "stop", Model: "gpt-5-2026", Usage: event.Usage{Prompt: 10, Completion: 2}},
		&event.ProcessEnded{},
		&event.ContextCompleted{Reason: "done"},
	)
}

func written(t *testing.T, s Source, format string) string {
	t.Helper()
	var b bytes.Buffer
	must(t, s.Write(&b, format))
	return b.String()
}

// TestNothingLeaks goes through the formats with a log that holds a secret and
// characters that act on terminals. Logs are redacted when they are written, but a token
// may have become a secret since.
func TestNothingLeaks(t *testing.T) {
	s := run(t)
	for _, content := range []bool{false, true} {
		s.Content = content
		for _, format := range Formats {
			out := written(t, s, format)
			if strings.Contains(out, secret) {
				t.Errorf("%s (content %v) holds the secret", format, content)
			}
			if i := strings.IndexAny(out, "\x1b\x00\a\u202e\u009b\u2028"); i >= 0 {
				t.Errorf("%s (content %v) holds %q", format, content, out[i:min(i+10, len(out))])
			}
			if format == "otlp" && strings.Contains(out, "Be good") != content {
				t.Errorf("otlp (content %v): texts are there: %v", content, !content)
			}
		}
	}
}

func TestMarkdownShowsTextsInFences(t *testing.T) {
	out := written(t, run(t), "markdown")
	for line := range strings.Lines(out) {
		if strings.Contains(line, "<script>") && strings.HasPrefix(line, "#") && !strings.Contains(line, "`") {
			t.Errorf("live markup in a heading: %s", line)
		}
	}
	for _, want := range []string{"gpt-5", "long output", "ready", "Done.", "````\nFix it"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// A pause and its end are sentences, in the language of people.
func TestMarkdownTellsOfPauses(t *testing.T) {
	src := log(t, &event.ConfigPinned{Provider: "openai", Model: "gpt-5"}, &event.ProcessStarted{Version: "v1"},
		&event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "person"}}, &event.ResumeRequested{By: "command", Actor: "ann"}, &event.ContextResumed{})
	for lang, want := range map[i18n.Lang][]string{"en": {"paused: ", "resumed by ann (command)"}, "ja": {"一時停止: ", "ann（コマンド）が再開しました"}} {
		src.Lang = lang
		out := written(t, src, "markdown")
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: %q is missing", lang, w)
			}
		}
		if strings.Contains(out, "until person") || strings.Contains(out, "event ·") {
			t.Errorf("%s: a pause is told in words of the log:\n%s", lang, out)
		}
	}
}

func TestLinesHoldWholeTexts(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(written(t, run(t), "jsonl")), "\n")
	if len(lines) != 28 {
		t.Errorf("%d lines", len(lines))
	}
	found := false
	for _, l := range lines {
		var got struct {
			Seq  uint64
			Type string
			Data struct{ Content string }
		}
		must(t, json.Unmarshal([]byte(l), &got))
		found = found || got.Type == "tool.replied" && strings.Count(got.Data.Content, "long output") == 5000
	}
	if !found {
		t.Error("the output of 80 KB is not in its line")
	}
}

// spansOf reads what was written with the types of the protocol. In JSON the protocol has
// ids in hex, while protojson takes bytes in base64.
func spansOf(t *testing.T, out string) (all []*otlp.Span) {
	t.Helper()
	for l := range strings.Lines(out) {
		var v any
		must(t, json.Unmarshal([]byte(l), &v))
		data, err := json.Marshal(inBase64(t, v))
		must(t, err)
		var traces otlp.TracesData
		must(t, protojson.Unmarshal(data, &traces))
		for _, r := range traces.ResourceSpans {
			if r.Resource.Attributes[0].Key != "service.name" {
				t.Error("no service.name")
			}
			for _, sc := range r.ScopeSpans {
				all = append(all, sc.Spans...)
			}
		}
	}
	return all
}

func inBase64(t *testing.T, v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = inBase64(t, v[i])
		}
	case map[string]any:
		for key, field := range v {
			if s, ok := field.(string); ok && (key == "traceId" || key == "spanId" || key == "parentSpanId") {
				raw, err := hex.DecodeString(s)
				must(t, err)
				v[key] = base64.StdEncoding.EncodeToString(raw)
				continue
			}
			v[key] = inBase64(t, field)
		}
	}
	return v
}

func TestSpansAreOTLP(t *testing.T) {
	s := run(t)
	s.Content = true
	out := written(t, s, "otlp")
	if again := written(t, s, "otlp"); again != out {
		t.Error("a second export differs: spans could not be sent twice")
	}
	spans := spansOf(t, out)
	byID := map[string]*otlp.Span{}
	for _, span := range spans {
		if len(span.TraceId) != 16 || len(span.SpanId) != 8 || byID[string(span.SpanId)] != nil {
			t.Errorf("%s: ids %x %x", span.Name, span.TraceId, span.SpanId)
		}
		if span.StartTimeUnixNano == 0 || span.EndTimeUnixNano < span.StartTimeUnixNano {
			t.Errorf("%s ends before it begins", span.Name)
		}
		if hex.EncodeToString(span.TraceId) != strings.ReplaceAll(uuid, "-", "") {
			t.Errorf("the trace is not the context: %x", span.TraceId)
		}
		byID[string(span.SpanId)] = span
	}
	var tree []string
	for _, span := range spans {
		parent := "-"
		if p := byID[string(span.ParentSpanId)]; p != nil {
			parent = p.Name
		}
		tree = append(tree, parent+" > "+span.Name+" "+failure(span))
	}
	want := []string{
		"invoke_agent agent > execute_tool workspace/run ",
		"phase planning > chat gpt-5 timeout",
		"phase planning > chat gpt-5 ",
		"phase planning > execute_tool workspace/run ",
		"phase planning > execute_tool nonsense not_offered",
		"invoke_agent agent > phase planning ",
		"phase execution > chat gpt-5 interrupted",
		"phase execution > chat gpt-5 ",
		"invoke_agent agent > phase execution ",
		"- > invoke_agent agent ",
	}
	if strings.Join(tree, "\n") != strings.Join(want, "\n") {
		t.Errorf("spans:\n%s", strings.Join(tree, "\n"))
	}
}

func failure(s *otlp.Span) string {
	for _, a := range s.Attributes {
		if a.Key == "error.type" {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// TestSpansHaveTheConventionsAttributes: a backend finds model calls, tools and tokens by
// the names of the semantic conventions.
func TestSpansHaveTheConventionsAttributes(t *testing.T) {
	for _, span := range spansOf(t, written(t, run(t), "otlp")) {
		has := map[string]string{}
		for _, a := range span.Attributes {
			has[a.Key] = a.Value.String()
		}
		need := map[string][]string{
			"invoke_agent": {"gen_ai.operation.name", "gen_ai.agent.name", "gen_ai.conversation.id", "gen_ai.provider.name", "gen_ai.usage.input_tokens"},
			"chat":         {"gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"},
			"execute_tool": {"gen_ai.operation.name", "gen_ai.tool.name"},
		}[strings.Fields(span.Name)[0]]
		for _, key := range need {
			if has[key] == "" {
				t.Errorf("%s lacks %s", span.Name, key)
			}
		}
		for key := range has {
			for _, text := range []string{"messages", "arguments", "result", "title", "reason"} {
				if strings.HasSuffix(key, text) {
					t.Errorf("%s has %s, though texts are off", span.Name, key)
				}
			}
		}
	}
}

func TestTrajectoryFitsItsSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("testdata/atif-1.7.schema.json")
	must(t, err)
	logs := map[string]Source{"run": run(t), "empty": log(t), "unfinished": log(t, &event.ToolRequested{Tool: "x", Reply: 9}, &event.ToolReplied{})}
	for name, s := range logs {
		out := written(t, s, "atif")
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
		must(t, err)
		if err := schema.Validate(doc); err != nil && name != "empty" {
			t.Errorf("%s: %v", name, err)
		}
		if name == "run" {
			checkTrajectory(t, out)
		}
	}
}

// checkTrajectory checks what a schema cannot say: the order of the steps, that results
// belong to calls of their step, and the sums.
func checkTrajectory(t *testing.T, out string) {
	t.Helper()
	var got struct {
		Steps []atifStep `json:"steps"`
		Total atifTotal  `json:"final_metrics"`
	}
	must(t, json.Unmarshal([]byte(out), &got))
	var sources []string
	for i, step := range got.Steps {
		if sources = append(sources, step.Source); step.ID != i+1 {
			t.Errorf("step %d has the number %d", i+1, step.ID)
		}
		if step.Observation == nil {
			continue
		}
		for _, r := range step.Observation.Results {
			if !step.has(r.Call) {
				t.Errorf("step %d has a result of %q, which it did not call", step.ID, r.Call)
			}
		}
	}
	if s := strings.Join(sources, " "); s != "agent system user agent system agent" {
		t.Errorf("steps: %s", s)
	}
	if len(got.Steps[3].Calls) != 2 || len(got.Steps[3].Observation.Results) != 2 {
		t.Errorf("calls: %+v", got.Steps[3])
	}
	if got.Total.Prompt != 110 || got.Total.Steps != 6 || got.Total.CostUSD != nil {
		t.Errorf("total: %+v", got.Total) // the price of one reply is not known
	}
}
