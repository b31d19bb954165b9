package anthropic

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"agent/llm"
	"agent/llm/llmtest"
	"agent/llm/llmtest/suite"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, c Config) *Provider {
	t.Helper()
	c.APIKey = "sk-test"
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestConformance(t *testing.T) {
	for name, whole := range map[string]bool{"stream": false, "in one piece": true} {
		t.Run(name, func(t *testing.T) {
			suite.Run(t, suite.Subject{Mode: llmtest.Anthropic, API: llm.APIMessages, ObjectArguments: true, NoReasoningTokens: true, NoSchema: true,
				Open: func(t *testing.T, base string) llm.Provider { return open(t, Config{BaseURL: base, NoStream: whole}) }})
		})
	}
}

// work asks for n calls, one after the other, and returns what was counted of each.
func work(t *testing.T, p *Provider, n int, result string) (r llm.Request, all []llm.Usage) {
	t.Helper()
	r = suite.Question()
	r.ContextLength = 200_000
	r.Messages[0].Content = strings.Repeat("Be exact and brief. ", 150)
	for i := range n {
		reply, err := p.Complete(t.Context(), r)
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		all = append(all, reply.Usage)
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Content: reply.Text, Calls: reply.Calls, Reasoning: reply.Opaque})
		for _, c := range reply.Calls {
			r.Messages = append(r.Messages, llm.Message{Role: llm.ToolRole, CallID: c.ID, Content: result})
		}
	}
	return r, all
}

func script(_ int, r llmtest.Request) llmtest.Reply {
	n := 1
	if r.Turns() == 5 { // more results than a breakpoint looks back
		n = 24
	}
	var calls []llm.ToolCall
	for i := range n {
		calls = append(calls, llm.ToolCall{ID: fmt.Sprintf("toolu_%d_%d", r.Turns(), i), Name: "fs__read", Arguments: `{"path":"a.go"}`})
	}
	return llmtest.Reply{Text: "I look.", Calls: calls}
}

// Of 50 steps of a conversation that only grows, at least 90 % of the prompts' tokens
// are read from the cache, as the server counts.
func TestCachedShare(t *testing.T) {
	d := llmtest.DialectNamed("Anthropic")
	s := llmtest.NewStrict(script, d)
	defer s.Close()
	_, all := work(t, open(t, Config{BaseURL: s.URL()}), 50, strings.Repeat("a line of a file\n", 40))
	var prompt, cached int
	for _, u := range all {
		prompt, cached = prompt+u.Prompt, cached+u.Cached
	}
	t.Logf("%d of %d tokens were cached", cached, prompt)
	if cached*100 < prompt*90 {
		t.Errorf("only %d of %d tokens were cached", cached, prompt)
	}
}

// Thinking goes back as it came to the model that it is of, and to no other. The fake
// refuses what was changed.
func TestThinkingGoesBack(t *testing.T) {
	s := llmtest.NewStrict(script, llmtest.DialectNamed("Anthropic"))
	defer s.Close()
	p := open(t, Config{BaseURL: s.URL()})
	r, _ := work(t, p, 3, "ok")
	if _, err := p.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	sent := func() []byte { all := s.Requests(); return all[len(all)-1].Raw }
	if n := bytes.Count(sent(), []byte(`"type":"thinking"`)); n != 3 {
		t.Errorf("%d of 3 thoughts went back", n)
	}
	r.Model = "another"
	if _, err := p.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sent(), []byte("thinking")) {
		t.Error("thoughts went to another model")
	}
}

