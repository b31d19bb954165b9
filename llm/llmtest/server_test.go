package llmtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"agent/llm"
	"agent/llm/llmtest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const hello = `{"model":"m","messages":[{"role":"system","content":"be good"},{"role":"user","content":"hello"}]}`

func post(t *testing.T, s *llmtest.Server, body string) (int, string) {
	t.Helper()
	res, err := http.Post(s.URL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	return res.StatusCode, string(b)
}

func TestRequestsAreSeenByTheScript(t *testing.T) {
	var got llmtest.Request
	s := llmtest.New(func(n int, r llmtest.Request) llmtest.Reply {
		got = r
		return llmtest.Text("hi")
	})
	defer s.Close()
	status, body := post(t, s, `{"model":"m","stream":false,"response_format":{"type":"json_object"},
		"tools":[{"type":"function","function":{"name":"fs__read","parameters":{}}}],
		"messages":[{"role":"system","content":"be good"},
		{"role":"user","content":[{"type":"text","text":"read "},{"type":"text","text":"it"}]},
		{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"fs__read","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":"the file"}]}`)
	if status != 200 || !strings.Contains(body, `"content":"hi"`) {
		t.Fatalf("got %d %s", status, body)
	}
	want := []llm.Message{
		{Role: llm.System, Content: "be good"},
		{Role: llm.User, Content: "read it"},
		{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "fs__read", Arguments: "{}"}}},
		{Role: llm.ToolRole, CallID: "a", Content: "the file"},
	}
	if d := cmp.Diff(want, got.Messages); d != "" {
		t.Error(d)
	}
	if got.System() != "be good" || got.Last().Content != "the file" || !got.Contains("file") || got.Contains("absent") ||
		got.ToolResults() != 1 || got.Turns() != 1 || !got.JSON || got.Stream || !cmp.Equal(got.Tools, []string{"fs__read"}) {
		t.Errorf("helpers disagree with %+v", got)
	}
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Text("never")))
	defer s.Close()
	call := `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	for name, messages := range map[string]string{
		"no messages":           ``,
		"unknown role":          `{"role":"robot","content":"x"}`,
		"missing content":       `{"role":"user"}`,
		"empty tool result":     call + `,{"role":"tool","tool_call_id":"a","content":""}`,
		"result missing":        call + `,{"role":"user","content":"x"}`,
		"result missing at end": call,
		"result of nothing":     `{"role":"tool","tool_call_id":"a","content":"x"}`,
		"bad tool name":         strings.Replace(call, `"f"`, `"a/b"`, 1) + `,{"role":"tool","tool_call_id":"a","content":"x"}`,
		"NUL":                   `{"role":"user","content":"\u0000"}`,
		"not JSON":              `{`,
	} {
		status, body := post(t, s, `{"model":"m","messages":[`+messages+`]}`)
		if status != 400 || !strings.Contains(body, `"error"`) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d invalid requests reached the script", n)
	}
}

func TestSequenceEndsWithAnError(t *testing.T) {
	s := llmtest.New(llmtest.Sequence(llmtest.Text("one")))
	defer s.Close()
	post(t, s, hello)
	if status, body := post(t, s, hello); status != 500 || !strings.Contains(body, "script exhausted") {
		t.Errorf("%d %s", status, body)
	}
}

func TestTurnsAnswerARepeatedRequestAlike(t *testing.T) {
	s := llmtest.New(llmtest.Turns(llmtest.ToolCall("f", map[string]int{"x": 1}), llmtest.Done("ready")))
	defer s.Close()
	_, first := post(t, s, hello)
	_, again := post(t, s, hello)
	if first != again || !strings.Contains(first, `call_0_0`) {
		t.Errorf("%s\n%s", first, again)
	}
	next := strings.Replace(hello, `]}`, `,{"role":"assistant","content":"x"}]}`, 1)
	if _, body := post(t, s, next); !strings.Contains(body, `ready`) {
		t.Error(body)
	}
}

func TestStreamOfATextInJSONProtocol(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.JSONCommand("fs/read", map[string]string{"path": "a"}, "見る")))
	defer s.Close()
	_, body := post(t, s, strings.Replace(hello, `{`, `{"stream":true,"stream_options":{"include_usage":true},`, 1))
	var text strings.Builder
	for _, line := range strings.Split(body, "\n") {
		var e struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if data, ok := strings.CutPrefix(line, "data: {"); ok {
			if err := json.Unmarshal([]byte("{"+data), &e); err != nil {
				t.Fatal(err)
			}
			for _, c := range e.Choices {
				text.WriteString(c.Delta.Content)
			}
		}
	}
	if want := `{"command":{"args":{"path":"a"},"comment":"見る","tool":"fs/read"}}`; text.String() != want {
		t.Errorf("got %s", text.String())
	}
	if !strings.HasSuffix(body, "data: [DONE]\n\n") || !strings.Contains(body, `"prompt_tokens":`) {
		t.Error(body)
	}
}

func TestAwaitSeesARequestThatHangs(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Hang()))
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, "POST", s.URL()+"/chat/completions", strings.NewReader(hello))
		_, err := http.DefaultClient.Do(req)
		done <- err
	}()
	limit, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	if err := s.Await(limit, 1); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := s.Await(ctx, 2); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestModelsAreListed(t *testing.T) {
	s := llmtest.New(llmtest.Sequence())
	defer s.Close()
	res, err := http.Get(s.URL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer res.Body.Close()
	if b, _ := io.ReadAll(res.Body); !strings.Contains(string(b), `"id":"`+llmtest.Model+`"`) {
		t.Errorf("%s", b)
	}
}
