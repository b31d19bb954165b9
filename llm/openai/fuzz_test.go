package openai

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"agent/llm"
	"agent/llm/httpx"
	"agent/llm/llmtest"
	"agent/llm/llmtest/suite"
)

// Whatever a server sends gives a reply with a finish reason and something in
// it, or an error that may be shown.
func FuzzAnswer(f *testing.F) {
	f.Add(200, llmtest.SSE(start, part, stop, end).Body)
	f.Add(200, llmtest.SSE(delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":{}}}]}`), calls).Body)
	f.Add(200, `{"choices":[{"message":{"content":[{"text":"a"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`)
	f.Add(200, "event: error\ndata: {\"message\":1}\n\n")
	f.Add(400, `[{"error":{"message":["a"],"code":"17"}}]`)
	f.Add(500, llmtest.HTML().Body)
	f.Add(200, llmtest.SSE(`data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"text":"a"}]}]}}`).Body)
	f.Add(200, `{"status":"incomplete","output":[{"type":"function_call","arguments":{}}],"incomplete_details":{"reason":"x"}}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 100 || status > 999 || status/100 == 3 {
			status = http.StatusOK
		}
		p := open(t, Config{BaseURL: "https://models.example/v1", Transport: answer{status, body}})
		for _, api := range []string{llm.APIChat, llm.APIResponses} {
			got, err := p.once(t.Context(), suite.Question(), api, p.shape(suite.Question()))
			var e *llm.Error
			switch {
			case err == nil && (got.FinishReason == "" || len(got.Raw) == 0):
				t.Errorf("an unfinished answer passes for a reply: %+v", got)
			case err != nil && (!errors.As(err, &e) || e.Kind == "" || e.Message == "" || len([]rune(e.Message)) > httpx.MaxMessage || strings.ContainsAny(e.Message, "\n\x1b")):
				t.Errorf("%#v", err)
			}
		}
	})
}

// answer is a network that answers everything alike.
type answer struct {
	status int
	body   string
}

func (a answer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}