// What is asked for of thinking, by what models take. Of what they do not take, one
// refusal tells.
func TestThinkingIsAskedFor(t *testing.T) {
	for model, c := range map[string]struct {
		says  string
		shape string
	}{
		"claude-haiku-4-5":  {`"thinking":{"type":"enabled","budget_tokens":2048}`, ""},
		"claude-opus-4-8":   {`"thinking":{"type":"adaptive"}`, stepAdaptive},
		"claude-sonnet-5-5": {`"thinking":{"type":"adaptive"}`, stepAdaptive},
	} {
		s := llmtest.NewStrict(script, llmtest.DialectNamed("Anthropic"))
		p := open(t, Config{BaseURL: s.URL(), Thinking: 2048})
		r := suite.Question()
		r.Model, r.ContextLength = model, 20_000
		reply, err := p.Complete(t.Context(), r)
		if err != nil || strings.Join(reply.Shape, " ") != c.shape || !bytes.Contains(s.Requests()[0].Raw, []byte(c.says)) {
			t.Errorf("%s: %v %v", model, reply.Shape, err)
		}
		s.Close()
	}
	for _, c := range []struct{ budget, window int }{{0, 20_000}, {4096, 2000}} { // not asked for; no room for an answer
		s := llmtest.NewStrict(script, llmtest.DialectNamed("Anthropic"))
		r := suite.Question()
		r.ContextLength = c.window
		if _, err := open(t, Config{BaseURL: s.URL(), Thinking: c.budget}).Complete(t.Context(), r); err != nil || bytes.Contains(s.Requests()[0].Raw, []byte("thinking")) {
			t.Errorf("%+v: %v", c, err)
		}
		s.Close()
	}
	if _, err := New(Config{BaseURL: "http://127.0.0.1", Thinking: 500}); err == nil {
		t.Error("500 tokens are not refused")
	}
}

// A model that does not think at all is not asked for it again.
func TestThinkingIsRefused(t *testing.T) {
	s := llmtest.New(func(_ int, r llmtest.Request) llmtest.Reply {
		if bytes.Contains(r.Raw, []byte("thinking")) {
			return llmtest.JSON(400, `{"type":"error","error":{"type":"invalid_request_error","message":"'claude-3-haiku' does not support thinking."}}`)
		}
		return llmtest.Text("ok")
	}, llmtest.Anthropic)
	defer s.Close()
	r := suite.Question()
	r.ContextLength = 20_000
	reply, err := open(t, Config{BaseURL: s.URL(), Thinking: 2048}).Complete(t.Context(), r)
	if err != nil || strings.Join(reply.Shape, " ") != stepUnasked {
		t.Error(reply.Shape, err)
	}
}

// Calls of another model have no thought before them. Their results go without
// thinking, what comes later with it.
func TestThinkingBeginsWithATurn(t *testing.T) {
	s := llmtest.NewStrict(script, llmtest.DialectNamed("Anthropic, by budget"))
	defer s.Close()
	p := open(t, Config{BaseURL: s.URL(), Thinking: 2048})
	r := suite.Question()
	r.Model, r.ContextLength = "claude-haiku-4-5", 20_000
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "fs__read", Arguments: "{}"}}},
		llm.Message{Role: llm.ToolRole, CallID: "a", Content: "ok"})
	for _, asks := range []bool{false, true} {
		if _, err := p.Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		all := s.Requests()
		if got := bytes.Contains(all[len(all)-1].Raw, []byte(`"budget_tokens"`)); got != asks {
			t.Errorf("asked: %v", got)
		}
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Content: "Read."}, llm.Message{Role: llm.User, Content: "Go on."})
	}
	if refused := s.Refused(); len(refused) != 0 {
		t.Error(refused)
	}
}

// Newer models bind a thought to all that stood before it, which a compaction changes.
// The server is told to leave out what does not fit; a gateway that takes no such word
// gets no thoughts.
func TestThoughtsOfAnotherConversation(t *testing.T) {
	for _, known := range []bool{true, false} {
		s := llmtest.NewStrict(script, llmtest.DialectNamed("Anthropic, adaptive and bound"))
		defer s.Close()
		p := open(t, Config{BaseURL: s.URL(), Transport: withoutBeta(known)})
		r := suite.Question()
		r.Model, r.ContextLength = "claude-sonnet-5-5", 20_000
		want := []string{stepDrop}
		if !known {
			want = append(want, llm.StepNoReasoning)
		}
		for i := range 3 {
			reply, err := p.Complete(t.Context(), r)
			if err != nil || i == 2 && strings.Join(reply.Shape, " ") != strings.Join(want, " ") {
				t.Fatal(i, reply.Shape, err)
			}
			r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Content: reply.Text, Calls: reply.Calls, Reasoning: reply.Opaque},
				llm.Message{Role: llm.ToolRole, CallID: reply.Calls[0].ID, Content: "ok"})
			if i == 1 {
				r.Messages[1].Content = "A summary of what was done."
			}
		}
	}
}

