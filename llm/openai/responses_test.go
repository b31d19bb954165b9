package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"agent/llm"
	"agent/llm/llmtest"
	"agent/llm/llmtest/suite"

	"github.com/google/go-cmp/cmp"
)

const newest = "gpt-6-astra" // the library knows that it takes tools over the Responses API only

// twoAPIs answers each API with one reply and notes what was asked.
func twoAPIs(t *testing.T, chat, responses llmtest.Reply) (base string, paths *[]string) {
	t.Helper()
	paths = new([]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*paths = append(*paths, strings.TrimPrefix(r.URL.Path, "/v1/"))
		reply := chat
		if r.URL.Path == "/v1/responses" {
			reply = responses
		}
		if reply.Status != 0 {
			w.WriteHeader(reply.Status)
		}
		io.WriteString(w, reply.Body)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", paths
}

func TestAPIIsChosen(t *testing.T) {
	chat := llmtest.JSON(200, `{"model":"m","choices":[{"message":{"content":"chat"},"finish_reason":"stop"}]}`)
	responses := llmtest.JSON(200, `{"model":"m","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"responses"}]}]}`)
	refusal := llmtest.Error(400, "", "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.")
	only := llmtest.Error(404, "", "This model is only supported in v1/responses and not in v1/chat/completions.")
	nothing := llmtest.Reply{Status: 404, Body: "404 page not found"}
	for name, c := range map[string]struct {
		chat, responses llmtest.Reply
		model           string
		kind            llm.Kind // of the error, if there is one
		text            string   // of the reply, or in the error
		first, later    []string // what is asked by the first and by the second call
	}{
		"chat":                     {chat, nothing, "m", "", "chat", []string{"chat/completions"}, []string{"chat/completions"}},
		"tools refused":            {refusal, responses, "m", "", "responses", []string{"chat/completions", "responses"}, []string{"responses"}},
		"model refused":            {only, responses, "m", "", "responses", []string{"chat/completions", "responses"}, []string{"responses"}},
		"known to the library":     {refusal, responses, newest, "", "responses", []string{"responses"}, []string{"responses"}},
		"known, without the API":   {chat, nothing, newest, "", "chat", []string{"responses", "chat/completions"}, []string{"chat/completions"}},
		"refused, without the API": {refusal, nothing, "m", llm.ToolsRefused, "reasoning_effort", []string{"chat/completions", "responses"}, []string{"chat/completions", "responses"}},
		"neither has the model":    {only, llmtest.Error(404, "model_not_found", "The model `m` does not exist"), "m", llm.NotFound, "does not exist", []string{"chat/completions", "responses"}, []string{"responses"}},
		"fails for another reason": {refusal, llmtest.ServerError(500), "m", llm.Transient, "had an error", []string{"chat/completions", "responses"}, []string{"responses"}},
		"tools at all":             {llmtest.Error(400, "", "tools are not supported"), responses, "m", llm.ToolsRefused, "tools", []string{"chat/completions"}, []string{"chat/completions"}},
		"no such path":             {nothing, responses, "m", llm.NotFound, "page not found", []string{"chat/completions"}, []string{"chat/completions"}},
	} {
		base, asked := twoAPIs(t, c.chat, c.responses)
		p, r := open(t, Config{BaseURL: base}), suite.Question()
		r.Model = c.model
		for _, want := range [][]string{c.first, c.later} {
			*asked = nil
			got, err := p.Complete(t.Context(), r)
			var e *llm.Error
			switch {
			case c.kind == "" && (err != nil || got.Text != c.text || got.API != c.text):
				t.Errorf("%s: %+v %v", name, got, err)
			case c.kind != "" && (!errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.text)):
				t.Errorf("%s: %v", name, err)
			}
			if !slices.Equal(*asked, want) {
				t.Errorf("%s: asked %v, want %v", name, *asked, want)
			}
		}
	}
}

