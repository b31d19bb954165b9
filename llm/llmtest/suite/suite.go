// Package suite is what every [llm.Provider] has to do, as tests against the
// scripted server of package llmtest. It stands apart from it because it needs
// package testing, which programs must not link.
package suite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"agent/llm"
	"agent/llm/llmtest"

	"github.com/google/go-cmp/cmp"
)

// Subject is a provider under test.
type Subject struct {
	// Open makes the provider; baseURL is that of the server.
	Open func(t *testing.T, baseURL string) llm.Provider
	Mode llmtest.Mode // the server it is for
	API  string       // what its replies must name

	// ObjectArguments: the API carries arguments as objects, so that there are no malformed ones.
	ObjectArguments bool
	// NoReasoningTokens: the API does not count them apart.
	NoReasoningTokens bool
	// NoSchema: the API has no format for replies that is asked for.
	NoSchema bool
}

// Run runs all of the suite.
func Run(t *testing.T, s Subject) {
	t.Run("Answers", func(t *testing.T) { answers(t, s) })
	t.Run("Usage", func(t *testing.T) { usage(t, s) })
	t.Run("Requests", func(t *testing.T) { requests(t, s) })
	if !s.NoSchema {
		t.Run("Schema", func(t *testing.T) { schema(t, s) })
		t.Run("SchemaRefused", func(t *testing.T) { schemaRefused(t, s) })
	}
	t.Run("Failures", func(t *testing.T) { failures(t, s) })
	t.Run("RetryAfter", func(t *testing.T) { retryAfter(t, s) })
	t.Run("Cuts", func(t *testing.T) { cuts(t, s) })
	t.Run("Cancel", func(t *testing.T) { cancel(t, s) })
	t.Run("CutPrompt", func(t *testing.T) { cutPrompt(t, s) })
	t.Run("Redirect", func(t *testing.T) { redirect(t, s) })
}

// Question is a request with nothing special about it.
func Question() llm.Request {
	return llm.Request{
		Model: "m", ContextLength: 1000,
		Messages: []llm.Message{{Role: llm.System, Content: "be brief"}, {Role: llm.User, Content: "質問 <b>&</b>"}},
		Tools:    []llm.Tool{{Name: "fs__read", Description: "reads", Schema: []byte(`{"type":"object"}`)}},
	}
}

// ask sends r to a server that gives one reply.
func ask(t *testing.T, subject Subject, reply llmtest.Reply, r llm.Request) (llm.Reply, error) {
	t.Helper()
	s := llmtest.New(llmtest.Always(reply), subject.Mode)
	t.Cleanup(s.Close)
	return subject.Open(t, s.URL()).Complete(t.Context(), r)
}

// failure is ask for a reply that must end in an *llm.Error that may be shown.
func failure(t *testing.T, subject Subject, reply llmtest.Reply) *llm.Error {
	t.Helper()
	got, err := ask(t, subject, reply, Question())
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("got reply %+v and error %v, want an *llm.Error", got, err)
	}
	if e.Message == "" || strings.ContainsAny(e.Message, "\r\n\x1b") || len([]rune(e.Message)) > 500 {
		t.Errorf("message %q is not one short line", e.Message)
	}
	return e
}

