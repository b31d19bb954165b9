package engine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/llm"
	"agent/llm/llmtest"
)

// switched are dialects that differ in what goes back, and in ids.
var switched = []string{"OpenAI, responses", "Anthropic", "Gemini 3", "DeepSeek, thinking", "Mistral", "Ollama, native"}

// become puts another model server in the place of the present one, as a person does
// who edits the configuration while the task is paused.
func (w *world) become(d llmtest.Dialect) {
	w.model.Close()
	w.model = llmtest.NewStrict(func(n int, r llmtest.Request) llmtest.Reply { return w.playShaped(n, r) }, d)
	w.dialect, w.profile = d, d.Profile
	w.config.Model, w.config.Profile = d.Model, d.Profile
}

// A task that was paused with one model server goes on with another: what cannot move
// is left out or mapped.
func TestSwitchedAtAPause(t *testing.T) {
	var pairs [][2]string
	for _, from := range switched {
		for _, to := range switched {
			pairs = append(pairs, [2]string{from, to})
		}
	}
	for _, pair := range exhaustive.Sample(pairs, 5) {
		t.Run(pair[0]+" to "+pair[1], func(t *testing.T) { trySwitch(t, pair[0], pair[1]) })
	}
}

func trySwitch(t *testing.T, from, to string) {
	d := llmtest.DialectNamed(from)
	w := strict(t, d, d.Profile)
	defer w.close()
	change := talks[0]
	change.people = []func(*world) error{func(w *world) error {
		w.become(llmtest.DialectNamed(to))
		return talks[0].people[0](w)
	}}
	_, err := w.converse(change, point{})
	log, problem := w.ended()
	if err = errors.Join(err, problem); err != nil {
		t.Error(err, w.model.Refused())
	}
	if n := len(w.model.Requests()); n < 4 {
		t.Errorf("the second server was asked %d times", n)
	}
	for _, ev := range log {
		if _, adapted := ev.Body.(*event.LLMAdapted); adapted {
			t.Errorf("seq %d: by the ladder", ev.Seq)
		}
	}
}

// A model server that is out of service is replaced by the next one that is
// configured, in the middle of a task. The next process begins with the first again.
func TestFallback(t *testing.T) {
	w := strict(t, llmtest.DialectNamed("DeepSeek, thinking"), "deepseek")
	defer w.close()
	w.once.Store(true)
	down := llmtest.New(func(n int, _ llmtest.Request) llmtest.Reply {
		if n == 0 {
			return llmtest.ToolCall("files__read", toolArgs{Path: "notes.txt"})
		}
		return llmtest.ServerError(503)
	})
	defer down.Close()
	w.down = down
	line, err := json.Marshal(event.Fallback{Provider: "other", Model: w.config.Model, ContextLength: 50_000, Profile: "deepseek"})
	if err != nil {
		t.Fatal(err)
	}
	w.config.Fallback, w.config.Model, w.config.Profile = string(line), "first", "openai"
	if err := w.converse1(talk{}); err != nil {
		t.Fatal(err)
	}
	log, err := w.ended()
	if err != nil {
		t.Error(err)
	}
	var switches, failures int
	for _, ev := range log {
		switch b := ev.Body.(type) {
		case *event.LLMSwitched:
			switches++
			if b.Provider != "other" || b.Reason != string(llm.Transient) {
				t.Errorf("%+v", b)
			}
		case *event.LLMFailed:
			failures++
		}
	}
	if switches != 1 || failures != 4 || len(w.model.Requests()) < 4 {
		t.Errorf("%d switches after %d failures, %d requests to the other", switches, failures, len(w.model.Requests()))
	}
}

// router asks the server that is down first.
func (l *life) router(p llm.Provider) (llm.Provider, error) {
	first, err := providerFor(llmtest.Dialect{}, l.down.URL(), "openai", http.RoundTripper(l))
	return &llm.Router{First: first, Others: map[string]llm.Provider{"other": p}}, err
}

// checkPrefix wants each request of the conversation to begin as the one before it,
// so that caches of prompts hold: the tools, then the turns. It looks at the bytes.
func (w *world) checkPrefix() (problems error) {
	var before *prompt
	profile, system := llm.ProfileFor("", w.dialect.Model), ""
	if w.profile != "" {
		profile = llm.ProfileNamed(w.profile)
	}
	for i, r := range w.model.Requests() {
		now := promptOf(r.Raw)
		if strings.Contains(r.System(), "You write the final summary") || strings.Contains(r.System(), "You shorten the older part") {
			before = nil
			continue
		}
		if r.System() != system && len(w.model.Refused()) > 0 {
			before = nil // tools were refused: another protocol from here on
		}
		system = r.System()
		switch {
		case before == nil: // the first, or after a compaction
		case !bytes.HasPrefix(now.messages, before.messages):
			problems = errors.Join(problems, fmt.Errorf("request %d does not begin as the one before: …%s, …%s", i, parting(before.messages, now.messages), parting(now.messages, before.messages)))
		case profile.KeepTools && w.dialect.Mode != llmtest.Ollama && !bytes.Equal(now.tools, before.tools):
			problems = errors.Join(problems, fmt.Errorf("request %d has other tools than the one before", i))
		}
		before = &now
	}
	return problems
}

// prompt is what of a request makes the prompt.
type prompt struct {
	tools, messages []byte // without the ends, which another turn replaces
}

// parting is where a goes another way than b.
func parting(a, b []byte) []byte {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[max(n-60, 0):min(n+60, len(a))]
}

func promptOf(raw []byte) prompt {
	raw = bytes.ReplaceAll(raw, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
	var body struct {
		Tools, System, Messages, Input json.RawMessage
	}
	_ = json.Unmarshal(raw, &body) // it was accepted
	all := body.Messages
	if all == nil {
		all = body.Input
	}
	return prompt{body.Tools, bytes.TrimRight(append(bytes.Clone(body.System), all...), `]}"`)}
}
