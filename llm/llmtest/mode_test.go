package llmtest_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"agent/llm"
	"agent/llm/llmtest"

	"github.com/google/go-cmp/cmp"
)

// send posts to a path of the server's root and takes any answer.
func send(t *testing.T, s *llmtest.Server, path, body string) (int, string) {
	t.Helper()
	res, err := http.Post(strings.TrimSuffix(s.URL(), "/v1")+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestWhatServersRefuse(t *testing.T) {
	user := `"messages":[{"role":"user","content":"x"}]`
	tool := `"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]`
	for name, c := range map[string]struct {
		mode             llmtest.Mode
		path, body, says string
	}{
		"arguments as text":     {llmtest.Ollama, "/api/chat", `{"model":"m","messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}]}`, `{"error":"json: cannot unmarshal`},
		"no model":              {llmtest.Ollama, "/api/chat", `{` + user + `}`, `{"error":"you must provide a model`},
		"tool_choice as object": {llmtest.LMStudio, "/v1/chat/completions", `{"model":"m","tool_choice":{"type":"function"},` + tool + `,` + user + `}`, `{"error":"Invalid tool_choice type`},
		"json_object":           {llmtest.LMStudio, "/v1/chat/completions", `{"model":"m","response_format":{"type":"json_object"},` + user + `}`, `{"error":"'response_format.type' must be`},
		"tools over chat":       {llmtest.Responses, "/v1/chat/completions", `{"model":"m",` + tool + `,` + user + `}`, "use /v1/responses"},
		"strict by default":     {llmtest.Responses, "/v1/responses", `{"model":"m","input":[{"role":"user","content":"x"}],"tools":[{"type":"function","name":"f","parameters":{}}]}`, "required"},
		"result without call":   {llmtest.OpenAI, "/v1/responses", `{"model":"m","input":[{"type":"function_call_output","call_id":"a","output":"x"}]}`, "no preceding tool call"},
		"call without result":   {llmtest.OpenAI, "/v1/responses", `{"model":"m","input":[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}]}`, "no result"},
		"strict schema":         {llmtest.OpenAI, "/v1/chat/completions", `{"model":"m","response_format":{"type":"json_schema","json_schema":{"name":"r","schema":{},"strict":true}},` + user + `}`, "Invalid schema"},
		"schema without a name": {llmtest.OpenAI, "/v1/responses", `{"model":"m","input":[{"role":"user","content":"x"}],"text":{"format":{"type":"json_schema","schema":{}}}}`, "Invalid schema"},
		"unknown format":        {llmtest.Ollama, "/api/chat", `{"model":"m","format":"xml",` + user + `}`, "invalid format"},
		"unknown item":          {llmtest.OpenAI, "/v1/responses", `{"model":"m","input":[{"type":"chat"}]}`, "input[].type"},
	} {
		s := llmtest.New(llmtest.Always(llmtest.Text("never")), c.mode)
		if status, body := send(t, s, c.path, c.body); status != 400 || !strings.Contains(body, c.says) || len(s.Requests()) != 0 {
			t.Errorf("%s: %d %s", name, status, body)
		}
		s.Close()
	}
}

func TestOneScriptOverEveryAPI(t *testing.T) {
	want := []llm.Message{
		{Role: llm.System, Content: "s"}, {Role: llm.User, Content: "q"},
		{Role: llm.Assistant, Content: "t", Calls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}}},
		{Role: llm.ToolRole, CallID: "a", Content: "r"},
	}
	for api, c := range map[string]struct {
		mode             llmtest.Mode
		path, body, says string
	}{
		llm.APINative: {llmtest.Ollama, "/api/chat", `{"model":"m","stream":false,"messages":[{"role":"system","content":"s"},{"role":"user","content":"q"},
			{"role":"assistant","content":"t","tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":1}}}]},{"role":"tool","tool_call_id":"a","content":"r"}]}`, `"done":true`},
		llm.APIResponses: {llmtest.OpenAI, "/v1/responses", `{"model":"m","input":[{"role":"system","content":"s"},{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]},
			{"role":"assistant","content":"t"},{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\":1}"},{"type":"function_call_output","call_id":"a","output":"r"}]}`, `"status":"completed"`},
		llm.APIChat: {llmtest.LMStudio, "/v1/chat/completions", `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"q"},
			{"role":"assistant","content":"t","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},{"role":"tool","tool_call_id":"a","content":"r"}]}`, `"finish_reason":"stop"`},
	} {
		s := llmtest.New(llmtest.Turns(llmtest.Text("first"), llmtest.Text("second")), c.mode)
		status, body := send(t, s, c.path, c.body)
		if status != 200 || !strings.Contains(body, "second") || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s", api, status, body)
		}
		for _, got := range s.Requests() {
			if d := cmp.Diff(want, got.Messages); d != "" || got.API != api {
				t.Errorf("%s as %s: %s", api, got.API, d)
			}
		}
		s.Close()
	}
}

func TestErrorsInTheShapeOfTheServer(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.RateLimit(0)), llmtest.Ollama)
	defer s.Close()
	status, body := send(t, s, "/api/chat", `{"model":"m","messages":[{"role":"user","content":"x"}]}`)
	if status != 429 || body != `{"error":"Rate limit reached"}` {
		t.Errorf("%d %s", status, body)
	}
}

func TestSkimming(t *testing.T) {
	var got []llmtest.Request
	s := llmtest.New(func(_ int, r llmtest.Request) llmtest.Reply { got = append(got, r); return llmtest.Text("done") }, llmtest.Skimming)
	defer s.Close()
	text := strings.Repeat(`\"tools\":[ \"stream\":true `, 100_000) // a text that speaks of both
	for _, body := range []string{
		`{"model":"m","tools":[{}],"messages":[{"role":"user","content":"` + text + `"}],"stream":true}`,
		`{"model":"m","messages":[{"role":"user","content":"` + text + `"}]}`,
	} {
		if status, answer := send(t, s, "/v1/chat/completions", body); status != http.StatusOK || !strings.Contains(answer, "done") {
			t.Fatalf("%d: %s", status, answer)
		}
		r := got[len(got)-1]
		if sent := r.Header.Get("Content-Length"); sent != strconv.Itoa(len(body)) || r.Raw != nil {
			t.Errorf("%s bytes, of which %d are kept; want %d and none", sent, len(r.Raw), len(body))
		}
	}
	if len(got[0].Tools) != 1 || !got[0].Stream || len(got[1].Tools) != 0 || got[1].Stream {
		t.Errorf("tools and streams: %v %v, %v %v", got[0].Tools, got[0].Stream, got[1].Tools, got[1].Stream)
	}
}