func answers(t *testing.T, subject Subject) {
	big := `{"text":"` + strings.Repeat("日本語 🙂 ", 700_000) + `"}` // 10 MB
	for name, c := range map[string]struct {
		reply llmtest.Reply
		want  llm.Reply
	}{
		"text":      {llmtest.Text("はい、できます。 <ok> & 🙂"), llm.Reply{Text: "はい、できます。 <ok> & 🙂", FinishReason: "stop"}},
		"reasoning": {llmtest.Reply{Text: "a", Reasoning: "because 理由"}, llm.Reply{Text: "a", Reasoning: "because 理由", FinishReason: "stop"}},
		"length":    {llmtest.Reply{Text: "half of", Finish: "length"}, llm.Reply{Text: "half of", FinishReason: "length"}},
		"only length": {llmtest.Reply{Reasoning: "so far", Finish: "length"},
			llm.Reply{Reasoning: "so far", FinishReason: "length"}},
		"calls": {
			llmtest.Reply{Text: "reading", Calls: []llm.ToolCall{llmtest.Call("fs__read", `{"path":"a"}`), llmtest.Call("fs__list", "{}")}},
			llm.Reply{Text: "reading", FinishReason: "tool_calls", Calls: []llm.ToolCall{
				{ID: "call_0_0", Name: "fs__read", Arguments: `{"path":"a"}`}, {ID: "call_0_1", Name: "fs__list", Arguments: "{}"}}},
		},
		"arguments are not judged": {llmtest.ToolCall("fs__read", `{"path": tru`),
			llm.Reply{FinishReason: "tool_calls", Calls: []llm.ToolCall{{ID: "call_0_0", Name: "fs__read", Arguments: `{"path": tru`}}}},
		"ids are not judged": {
			llmtest.ToolCalls(llm.ToolCall{ID: "x", Name: "a", Arguments: "{}"}, llm.ToolCall{ID: "x", Name: "b", Arguments: "{}"}),
			llm.Reply{FinishReason: "tool_calls", Calls: []llm.ToolCall{{ID: "x", Name: "a", Arguments: "{}"}, {ID: "x", Name: "b", Arguments: "{}"}}}},
		"arguments of 10 MB": {llmtest.ToolCall("fs__write", big),
			llm.Reply{FinishReason: "tool_calls", Calls: []llm.ToolCall{{ID: "call_0_0", Name: "fs__write", Arguments: big}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "arguments are not judged" && subject.ObjectArguments {
				return
			}
			got, err := ask(t, subject, c.reply, Question())
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Raw) == 0 || got.Model != "m" || got.API != subject.API {
				t.Errorf("raw of %d bytes, model %q, API %q", len(got.Raw), got.Model, got.API)
			}
			got.Raw, got.Model, got.API, got.Usage, got.Opaque = nil, "", "", llm.Usage{}, nil // what goes back is tried with the strict servers
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("1000 calls", func(t *testing.T) {
		got, err := ask(t, subject, llmtest.ToolCalls(make([]llm.ToolCall, 1000)...), Question())
		if err != nil || len(got.Calls) != 1000 {
			t.Errorf("%d calls, %v", len(got.Calls), err)
		}
	})
}

func usage(t *testing.T, subject Subject) {
	for name, c := range map[string]struct {
		reply llmtest.Reply
		want  llm.Usage
	}{
		"told":     {llmtest.Reply{Usage: &llm.Usage{Prompt: 100, Completion: 20, Cached: 64, Reasoning: 8}}, llm.Usage{Prompt: 100, Completion: 20, Cached: 64, Reasoning: 8, Known: true}},
		"missing":  {llmtest.Reply{NoUsage: true}, llm.Usage{}},
		"zero":     {llmtest.Reply{Usage: &llm.Usage{}}, llm.Usage{}},
		"negative": {llmtest.Reply{Usage: &llm.Usage{Prompt: 5, Completion: -1}}, llm.Usage{}},
		"absurd":   {llmtest.Reply{Usage: &llm.Usage{Prompt: 5, Completion: 1 << 50}}, llm.Usage{}},
	} {
		c.reply.Text = "ok"
		if subject.NoReasoningTokens {
			c.want.Reasoning = 0
		}
		got, err := ask(t, subject, c.reply, Question())
		if err != nil || got.Usage != c.want {
			t.Errorf("%s: %+v, %v", name, got.Usage, err)
		}
		c.reply.Text = "" // it is paid for all the same
		var failed *llm.Error
		if _, err := ask(t, subject, c.reply, Question()); !errors.As(err, &failed) || failed.Kind != llm.Empty || failed.Usage != c.want {
			t.Errorf("%s, of an empty answer: %+v", name, failed)
		}
	}
}

func requests(t *testing.T, subject Subject) {
	s := llmtest.New(llmtest.Always(llmtest.Text("ok")), subject.Mode)
	defer s.Close()
	r := Question()
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "fs__read", Arguments: "{}"}, {ID: "b", Name: "fs__read", Arguments: "{"}}},
		llm.Message{Role: llm.ToolRole, CallID: "a", Name: "fs__read"}, // servers refuse an empty result
		llm.Message{Role: llm.ToolRole, CallID: "b", Name: "fs__read", Content: "no such file"},
		llm.Message{Role: llm.Assistant},
		llm.Message{Role: llm.User})
	p := subject.Open(t, s.URL())
	for range 2 {
		if _, err := p.Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	got := s.Requests()
	if d := cmp.Diff(string(got[0].Raw), string(got[1].Raw)); d != "" {
		t.Errorf("the same request is sent differently: %s", d)
	}
	m := got[0].Messages
	if got[0].System() != "be brief" || m[1].Content != "質問 <b>&</b>" || m[4].Content != "no such file" || len(m) != 7 {
		t.Errorf("messages arrived as %+v", m)
	}
	if !cmp.Equal(got[0].Tools, []string{"fs__read"}) || got[0].Model != "m" {
		t.Errorf("tools %v, model %q", got[0].Tools, got[0].Model)
	}
}

