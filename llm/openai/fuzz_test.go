package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"agent/llm"
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
	f.Fuzz(func(t *testing.T, status int, body string) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		c := &call{config: Config{APIKey: key, IdleTimeout: time.Minute}, request: suite.Question(), ctx: ctx, cancel: cancel, caller: t.Context()}
		res := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
		var got llm.Reply
		var err error
		if status == http.StatusOK {
			got, err = c.read(res)
		} else {
			err = c.refused(res)
		}
		var e *llm.Error
		switch {
		case err == nil && (got.FinishReason == "" || len(got.Raw) == 0):
			t.Errorf("an unfinished answer passes for a reply: %+v", got)
		case err != nil && (!errors.As(err, &e) || e.Kind == "" || e.Message == "" || len([]rune(e.Message)) > maxMessage || strings.ContainsAny(e.Message, "\n\x1b")):
			t.Errorf("%#v", err)
		}
	})
}
