package openai

import (
	"errors"
	"strings"
	"testing"
	"time"

	"agent/llm"
	"agent/llm/llmtest"
	"agent/llm/llmtest/suite"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

const key = "sk-very-secret-key-0123456789"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, c Config) *Provider {
	t.Helper()
	c.APIKey, c.Model = key, "m"
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// ask sends a plain request to a server with one reply, streaming or not.
func ask(t *testing.T, reply llmtest.Reply, c Config) (llm.Reply, error) {
	t.Helper()
	s := llmtest.New(llmtest.Always(reply))
	defer s.Close()
	c.BaseURL = s.URL()
	return open(t, c).Complete(t.Context(), suite.Question())
}

func TestConformance(t *testing.T) {
	for name, c := range map[string]struct {
		noStream bool
		mode     llmtest.Mode
		api      string
	}{
		"chat, streaming":         {false, llmtest.OpenAI, llm.APIChat},
		"chat, in one piece":      {true, llmtest.OpenAI, llm.APIChat},
		"responses, streaming":    {false, llmtest.Responses, llm.APIResponses},
		"responses, in one piece": {true, llmtest.Responses, llm.APIResponses},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Run(t, suite.Subject{Mode: c.mode, API: c.api, Open: func(t *testing.T, base string) llm.Provider {
				return open(t, Config{BaseURL: base, NoStream: c.noStream})
			}})
		})
	}
}

const (
	start = `data: {"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`
	part  = `data: {"choices":[{"index":0,"delta":{"content":"half"}}]}`
	stop  = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	calls = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	end   = `data: [DONE]`
)

func delta(s string) string { return `data: {"choices":[{"index":0,"delta":` + s + `}]}` }

func TestStreamsOfOtherServers(t *testing.T) {
	two := []llm.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g", Arguments: `{}`}}
	keepAlive := make([]string, 1000)
	for i := range keepAlive {
		keepAlive[i] = ": still here"
	}
	for name, c := range map[string]struct {
		lines []string
		text  string
		calls []llm.ToolCall
	}{
		"no end mark":           {[]string{start, part, stop}, "half", nil},
		"no finish reason":      {[]string{start, part, end}, "half", nil},
		"no space after colon":  {[]string{`data:{"choices":[{"delta":{"content":"half"},"finish_reason":"stop"}]}`, "data:[DONE]"}, "half", nil},
		"many keep-alive lines": {append(keepAlive, start, part, stop, end), "half", nil},
		"blank lines first":     {[]string{"\n\n", part, stop, end}, "half", nil},
		"other fields":          {[]string{"event: chunk\nid: 1\nretry: 5", part, stop, end}, "half", nil},
		"more than one choice":  {[]string{part, `data: {"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":"length"}]}`, stop, end}, "half", nil},
		"null content":          {[]string{delta(`{"content":null,"tool_calls":null}`), part, stop, end}, "half", nil},
		"content in parts":      {[]string{delta(`{"content":[{"type":"text","text":"ha"},{"type":"text","text":"lf"}]}`), stop, end}, "half", nil},
		"refusal":               {[]string{delta(`{"refusal":"half"}`), stop, end}, "half", nil},
		"message, not delta":    {[]string{`data: {"choices":[{"message":{"content":"half"},"finish_reason":"stop"}]}`, end}, "half", nil},
		"deltas by index": {[]string{
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}`),
			delta(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}]}`),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}},{"index":1,"function":{"arguments":"}"}}]}`),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`), calls, end}, "", two},
		"no index": {[]string{
			delta(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`),
			delta(`{"tool_calls":[{"function":{"arguments":":1}"}}]}`),
			delta(`{"tool_calls":[{"id":"b","function":{"name":"g","arguments":"{}"}}]}`), calls, end}, "", two},
		"whole calls under one index": {[]string{
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}`),
			delta(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]}`), calls, end}, "", two},
		"id and name in every delta": {[]string{
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`),
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}]}`),
			delta(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":""}}]}`), calls, end}, "", two},
		"arguments as object": {[]string{
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x": 1}}},{"index":1,"id":"b","function":{"name":"g","arguments":null}}]}`), calls, end}, "", two},
		"no ids": {[]string{
			delta(`{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":"{}"}}]}`), calls, end}, "",
			[]llm.ToolCall{{ID: "call_0", Name: "f", Arguments: "{}"}, {ID: "call_1", Name: "f", Arguments: "{}"}}},
	} {
		got, err := ask(t, llmtest.SSE(c.lines...), Config{})
		if err != nil || got.Text != c.text || !cmp.Equal(got.Calls, c.calls) {
			t.Errorf("%s: %q %+v %v", name, got.Text, got.Calls, err)
		}
	}
}