// structured is a question whose answer must fit a schema.
func structured() llm.Request {
	r := Question()
	r.JSON, r.Schema = true, []byte(`{"type":"object","properties":{"b":{"type":"string"},"a":{}}}`)
	return r
}

func schema(t *testing.T, subject Subject) {
	s := llmtest.New(llmtest.Always(llmtest.Text("{}")), subject.Mode)
	defer s.Close()
	if _, err := subject.Open(t, s.URL()).Complete(t.Context(), structured()); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()
	if len(got) != 1 || string(got[0].Schema) != string(structured().Schema) || got[0].JSON {
		t.Errorf("%d requests, the first with schema %s, JSON %v", len(got), got[0].Schema, got[0].JSON)
	}
}

// schemaRefused: the first call is sent again without, later ones have none at once.
func schemaRefused(t *testing.T, subject Subject) {
	s := llmtest.New(llmtest.RefuseSchema(llmtest.Always(llmtest.Text("{}"))), subject.Mode)
	defer s.Close()
	p := subject.Open(t, s.URL())
	for range 2 {
		if got, err := p.Complete(t.Context(), structured()); err != nil || got.Text != "{}" {
			t.Fatal(got, err)
		}
	}
	var had []bool
	for _, r := range s.Requests() {
		had = append(had, len(r.Schema) > 0)
		if wanted := len(r.Schema) == 0 && subject.Mode != llmtest.LMStudio; r.JSON != wanted {
			t.Errorf("JSON %v of a request with schema %s", r.JSON, r.Schema)
		}
	}
	if !cmp.Equal(had, []bool{true, false, false}) {
		t.Errorf("requests with a schema: %v", had)
	}
	other := llmtest.New(llmtest.Always(llmtest.Error(400, "", "no information on that")), subject.Mode)
	defer other.Close()
	if _, err := subject.Open(t, other.URL()).Complete(t.Context(), structured()); err == nil || len(other.Requests()) != 1 {
		t.Errorf("a refusal of something else: %v after %d requests", err, len(other.Requests()))
	}
}

