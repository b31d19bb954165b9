package ollama

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"agent/llm"
	"agent/llm/llmtest"
	"agent/llm/llmtest/suite"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, c Config) *Provider {
	t.Helper()
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func ask(t *testing.T, reply llmtest.Reply, r llm.Request) (llm.Reply, error) {
	t.Helper()
	s := llmtest.New(llmtest.Always(reply), llmtest.Ollama)
	defer s.Close()
	return open(t, Config{BaseURL: s.URL()}).Complete(t.Context(), r)
}

// lines is a body made of lines.
func lines(l ...string) llmtest.Reply {
	return llmtest.Reply{Body: strings.Join(l, "\n") + "\n", Header: map[string]string{"Content-Type": "application/x-ndjson"}}
}

func TestConformance(t *testing.T) {
	suite.Run(t, suite.Subject{
		Mode: llmtest.Ollama, API: llm.APINative, ObjectArguments: true, NoReasoningTokens: true,
		Open: func(t *testing.T, base string) llm.Provider { return open(t, Config{BaseURL: base}) },
	})
}

func TestRequestOnTheWire(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Text("{}")), llmtest.Ollama)
	defer s.Close()
	r := suite.Question()
	r.Model, r.ContextLength, r.JSON = "", 12345, true
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "fs__read", Arguments: `{"n":1}`}, {ID: "b", Name: "fs__read", Arguments: "not JSON"}}},
		llm.Message{Role: llm.ToolRole, CallID: "a", Name: "fs__read", Content: "one"},
		llm.Message{Role: llm.ToolRole, CallID: "b", Name: "fs__read"})
	if _, err := open(t, Config{BaseURL: s.URL() + "/v1/", Model: "m", KeepAlive: time.Hour}).Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	if got.API != llm.APINative || got.Model != "m" || got.NumCtx != 12345 || got.KeepAlive != "1h0m0s" || !got.JSON || !got.Stream {
		t.Errorf("%+v", got)
	}
	var w struct {
		Truncate, Shift *bool
		Messages        []struct {
			Content  string
			ToolName string `json:"tool_name"`
			Calls    []struct {
				Function struct{ Arguments map[string]any }
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(got.Raw, &w); err != nil {
		t.Fatal(err)
	}
	if w.Truncate == nil || *w.Truncate || w.Shift == nil || *w.Shift {
		t.Error("the server may cut the prompt")
	}
	calls := w.Messages[2].Calls
	if calls[0].Function.Arguments["n"] != 1.0 || calls[1].Function.Arguments["unparsed"] != "not JSON" {
		t.Errorf("arguments %+v", calls)
	}
	if w.Messages[3].ToolName != "fs__read" || w.Messages[4].Content != "(empty)" {
		t.Errorf("results %+v", w.Messages[3:])
	}
}

func TestAnswersOfOtherServers(t *testing.T) {
	call := `{"message":{"tool_calls":[{"function":{"name":"f","arguments":%s}}]}}`
	said := func(arguments string) string { return strings.Replace(call, "%s", arguments, 1) }
	end := `{"done":true,"done_reason":"stop"}`
	again := suite.Question()
	again.Messages = append(again.Messages, llm.Message{Role: llm.Assistant, Content: "x"})
	for name, c := range map[string]struct {
		body  llmtest.Reply
		text  string
		calls []llm.ToolCall
	}{
		"no done reason":      {lines(`{"message":{"content":"hi"}}`, `{"done":true}`), "hi", nil},
		"in one piece":        {llmtest.JSON(200, `{"message":{"content":"hi"},"done":true,"done_reason":"stop"}`), "hi", nil},
		"over several lines":  {llmtest.JSON(200, "{\n \"message\": {\"content\": \"hi\"},\n \"done\": true\n}\n"), "hi", nil},
		"blank lines":         {lines("", `{"message":{"content":"hi"}}`, "", end), "hi", nil},
		"null tool calls":     {lines(`{"message":{"content":"hi","tool_calls":null}}`, end), "hi", nil},
		"calls without ids":   {lines(said(`{"x": 1}`), said(`{}`), end), "", []llm.ToolCall{{ID: "call_1_0", Name: "f", Arguments: `{"x":1}`}, {ID: "call_1_1", Name: "f", Arguments: "{}"}}},
		"arguments as text":   {lines(said(`"{\"x\":1}"`), end), "", []llm.ToolCall{{ID: "call_1_0", Name: "f", Arguments: `{"x":1}`}}},
		"null arguments":      {lines(said(`null`), end), "", []llm.ToolCall{{ID: "call_1_0", Name: "f", Arguments: `{}`}}},
		"no newline at end":   {llmtest.Reply{Body: `{"message":{"content":"hi"}}` + "\n" + end}, "hi", nil},
		"calls with the end":  {lines(`{"message":{"content":"hi","tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":true,"done_reason":"stop"}`), "hi", []llm.ToolCall{{ID: "call_1_0", Name: "f", Arguments: "{}"}}},
		"more after the end":  {lines(`{"message":{"content":"hi"},"done":true}`, "rest"), "hi", nil},
		"text after the call": {lines(said(`{}`), `{"message":{"content":"hi"}}`, end), "hi", []llm.ToolCall{{ID: "call_1_0", Name: "f", Arguments: "{}"}}},
	} {
		got, err := ask(t, c.body, again)
		if err != nil || got.Text != c.text || !cmp.Equal(got.Calls, c.calls) {
			t.Errorf("%s: %q %+v %v", name, got.Text, got.Calls, err)
		}
		if want := map[bool]string{false: "stop", true: "tool_calls"}[c.calls != nil]; got.FinishReason != want {
			t.Errorf("%s: finish reason %s", name, got.FinishReason)
		}
	}
}

func TestAnswersThatFail(t *testing.T) {
	hi := `{"message":{"content":"hi"}}`
	for name, c := range map[string]struct {
		reply         llmtest.Reply
		kind          llm.Kind
		says, partial string
	}{
		"no model":          {llmtest.Error(404, "", "model 'm' not found"), llm.NotFound, "ollama pull m ", ""},
		"no such path":      {llmtest.Reply{Status: 404, Body: "404 page not found"}, llm.NotFound, "page not found", ""},
		"no tools":          {llmtest.Error(400, "", "registry.ollama.ai/library/m:latest does not support tools"), llm.ToolsRefused, "support tools", ""},
		"too long":          {llmtest.Error(400, "", "the input length exceeds the context length"), llm.ContextOverflow, "exceeds", ""},
		"unparsed call":     {llmtest.Error(500, "", "error parsing tool call: raw='{\"supported functions and context length': err=unexpected end"), llm.MalformedCall, "parsing", ""},
		"out of memory":     {llmtest.Error(500, "", "model requires more system memory (9 GiB) than is available (8 GiB)"), llm.Transient, "memory", ""},
		"busy":              {llmtest.Error(503, "", "server busy, please try again"), llm.Transient, "busy", ""},
		"error line":        {lines(hi, `{"error":"an error was encountered while running the model"}`), llm.Transient, "encountered", "hi"},
		"no end":            {lines(hi), llm.Transient, "cut off", "hi"},
		"nothing":           {lines(), llm.Transient, "cut off", ""},
		"not JSON inside":   {lines(hi, "<html><title>Gone</title>", "</html>"), llm.Transient, "titled Gone", "hi"},
		"not an object":     {lines(`["a"]`), llm.Transient, "not JSON", ""},
		"plain text":        {llmtest.Reply{Body: "Ollama is running"}, llm.Transient, "Ollama is running", ""},
		"end of a lost run": {lines(`{"message":{"content":""},"done":true,"done_reason":"load"}`), llm.Empty, "neither", ""},
	} {
		_, err := ask(t, c.reply, suite.Question())
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.says) || e.Partial != c.partial {
			t.Errorf("%s: %+v", name, err)
		}
		if name != "no model" && e != nil && strings.Contains(e.Message, "pull") {
			t.Errorf("%s: pulling would not help: %v", name, err)
		}
	}
}

func TestTimeLimits(t *testing.T) {
	silent := llmtest.Reply{Text: strings.Repeat("word ", 100), Cut: 3, Hang: true}
	for name, c := range map[string]struct {
		reply   llmtest.Reply
		config  Config
		partial bool
	}{
		"no answer":      {llmtest.Hang(), Config{Timeout: 30 * time.Millisecond}, false},
		"silence inside": {silent, Config{IdleTimeout: 30 * time.Millisecond}, true},
	} {
		s := llmtest.New(llmtest.Always(c.reply), llmtest.Ollama)
		c.config.BaseURL = s.URL()
		_, err := open(t, c.config).Complete(t.Context(), suite.Question())
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.Timeout || (e.Partial != "") != c.partial {
			t.Errorf("%s: %+v", name, err)
		}
		s.Close()
	}
}

func TestCheck(t *testing.T) {
	yes, no := true, false
	s := llmtest.New(llmtest.Sequence(), llmtest.Ollama)
	defer s.Close()
	other := map[string]string{
		"/api/tags": `{"models":[{"name":"old:1b"}]}`,
		"/api/show": `{"capabilities":["completion"],"model_info":{"general.architecture":"a","b.context_length":7}}`,
	}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, other[r.URL.Path]) }))
	defer plain.Close()
	ancient := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "{}") }))
	defer ancient.Close()
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(401) }))
	defer locked.Close()
	for name, c := range map[string]struct {
		base, model string
		want        llm.Info
		fails       string
	}{
		"all is well":       {s.URL(), llmtest.Model, llm.Info{Reachable: true, ModelPresent: true, Tools: &yes, Context: llmtest.Window, Models: []string{"scripted:latest"}}, ""},
		"no model":          {s.URL(), "absent:7b", llm.Info{Reachable: true, Models: []string{"scripted:latest"}}, "ollama pull absent:7b"},
		"none configured":   {s.URL(), "", llm.Info{Reachable: true, Models: []string{"scripted:latest"}}, "llm.ollama.model"},
		"no tools":          {plain.URL, "old:1b", llm.Info{Reachable: true, ModelPresent: true, Tools: &no, Models: []string{"old:1b"}}, ""},
		"nothing described": {ancient.URL, "m", llm.Info{Reachable: true, ModelPresent: true}, ""},
		"locked":            {locked.URL, "m", llm.Info{Reachable: true}, "auth"},
		"nobody there":      {"http://127.0.0.1:1", "m", llm.Info{}, "transient"},
	} {
		got, err := open(t, Config{BaseURL: c.base, Model: c.model}).Check(t.Context())
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(200, lines(`{"message":{"content":"a","thinking":"b","tool_calls":[{"function":{"name":"f","arguments":{}}}]}}`, `{"done":true,"prompt_eval_count":-1}`).Body)
	f.Add(200, "{\n\"error\":{}}")
	f.Add(404, `{"error":"model 'x' not found"}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 100 || status > 999 || status/100 == 3 {
			status = http.StatusOK
		}
		got, err := open(t, Config{BaseURL: "https://models.example", Transport: network{status, body}}).Complete(t.Context(), suite.Question())
		var e *llm.Error
		switch {
		case err == nil && (got.FinishReason == "" || len(got.Raw) == 0):
			t.Errorf("an unfinished answer passes for a reply: %+v", got)
		case err != nil && (!errors.As(err, &e) || e.Kind == "" || e.Message == "" || len([]rune(e.Message)) > 500 || strings.ContainsAny(e.Message, "\n\x1b")):
			t.Errorf("%#v", err)
		}
	})
}

// network answers everything alike.
type network struct {
	status int
	body   string
}

func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: n.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(n.body)), Request: r}, nil
}