func TestAPIIsRememberedForTheModel(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Text("ok")), llmtest.Responses)
	defer s.Close()
	p, r := open(t, Config{BaseURL: s.URL()}), suite.Question()
	plain := r
	plain.Model, plain.Tools = "other", nil
	for _, q := range []llm.Request{r, plain} {
		if _, err := p.Complete(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Requests(); got[0].API != llm.APIResponses || got[1].API != llm.APIChat {
		t.Errorf("asked %s and %s", got[0].API, got[1].API)
	}
	none := open(t, Config{BaseURL: s.URL(), NoResponses: true})
	var e *llm.Error
	if _, err := none.Complete(t.Context(), r); !errors.As(err, &e) || e.Kind != llm.ToolsRefused {
		t.Errorf("the Responses API was used in spite of NoResponses: %v", err)
	}
}

func TestResponsesRequest(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Text("{}")), llmtest.Responses)
	defer s.Close()
	r := suite.Question()
	r.Model, r.JSON = newest, true
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Content: "both", Calls: []llm.ToolCall{{ID: "a", Name: "fs__read", Arguments: "{}"}, {ID: "b", Name: "fs__read", Arguments: "?"}}},
		llm.Message{Role: llm.ToolRole, CallID: "a", Content: "x"}, llm.Message{Role: llm.ToolRole, CallID: "b"})
	if _, err := open(t, Config{BaseURL: s.URL()}).Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	if d := cmp.Diff([]llm.ToolCall{{ID: "a", Name: "fs__read", Arguments: "{}"}, {ID: "b", Name: "fs__read", Arguments: `{"unparsed":"?"}`}}, got.Messages[2].Calls); d != "" || !got.JSON {
		t.Errorf("%s %+v", d, got)
	}
	var w struct {
		Store *bool
		Input []struct{ Type string }
	}
	if err := json.Unmarshal(got.Raw, &w); err != nil || w.Store == nil || *w.Store {
		t.Errorf("the server may store the conversation: %s", got.Raw)
	}
	var types []string
	for _, i := range w.Input {
		types = append(types, i.Type)
	}
	want := []string{"message", "message", "message", "function_call", "function_call", "function_call_output", "function_call_output"}
	if d := cmp.Diff(want, types); d != "" {
		t.Error(d)
	}
}

func TestRefusedFormatIsLeftOutOfResponses(t *testing.T) {
	s := llmtest.New(func(_ int, r llmtest.Request) llmtest.Reply {
		if r.JSON {
			return llmtest.Error(400, "", "Invalid value: 'text.format'")
		}
		return llmtest.Text("{}")
	})
	defer s.Close()
	r := suite.Question()
	r.Model, r.JSON = newest, true
	if got, err := open(t, Config{BaseURL: s.URL()}).Complete(t.Context(), r); err != nil || got.Text != "{}" || len(s.Requests()) != 2 {
		t.Errorf("%+v %v after %d requests", got, err, len(s.Requests()))
	}
}

// askResponses gets the body as the answer of the Responses API.
func askResponses(t *testing.T, reply llmtest.Reply) (llm.Reply, error) {
	t.Helper()
	r := suite.Question()
	r.Model = newest
	s := llmtest.New(llmtest.Always(reply))
	defer s.Close()
	return open(t, Config{BaseURL: s.URL()}).Complete(t.Context(), r)
}