func failures(t *testing.T, subject Subject) {
	for name, c := range map[string]struct {
		reply llmtest.Reply
		want  llm.Kind
	}{
		"empty":            {llmtest.Text(""), llm.Empty},
		"blank":            {llmtest.Text(" \n"), llm.Empty},
		"reasoning only":   {llmtest.Reply{Reasoning: "hm"}, llm.Empty},
		"400":              {llmtest.Error(400, "", "bad parameter"), llm.Invalid},
		"401":              {llmtest.Error(401, "invalid_api_key", "wrong key"), llm.Auth},
		"403":              {llmtest.Error(403, "", "not you"), llm.Auth},
		"404":              {llmtest.Error(404, "model_not_found", "The model does not exist"), llm.NotFound},
		"429":              {llmtest.RateLimit(0), llm.RateLimited},
		"500":              {llmtest.ServerError(500), llm.Transient},
		"503":              {llmtest.ServerError(503), llm.Transient},
		"529":              {llmtest.ServerError(529), llm.Transient},
		"too long":         {llmtest.ContextOverflow(), llm.ContextOverflow},
		"no tools":         {llmtest.ToolsRefused(), llm.ToolsRefused},
		"page":             {llmtest.HTML(), llm.Transient},
		"page with 502":    {llmtest.Reply{Status: 502, Body: llmtest.HTML().Body}, llm.Transient},
		"dropped":          {llmtest.Drop(), llm.Transient},
		"long and garbled": {llmtest.Error(500, "", strings.Repeat("line\n\x1b[31mред\u202e", 1000)), llm.Transient},
		"too large":        {llmtest.Reply{Body: strings.Repeat("0123456789abcdef", 33<<20/16)}, llm.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			if e := failure(t, subject, c.reply); e.Kind != c.want {
				t.Errorf("got %v, want kind %s", e, c.want)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		s := llmtest.New(llmtest.Sequence(), subject.Mode)
		s.Close()
		_, err := subject.Open(t, s.URL()).Complete(t.Context(), Question())
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.Transient || e.Status != 0 {
			t.Errorf("got %v", err)
		}
	})
}

func retryAfter(t *testing.T, subject Subject) {
	if e := failure(t, subject, llmtest.RateLimit(24*time.Hour)); e.Kind != llm.RateLimited || e.RetryAfter != 24*time.Hour || e.Status != 429 {
		t.Errorf("got %+v", e)
	}
	busy := llmtest.ServerError(503)
	busy.Header["Date"] = "Fri, 27 Nov 2026 10:00:00 GMT"
	busy.Header["Retry-After"] = "Fri, 27 Nov 2026 10:00:30 GMT"
	if e := failure(t, subject, busy); e.Kind != llm.RateLimited || e.RetryAfter != 30*time.Second {
		t.Errorf("got %+v", e)
	}
}

// cuts drops or ends every answer at every place: none may pass for a whole one.
func cuts(t *testing.T, subject Subject) {
	full := llmtest.Reply{Text: "part one, part two, part three, part four, part five, part six", Calls: []llm.ToolCall{llmtest.Call("fs__write", `{"path":"important file","text":"日本語"}`)}}
	want, err := ask(t, subject, full, Question())
	if err != nil {
		t.Fatal(err)
	}
	whole, failed, partial := 0, 0, ""
	for n := 1; n < 40; n++ {
		for _, clean := range []bool{false, true} {
			r := llmtest.Cut(full, n)
			r.Clean = clean
			got, err := ask(t, subject, r, Question())
			var e *llm.Error
			switch {
			case err == nil:
				whole++
				if d := cmp.Diff(want.Calls, got.Calls); d != "" || got.Text != want.Text {
					t.Fatalf("cut after %d: an incomplete reply passes for a whole one: %s", n, d)
				}
			case errors.As(err, &e) && e.Kind == llm.Transient && strings.HasPrefix(full.Text, e.Partial):
				failed++
				partial = max(partial, e.Partial)
			default:
				t.Fatalf("cut after %d: %v", n, err)
			}
		}
	}
	if failed < 8 {
		t.Errorf("only %d cuts seen, %d whole", failed, whole)
	}
	if whole > 0 && partial != full.Text { // a provider that does not stream has no parts
		t.Errorf("longest partial text %q", partial)
	}
}

func cancel(t *testing.T, subject Subject) {
	for name, reply := range map[string]llmtest.Reply{
		"before the answer": llmtest.Hang(),
		"inside the answer": {Text: strings.Repeat("word ", 100), Cut: 3, Hang: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(llmtest.Always(reply), subject.Mode)
			defer s.Close()
			p := subject.Open(t, s.URL())
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := p.Complete(ctx, Question())
				done <- err
			}()
			if err := s.Await(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			stop()
			if err := <-done; err != context.Canceled {
				t.Errorf("got %v", err)
			}
			late, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer end()
			if _, err := p.Complete(late, Question()); err != context.DeadlineExceeded {
				t.Errorf("got %v", err)
			}
		})
	}
}

// cutPrompt answers as a server does that has read the end of the prompt only.
func cutPrompt(t *testing.T, subject Subject) {
	r := Question()
	r.ContextLength = 32768
	r.Messages[1].Content = strings.Repeat("many words of a long task ", 1000)
	for counted, want := range map[int]llm.Kind{6100: "", 4096: llm.Truncated, 1500: llm.Truncated} {
		_, err := ask(t, subject, llmtest.Reply{Text: "ok", Usage: &llm.Usage{Prompt: counted, Completion: 1}}, r)
		var e *llm.Error
		errors.As(err, &e)
		switch {
		case want == "" && err != nil:
			t.Errorf("%d tokens counted: %v", counted, err)
		case want != "" && (e == nil || e.Kind != want || !strings.Contains(e.Message, "32768") || !strings.Contains(e.Message, "context_length")):
			t.Errorf("%d tokens counted: %v", counted, err)
		}
	}
}

func redirect(t *testing.T, subject Subject) {
	other := llmtest.New(llmtest.Always(llmtest.Text("stolen")), subject.Mode)
	defer other.Close()
	e := failure(t, subject, llmtest.Redirect(other.URL()+"/chat/completions"))
	if e.Kind != llm.Invalid || len(other.Requests()) != 0 {
		t.Errorf("%v; %d requests reached the other host", e, len(other.Requests()))
	}
}