func TestStreamIsReadWhateverItsType(t *testing.T) {
	for _, kind := range []string{"application/json", "text/plain", ""} {
		reply := llmtest.SSE(part, stop, end)
		reply.Header["Content-Type"] = kind
		if got, err := ask(t, reply, Config{NoStream: true}); err != nil || got.Text != "half" {
			t.Errorf("%q: %q %v", kind, got.Text, err)
		}
	}
}

func TestRawIsWhatCame(t *testing.T) {
	got, err := ask(t, llmtest.SSE(start, part, stop, end), Config{})
	want := strings.ReplaceAll(strings.Join([]string{start, part, stop}, "\n"), "data: ", "")
	if err != nil || string(got.Raw) != want {
		t.Errorf("%s %v", got.Raw, err)
	}
}

func TestReasoningUnderBothNames(t *testing.T) {
	for _, fields := range []string{`"reasoning":"why"`, `"reasoning_content":"why"`, `"reasoning":"why","reasoning_content":"why"`} {
		got, err := ask(t, llmtest.SSE(delta(`{`+fields+`}`), part, stop, end), Config{})
		if err != nil || got.Reasoning != "why" {
			t.Errorf("%s: %q %v", fields, got.Reasoning, err)
		}
		whole := llmtest.JSON(200, `{"choices":[{"message":{"content":"a",`+fields+`},"finish_reason":"stop"}]}`)
		if got, err = ask(t, whole, Config{NoStream: true}); err != nil || got.Reasoning != "why" {
			t.Errorf("%s: %q %v", fields, got.Reasoning, err)
		}
	}
}

func TestStreamsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		lines   []string
		kind    llm.Kind
		says    string
		partial string
	}{
		"no end mark, no reason":  {[]string{start, part}, llm.Transient, "cut off", "half"},
		"a call without a reason": {[]string{start, part, delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`), end}, llm.Transient, "cut off", "half"},
		"nothing":                 {[]string{end}, llm.Transient, "cut off", ""},
		"only keep-alive":         {[]string{": hello"}, llm.Transient, "cut off", ""},
		"error, spaced":           {[]string{part, `data: { "error": {"message":"overloaded","code":529}}`}, llm.Transient, "overloaded", "half"},
		"error is a text":         {[]string{`data: {"error":"the engine died"}`, end}, llm.Transient, "the engine died", ""},
		"error after the text":    {[]string{part, stop, `data: {"error":{"message":"late"}}`, end}, llm.Transient, "late", "half"},
		"rate limit":              {[]string{`data: {"error":{"message":"slow down","code":"rate_limit_exceeded"}}`}, llm.RateLimited, "slow down", ""},
		"status in the code":      {[]string{`data: {"error":{"message":"no key","code":401}}`}, llm.Auth, "no key", ""},
		"event named error":       {[]string{"event: error\ndata: {\"message\":\"boom\"}", end}, llm.Transient, "boom", ""},
		"bare error object":       {[]string{": x", `{"error":{"message":"bare"}}`}, llm.Transient, "bare", ""},
		"finish reason error":     {[]string{part, `data: {"choices":[{"delta":{},"finish_reason":"error"}]}`, end}, llm.Transient, "error", "half"},
		"not JSON":                {[]string{part, `data: {"choices":[{`, stop, end}, llm.Transient, "not JSON", "half"},
		"too long inside":         {[]string{`data: {"error":{"message":"the request exceeds the available context size"}}`}, llm.ContextOverflow, "context size", ""},
		"cut inside of character": {[]string{part, "data: {\"choices\":[{\"delta\":{\"content\":\"\xe6\x97"}, llm.Transient, "not JSON", "half"},
	} {
		_, err := ask(t, llmtest.SSE(c.lines...), Config{})
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.says) || e.Partial != c.partial {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

func TestBodiesThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		reply llmtest.Reply
		kind  llm.Kind
		says  string
	}{
		"200 with an error":         {llmtest.JSON(200, `{"error":{"message":"out of memory"}}`), llm.Transient, "out of memory"},
		"200 with a text":           {llmtest.JSON(200, `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`), llm.NotFound, "Unexpected endpoint"},
		"no choice":                 {llmtest.JSON(200, `{"choices":[]}`), llm.Empty, "without a choice"},
		"null choices":              {llmtest.JSON(200, `{"choices":null}`), llm.Empty, "without a choice"},
		"null content":              {llmtest.JSON(200, `{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`), llm.Empty, "neither"},
		"no finish reason":          {llmtest.JSON(200, `{"choices":[{"message":{"content":"a"},"finish_reason":null}]}`), llm.Transient, "cut off"},
		"page":                      {llmtest.HTML(), llm.Transient, "a web page, titled Sign in"},
		"text":                      {llmtest.Reply{Body: "error code: 1015"}, llm.Transient, "error code: 1015"},
		"blank":                     {llmtest.Reply{Body: "\n"}, llm.Transient, "empty"},
		"message at the top":        {llmtest.JSON(422, `{"object":"error","message":"extra input","type":"invalid_request_error"}`), llm.Invalid, "extra input"},
		"detail":                    {llmtest.JSON(422, `{"detail":[{"msg":"field required"}]}`), llm.Invalid, "field required"},
		"error is a text":           {llmtest.JSON(400, `{"error":"bad thing"}`), llm.Invalid, "bad thing"},
		"list":                      {llmtest.JSON(400, `[{"error":{"code":400,"message":"in a list"}}]`), llm.Invalid, "in a list"},
		"message is a list":         {llmtest.JSON(400, `{"error":{"message":["one","two"]}}`), llm.Invalid, `["one","two"]`},
		"code is a number":          {llmtest.JSON(400, `{"error":{"message":"m","code":17,"type":null}}`), llm.Invalid, "m"},
		"page, base_url":            {llmtest.HTML(), llm.Transient, "Sign in; base_url may be wrong"},
		"no body":                   {llmtest.Reply{Status: 502, Body: " "}, llm.Transient, "HTTP 502 Bad Gateway"},
		"no body, odd status":       {llmtest.Reply{Status: 529}, llm.Transient, "HTTP 529"},
		"502 with a page":           {llmtest.Reply{Status: 502, Body: "<html><title>nginx</title></html>"}, llm.Transient, "HTTP 502 Bad Gateway: a web page, titled nginx"},
		"500 with plain text":       {llmtest.Reply{Status: 500, Body: "oops\n"}, llm.Transient, "HTTP 500 Internal Server Error: oops"},
		"500 with a message":        {llmtest.Error(500, "", "upstream broke"), llm.Transient, "upstream broke"},
		"the key is echoed":         {llmtest.Error(401, "", "wrong key "+key), llm.Auth, "wrong key [api key]"},
		"tools need a flag":         {llmtest.Error(500, "", "tools param requires --jinja flag"), llm.ToolsRefused, "--jinja"},
		"no endpoint takes tools":   {llmtest.Error(404, "", "No endpoints found that support tool use."), llm.ToolsRefused, "tool use"},
		"a result is missing":       {llmtest.Error(400, "", "messages with role 'tool' must be a response to a preceding message"), llm.Invalid, "role 'tool'"},
		"400 for an unknown model":  {llmtest.Error(400, "", "model 'x' not found"), llm.NotFound, "not found"},
		"llama.cpp, prompt too big": {llmtest.JSON(400, `{"error":{"code":400,"message":"too big","type":"exceed_context_size_error"}}`), llm.ContextOverflow, "too big"},
	} {
		_, err := ask(t, c.reply, Config{})
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.says) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

func TestArgumentsAsObjectInOnePiece(t *testing.T) {
	reply := llmtest.JSON(200, `{"choices":[{"message":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":{"a": {"b": []}}}},`+
		`{"index":0,"function":{"name":"g","arguments":""}}]},"finish_reason":"tool_calls"}]}`)
	got, err := ask(t, reply, Config{})
	want := []llm.ToolCall{{ID: "call_0", Name: "f", Arguments: `{"a":{"b":[]}}`}, {ID: "call_1", Name: "g", Arguments: "{}"}}
	if d := cmp.Diff(want, got.Calls); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestRefusedOptionsAreLeftOut(t *testing.T) {
	s := llmtest.New(func(_ int, r llmtest.Request) llmtest.Reply {
		switch {
		case r.IncludeUsage:
			return llmtest.Error(400, "", "Unknown parameter: 'stream_options'")
		case r.JSON:
			return llmtest.Error(400, "", "'response_format.type' must be 'json_schema' or 'text'")
		}
		return llmtest.Text("{}")
	})
	defer s.Close()
	p, r := open(t, Config{BaseURL: s.URL()}), suite.Question()
	r.JSON = true
	for range 2 {
		if got, err := p.Complete(t.Context(), r); err != nil || got.Text != "{}" {
			t.Fatal(got, err)
		}
	}
	if n := len(s.Requests()); n != 4 { // three to find out, one for the second call
		t.Errorf("%d requests", n)
	}
}

func TestOtherRefusalsAreNotRepeated(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Error(400, "", "bad messages")))
	defer s.Close()
	if _, err := open(t, Config{BaseURL: s.URL()}).Complete(t.Context(), suite.Question()); err == nil || len(s.Requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(s.Requests()))
	}
}

func TestTimeLimits(t *testing.T) {
	silent := llmtest.Reply{Text: strings.Repeat("word ", 100), Cut: 3, Hang: true}
	for name, c := range map[string]struct {
		reply   llmtest.Reply
		config  Config
		partial string
	}{
		"no answer":         {llmtest.Hang(), Config{Timeout: 30 * time.Millisecond}, ""},
		"silence inside":    {silent, Config{IdleTimeout: 30 * time.Millisecond}, "word word word word word word wor"[:32]},
		"no end in time":    {silent, Config{Timeout: 200 * time.Millisecond}, "word word word word word word wor"[:32]},
		"silent one-piece":  {silent, Config{NoStream: true, IdleTimeout: 30 * time.Millisecond}, ""},
		"silent error body": {llmtest.Reply{Status: 500, Body: "failure", Cut: 3, Hang: true}, Config{IdleTimeout: 30 * time.Millisecond}, ""},
	} {
		_, err := ask(t, c.reply, c.config)
		var e *llm.Error
		if !errors.As(err, &e) || e.Partial != c.partial || e.Kind != llm.Timeout && e.Status != 500 {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

func TestStreamThatIsNotClosedIsWholeAtItsEndMark(t *testing.T) {
	body := llmtest.SSE(part, stop, end)
	body.Cut, body.Hang = len(body.Body), true
	if got, err := ask(t, body, Config{}); err != nil || got.Text != "half" {
		t.Error(got, err)
	}
}

func TestStreamWithoutEndIsCut(t *testing.T) {
	_, err := ask(t, llmtest.SSE(part, strings.Repeat(": still here\n", 33<<20/13), stop, end), Config{})
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Transient || !strings.Contains(e.Message, "32 MiB") || e.Partial != "half" {
		t.Error(err)
	}
}

func TestCutAfterTheFinishReasonIsWhole(t *testing.T) {
	body := llmtest.SSE(part, stop, delta(`{}`))
	for _, clean := range []bool{false, true} {
		body.Cut, body.Clean = len(body.Body)-5, clean
		if got, err := ask(t, body, Config{}); err != nil || got.Text != "half" {
			t.Error(got, err)
		}
	}
}

func TestKeyAndModelAreSent(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Text("ok")))
	defer s.Close()
	r := suite.Question()
	r.Model = ""
	if _, err := open(t, Config{BaseURL: s.URL() + "/"}).Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := s.Requests()[0]; got.Header.Get("Authorization") != "Bearer "+key || got.Model != "m" || !got.Stream || !got.IncludeUsage {
		t.Errorf("%+v", got)
	}
}
