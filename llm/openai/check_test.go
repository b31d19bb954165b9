package openai

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agent/llm"
	"agent/llm/llmtest"

	"github.com/google/go-cmp/cmp"
)

func TestCheck(t *testing.T) {
	yes, no := true, false
	s := llmtest.New(llmtest.Sequence())
	defer s.Close()
	serve := func(status int, body string) string {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer "+key {
				status = 500
			}
			w.WriteHeader(status)
			io.WriteString(w, body)
		}))
		t.Cleanup(h.Close)
		return h.URL + "/v1"
	}
	m := []string{"m"}
	for name, c := range map[string]struct {
		base  string
		want  llm.Info
		fails string
	}{
		"names only":   {serve(200, `{"data":[{"id":"m","object":"model"}]}`), llm.Info{Reachable: true, ModelPresent: true, Models: m}, ""},
		"vLLM":         {serve(200, `{"data":[{"id":"m","max_model_len":4096}]}`), llm.Info{Reachable: true, ModelPresent: true, Context: 4096, Models: m}, ""},
		"OpenRouter":   {serve(200, `{"data":[{"id":"m","context_length":8192,"supported_parameters":["tools","seed"]}]}`), llm.Info{Reachable: true, ModelPresent: true, Tools: &yes, Context: 8192, Models: m}, ""},
		"without":      {serve(200, `{"data":[{"id":"m","context_length":8192,"supported_parameters":["seed"]}]}`), llm.Info{Reachable: true, ModelPresent: true, Tools: &no, Context: 8192, Models: m}, ""},
		"Mistral":      {serve(200, `{"data":[{"id":"m","max_context_length":9,"capabilities":{"function_calling":true}}]}`), llm.Info{Reachable: true, ModelPresent: true, Tools: &yes, Context: 9, Models: m}, ""},
		"llama.cpp":    {serve(200, `{"data":[{"id":"m","meta":{"n_ctx":7,"n_ctx_train":70}}]}`), llm.Info{Reachable: true, ModelPresent: true, Context: 7, Models: m}, ""},
		"other shapes": {serve(200, `{"data":[{"id":"m","meta":null,"capabilities":["x"],"context_length":"8k","max_model_len":-1,"supported_parameters":{}}]}`), llm.Info{Reachable: true, ModelPresent: true, Models: m}, ""},
		"absent":       {s.URL(), llm.Info{Reachable: true, Models: []string{llmtest.Model}}, `no model "m"`},
		"empty list":   {serve(200, `{"data":[]}`), llm.Info{Reachable: true}, `no model "m"`},
		"locked":       {serve(401, `{"error":{"message":"wrong key `+key+`"}}`), llm.Info{Reachable: true}, "[api key]"},
		"no list":      {serve(404, `not found`), llm.Info{Reachable: true}, "not_found"},
		"a page":       {serve(200, `<html>`), llm.Info{Reachable: true}, "a web page"},
		"nobody there": {"http://127.0.0.1:1/v1", llm.Info{}, "transient"},
	} {
		got, err := open(t, Config{BaseURL: c.base}).Check(t.Context())
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if (err == nil) != (c.fails == "") || err != nil && (!strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), key)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