func TestResponsesOfOtherServers(t *testing.T) {
	message := `{"type":"message","content":[{"type":"output_text","text":"hi"}]}`
	call := `{"type":"function_call","id":"fc","call_id":"a","name":"f","arguments":{"x": 1}}`
	done := func(output string) string {
		return `data: {"type":"response.completed","response":{"status":"completed","output":` + output + `}}`
	}
	item := func(i, item string) string {
		return `data: {"type":"response.output_item.done","output_index":` + i + `,"item":` + item + `}`
	}
	a := []llm.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}}
	for name, c := range map[string]struct {
		reply  llmtest.Reply
		text   string
		calls  []llm.ToolCall
		finish string
	}{
		"no event names":         {llmtest.SSE(done("[" + message + "]")), "hi", nil, "stop"},
		"items only by event":    {llmtest.SSE(item("1", call), item("0", message), done("[]")), "hi", a, "tool_calls"},
		"unknown events, items":  {llmtest.SSE(`data: {"type":"response.new.thing","delta":"x"}`, done(`[{"type":"web_search_call"},`+message+`]`)), "hi", nil, "stop"},
		"with an end mark":       {llmtest.SSE(done("["+message+"]"), "data: [DONE]"), "hi", nil, "stop"},
		"refusal":                {llmtest.SSE(done(`[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]`)), "no", nil, "stop"},
		"in one piece":           {llmtest.JSON(200, `{"status":"completed","error":null,"output":[`+call+`]}`), "", a, "tool_calls"},
		"no call id":             {llmtest.JSON(200, `{"status":"completed","output":[{"type":"function_call","id":"fc","name":"f"}]}`), "", []llm.ToolCall{{ID: "fc", Name: "f", Arguments: "{}"}}, "tool_calls"},
		"no id":                  {llmtest.JSON(200, `{"status":"completed","output":[{"type":"function_call","name":"f"}]}`), "", []llm.ToolCall{{ID: "call_0", Name: "f", Arguments: "{}"}}, "tool_calls"},
		"filtered":               {llmtest.JSON(200, `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`), "", nil, "content_filter"},
		"incomplete, no details": {llmtest.JSON(200, `{"status":"incomplete","output":[`+message+`]}`), "hi", nil, "incomplete"},
	} {
		got, err := askResponses(t, c.reply)
		if d := cmp.Diff(c.calls, got.Calls); d != "" || err != nil || got.Text != c.text || got.FinishReason != c.finish {
			t.Errorf("%s: %q %s %s %v", name, got.Text, got.FinishReason, d, err)
		}
	}
}

func TestResponsesThatFail(t *testing.T) {
	half := `data: {"type":"response.output_text.delta","output_index":0,"delta":"half"}`
	for name, c := range map[string]struct {
		reply         llmtest.Reply
		kind          llm.Kind
		says, partial string
	}{
		"error event":       {llmtest.SSE(half, `data: {"type":"error","code":"rate_limit_exceeded","message":"slow down"}`), llm.RateLimited, "slow down", "half"},
		"named error":       {llmtest.SSE("event: error\ndata: {\"message\":\"boom\"}"), llm.Transient, "boom", ""},
		"error as in chat":  {llmtest.SSE(half, `data: {"error":{"message":"overloaded"}}`), llm.Transient, "overloaded", "half"},
		"failed":            {llmtest.SSE(half, `data: {"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"broke"}}}`), llm.Transient, "broke", "half"},
		"failed, too long":  {llmtest.SSE(`data: {"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"too big"}}}`), llm.ContextOverflow, "too big", ""},
		"no end":            {llmtest.SSE(half), llm.Transient, "cut off", "half"},
		"end mark only":     {llmtest.SSE(half, "data: [DONE]"), llm.Transient, "cut off", "half"},
		"not JSON":          {llmtest.SSE(half, "data: {"), llm.Transient, "not JSON", "half"},
		"still in progress": {llmtest.JSON(200, `{"status":"in_progress","output":[{"type":"message","content":[{"text":"half"}]}]}`), llm.Transient, "cut off", "half"},
		"failed in one":     {llmtest.JSON(200, `{"status":"failed","error":{"message":"broke"},"output":[]}`), llm.Transient, "broke", ""},
		"no response":       {llmtest.JSON(200, `{"error":"out of memory"}`), llm.Transient, "out of memory", ""},
		"something else":    {llmtest.JSON(200, `{"hello":1}`), llm.Transient, "hello", ""},
		"a broken item":     {llmtest.SSE(`data: {"type":"response.output_item.done","item":[]}`, `data: {"type":"response.completed","response":{"status":"completed"}}`), llm.Transient, "not JSON", ""},
	} {
		_, err := askResponses(t, c.reply)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.says) || e.Partial != c.partial {
			t.Errorf("%s: %+v", name, err)
		}
	}
}
