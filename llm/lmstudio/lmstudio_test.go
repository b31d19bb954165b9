package lmstudio

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
	s := llmtest.New(llmtest.Always(reply), llmtest.LMStudio)
	defer s.Close()
	return open(t, Config{BaseURL: s.URL(), Model: "m"}).Complete(t.Context(), r)
}

func TestConformance(t *testing.T) {
	suite.Run(t, suite.Subject{Mode: llmtest.LMStudio, API: llm.APIChat,
		Open: func(t *testing.T, base string) llm.Provider { return open(t, Config{BaseURL: base}) }})
}

func TestRequestIsOneThatLMStudioTakes(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Text("{}")), llmtest.LMStudio)
	defer s.Close()
	p, r := open(t, Config{BaseURL: s.URL()}), suite.Question()
	r.JSON = true
	if _, err := p.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := s.Requests()[0]; got.JSON || got.ToolChoice != "auto" {
		t.Errorf("%s", got.Raw)
	}
	r.Tools = nil
	if _, err := p.Complete(t.Context(), r); err != nil || s.Requests()[1].ToolChoice != "" {
		t.Errorf("%v: %s", err, s.Requests()[1].Raw)
	}
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		reply llmtest.Reply
		kind  llm.Kind
		says  string
	}{
		"a text":         {llmtest.JSON(400, `{"error":"Invalid 'tools': missing field"}`), llm.Invalid, "missing field"},
		"nothing loaded": {llmtest.JSON(400, `{"error":"No models loaded. Please load a model in the developer page or use the 'lms load' command."}`), llm.NotFound, "lms get m downloads it"},
		"in the stream":  {llmtest.SSE("event: error\ndata: {\"error\":\"The model has crashed without additional information.\"}"), llm.Transient, "crashed"},
		"too long": {llmtest.JSON(400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length."}`),
			llm.ContextOverflow, "larger"},
		"wrong path": {llmtest.JSON(200, `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`), llm.NotFound, "Unexpected endpoint"},
	} {
		_, err := ask(t, c.reply, suite.Question())
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheck(t *testing.T) {
	yes, no := true, false
	s := llmtest.New(llmtest.Sequence(), llmtest.LMStudio)
	defer s.Close()
	serve := func(paths map[string]string) string {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, ok := paths[r.URL.Path]
			if !ok {
				body = `{"error":"Unexpected endpoint or method."}`
			}
			io.WriteString(w, body)
		}))
		t.Cleanup(h.Close)
		return h.URL + "/v1"
	}
	idle := serve(map[string]string{"/api/v0/models": `{"data":[{"id":"e","type":"embeddings","state":"loaded"},{"id":"a","type":"llm","state":"not-loaded","max_context_length":9,"capabilities":[]},{"id":"b","type":"vlm","state":"not-loaded"}]}`})
	old := serve(map[string]string{"/v1/models": `{"data":[{"id":"a"}]}`})
	for name, c := range map[string]struct {
		base, model string
		want        llm.Info
		fails       string
	}{
		"loaded":        {s.URL(), llmtest.Model, llm.Info{Reachable: true, ModelPresent: true, Tools: &yes, Context: llmtest.Window, Models: []string{"scripted"}}, ""},
		"any loaded":    {s.URL(), "", llm.Info{Reachable: true, ModelPresent: true, Tools: &yes, Context: llmtest.Window, Models: []string{"scripted"}}, ""},
		"absent":        {s.URL(), "x", llm.Info{Reachable: true, Models: []string{"scripted"}}, "lms get x"},
		"not loaded":    {idle, "a", llm.Info{Reachable: true, ModelPresent: true, Tools: &no, Models: []string{"a", "b"}}, ""},
		"says little":   {idle, "b", llm.Info{Reachable: true, ModelPresent: true, Models: []string{"a", "b"}}, ""},
		"none is":       {idle, "", llm.Info{Reachable: true, Models: []string{"a", "b"}}, "lms load MODEL"},
		"older version": {old, "a", llm.Info{Reachable: true, ModelPresent: true, Models: []string{"a"}}, ""},
		"nobody there":  {"http://127.0.0.1:1/v1", "a", llm.Info{}, "transient"},
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