// withoutBeta is a gateway that may refuse the header.
type withoutBeta bool

func (known withoutBeta) RoundTrip(r *http.Request) (*http.Response, error) {
	if v := r.Header.Get("anthropic-beta"); v != "" && !bool(known) {
		body := `{"type":"error","error":{"type":"invalid_request_error","message":"Unexpected value(s) ` + "`" + v + "`" + ` for the anthropic-beta header."}}`
		return &http.Response{StatusCode: 400, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
	return wire.RoundTrip(r)
}

var wire = &http.Transport{DisableKeepAlives: true}

// A model that writes less than is asked for names its limit, which is kept.
func TestLimitOfTheAnswerIsLearned(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Text("ok")), llmtest.Anthropic)
	defer s.Close()
	p := open(t, Config{BaseURL: s.URL()})
	r := suite.Question()
	r.ContextLength = 200_000
	for range 2 {
		reply, err := p.Complete(t.Context(), r)
		if err != nil || len(reply.Shape) != 1 || reply.Shape[0] != "max_tokens=8192" {
			t.Fatal(reply.Shape, err)
		}
	}
	if n := len(s.Refused()); n != 1 {
		t.Errorf("refused %d times", n)
	}
}

func TestRefusals(t *testing.T) {
	body := func(kind, words string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + words + `"}}`
	}
	for name, c := range map[string]struct {
		reply llmtest.Reply
		kind  llm.Kind
		wait  time.Duration
	}{
		"overloaded":               {llmtest.JSON(529, body("overloaded_error", "Overloaded")), llm.Transient, 0},
		"overloaded in the stream": {llmtest.SSE("event: error\ndata: " + body("overloaded_error", "Overloaded")), llm.Transient, 0},
		"rate": {llmtest.Reply{Status: 429, Body: body("rate_limit_error", "This request would exceed the rate limit"),
			Header: map[string]string{"Retry-After": "7"}}, llm.RateLimited, 7 * time.Second},
		"rate, by the reset": {llmtest.Reply{Status: 429, Body: body("rate_limit_error", "This request would exceed the rate limit"),
			Header: map[string]string{"Date": "Sat, 28 Nov 2026 12:00:00 GMT", "Anthropic-Ratelimit-Input-Tokens-Remaining": "0",
				"Anthropic-Ratelimit-Input-Tokens-Reset": "2026-11-28T12:00:30Z"}}, llm.RateLimited, 30 * time.Second},
		"money":  {llmtest.JSON(400, body("invalid_request_error", "Your credit balance is too low to access the Anthropic API.")), llm.Quota, 0},
		"key":    {llmtest.JSON(401, body("authentication_error", "invalid x-api-key")), llm.Auth, 0},
		"model":  {llmtest.JSON(404, body("not_found_error", "model: claude-9")), llm.NotFound, 0},
		"window": {llmtest.JSON(400, body("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")), llm.ContextOverflow, 0},
		"window with the answer": {llmtest.JSON(400, body("invalid_request_error",
			"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again")), llm.ContextOverflow, 0},
		"size": {llmtest.JSON(413, body("request_too_large", "Request exceeds the maximum size")), llm.ContextOverflow, 0},
	} {
		s := llmtest.New(llmtest.Always(c.reply), llmtest.Anthropic)
		_, err := open(t, Config{BaseURL: s.URL()}).Complete(t.Context(), suite.Question())
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.RetryAfter != c.wait {
			t.Errorf("%s: %+v", name, err)
		}
		s.Close()
	}
}

func TestCheck(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Text("")), llmtest.Anthropic)
	defer s.Close()
	if info, err := open(t, Config{BaseURL: s.URL() + "/v1", Model: llmtest.Model}).Check(t.Context()); err != nil || !info.ModelPresent {
		t.Error(info, err)
	}
	info, err := open(t, Config{BaseURL: s.URL(), Model: "gone"}).Check(t.Context())
	if err == nil || info.ModelPresent || len(info.Models) != 1 || !info.Reachable {
		t.Error(info, err)
	}
}
