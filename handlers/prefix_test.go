package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/llm"
	"agent/llm/anthropic"
	"agent/llm/lmstudio"
	"agent/llm/ollama"
	"agent/llm/openai"
)

// asked is a request of a run.
type asked struct {
	llm.Request
	anew bool // the beginning of the conversation is another than before
}

// asks notes a request of the conversation, as it was when it was sent.
func (w *world) asks(r llm.Request, in *event.LLMRequested) {
	if in.OutsideConversation() {
		return
	}
	r.Messages = slices.Clone(r.Messages)
	now := asked{r, w.compacted}
	if n := len(w.sent); n > 0 { // another shape or protocol gives other bytes
		before := w.sent[n-1]
		now.anew = now.anew || !slices.Equal(before.Shape, r.Shape) || before.Messages[0].Content != r.Messages[0].Content
	}
	w.sent, w.compacted = append(w.sent, now), false
}

// dialect is one way to write requests: an adapter with a profile.
type dialect struct {
	name      string
	profile   llm.Profile
	provider  llm.Provider
	wire      *wire
	reasoning string // what a turn keeps for this adapter, with its first call in the place of ID
}

const chatReasoning = `{"reasoning_content":"thought of ID","reasoning_details":[{"text":"of ID"}],"calls":{"ID":{"google":{"thought_signature":"ID"}}}}`

// dialects are all profiles with each API that they are sent over, and the adapters
// that have one shape.
func dialects(t *testing.T) (all []dialect) {
	t.Helper()
	const key = "key-of-the-model"
	add := func(name, profile, reasoning string, open func(*wire) (llm.Provider, error)) {
		w := &wire{}
		p, err := open(w)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, dialect{name, llm.ProfileNamed(profile), p, w, reasoning})
	}
	for _, p := range llm.Profiles {
		add(p.Name+", chat", p.Name, chatReasoning, func(w *wire) (llm.Provider, error) {
			return openai.New(openai.Config{BaseURL: "http://localhost/v1", APIKey: key, Model: "m", Profile: p.Name, NoResponses: true, Transport: w})
		})
		add(p.Name+", responses", p.Name, `[{"reasoning":{"type":"reasoning","id":"ID"}},{"message":true},{"call":"ID"}]`, func(w *wire) (llm.Provider, error) {
			return openai.New(openai.Config{BaseURL: "http://localhost/v1", APIKey: key, Model: "m", Profile: p.Name, API: llm.APIResponses, Transport: w})
		})
	}
	add("anthropic", "anthropic", `[{"thinking":{"type":"thinking","thinking":"of ID","signature":"ID"}},{"text":true},{"call":"ID"}]`, func(w *wire) (llm.Provider, error) {
		return anthropic.New(anthropic.Config{BaseURL: "http://localhost", APIKey: key, Model: "m", Transport: w})
	})
	add("ollama", "plain", `{"thinking":"of ID"}`, func(w *wire) (llm.Provider, error) {
		return ollama.New(ollama.Config{BaseURL: "http://localhost", Model: "m", Transport: w})
	})
	add("lmstudio", "lmstudio", chatReasoning, func(w *wire) (llm.Provider, error) {
		return lmstudio.New(lmstudio.Config{BaseURL: "http://localhost/v1", Model: "m", Transport: w})
	})
	return all
}

// wire keeps the body of a request, and refuses it, so that nothing more is done.
type wire struct{ body []byte }

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	w.body = body
	return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, err
}

// bytesOf are the parts of a request that make its prompt: the tools, and the turns
// without the brackets that end them.
func (d dialect) bytesOf(t *testing.T, r llm.Request) (tools, turns []byte) {
	t.Helper()
	r.Profile, r.Messages = "", slices.Clone(r.Messages)
	for i, m := range r.Messages {
		if m.Role != llm.Assistant {
			continue
		}
		id := "none"
		if len(m.Calls) > 0 {
			id = m.Calls[0].ID
		}
		r.Messages[i].Reasoning = &llm.Opaque{From: "localhost m", Data: json.RawMessage(strings.ReplaceAll(d.reasoning, "ID", id))}
	}
	_, _ = d.provider.Complete(t.Context(), r) // it is refused
	var body struct{ Tools, System, Messages, Input json.RawMessage }
	if err := json.Unmarshal(bytes.ReplaceAll(d.wire.body, []byte(`,"cache_control":{"type":"ephemeral"}`), nil), &body); err != nil {
		t.Fatal(err)
	}
	return body.Tools, bytes.TrimRight(slices.Concat(body.System, body.Messages, body.Input), `]}"`)
}

// wantPrefixes sends the requests of a run in every shape: each begins with the bytes
// of the one before, so that servers read the beginning from their cache.
func wantPrefixes(t *testing.T, w *world) {
	t.Helper()
	if len(w.sent) == 0 {
		t.Error("the model was asked for nothing")
	}
	for _, d := range dialects(t) {
		var tools, turns []byte
		for i, r := range w.sent {
			nowTools, nowTurns := d.bytesOf(t, r.Request)
			switch {
			case i == 0 || r.anew:
			case !bytes.HasPrefix(nowTurns, turns):
				t.Errorf("%s: request %d does not begin as the one before: %s", d.name, i, parting(turns, nowTurns))
			case d.profile.KeepTools && !bytes.Equal(nowTools, tools):
				t.Errorf("%s: request %d has other tools than the one before", d.name, i)
			}
			tools, turns = nowTools, nowTurns
		}
	}
}

// parting is where two texts differ.
func parting(a, b []byte) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	show := func(s []byte) []byte { return s[max(n-60, 0):min(n+60, len(s))] }
	return fmt.Sprintf("…%s… and …%s…", show(a), show(b))
}
