package doctor

import (
	"strings"
	"testing"

	"agent/llm"
	"agent/llm/anthropic"
	"agent/llm/llmtest"
	"agent/llm/lmstudio"
	"agent/llm/ollama"
	"agent/llm/openai"
)

// obedient calls ping as often as it is told to.
func obedient(_ int, r llmtest.Request) llmtest.Reply {
	if len(r.Tools) > 0 && r.ToolResults() < 2 && strings.Contains(r.Last().Content, "ping") {
		return llmtest.ToolCall("ping", "{}")
	}
	return llmtest.Text(`{"next": "done"}`)
}

func providerFor(t *testing.T, d llmtest.Dialect, base, profile string) llm.Provider {
	t.Helper()
	const key = "key-of-the-model"
	var p llm.Provider
	var err error
	switch {
	case d.Mode == llmtest.Anthropic:
		p, err = anthropic.New(anthropic.Config{BaseURL: base, APIKey: key, Thinking: d.Thinks})
	case d.Mode == llmtest.Ollama:
		p, err = ollama.New(ollama.Config{BaseURL: base})
	case d.Mode == llmtest.LMStudio && profile != "openai":
		p, err = lmstudio.New(lmstudio.Config{BaseURL: base})
	case d.Azure:
		p, err = openai.New(openai.Config{BaseURL: base, APIKey: key, APIVersion: "2024-10-21", Auth: openai.AuthKey, Profile: profile})
	case d.Base != "":
		p, err = openai.New(openai.Config{BaseURL: base, APIKey: key, Auth: openai.AuthKey, Profile: profile})
	default:
		p, err = openai.New(openai.Config{BaseURL: base, APIKey: key, Profile: profile})
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// play reports whether the conversation shows that something is refused.
func play(t *testing.T, d llmtest.Dialect, profile string) (broken bool, refused []string, err error) {
	t.Helper()
	s := llmtest.NewStrict(obedient, d)
	defer s.Close()
	p := newDialogue(providerFor(t, d, s.URL(), profile), llm.Request{Model: d.Model, ContextLength: 20_000}, true)
	reply, err := p.first(t.Context())
	if err == nil {
		err = p.rest(t.Context(), reply)
	}
	return err != nil || len(p.shape) > 0, s.Refused(), err
}

// Each strict server passes in its own shape. With the profile switched off the
// conversation finds each server that would refuse a task, before one is touched.
func TestConversationFindsBrokenPairs(t *testing.T) {
	wants := map[string]bool{ // that are refused in the shape of OpenAI
		"DeepSeek, thinking": true, "DeepSeek R1": true, "Gemini 3": true, "Groq": true, "Mistral": true, "Mistral's template, vLLM": true,
		"Gemma's template, llama.cpp": true, "Gemma's template, LM Studio": true, "Bedrock, gateway": true, "xAI": true,
	}
	for _, d := range llmtest.Dialects {
		t.Run(d.Name, func(t *testing.T) {
			learns := d.Name == "DeepSeek R1" || d.Name == "Anthropic, adaptive and bound" // that there are no tools; that there is no budget
			if broken, refused, err := play(t, d, d.Profile); broken && !learns {
				t.Errorf("refused in its own shape: %v %v", refused, err)
			}
			for _, mute := range []bool{false, true} {
				d.Mute = mute
				broken, refused, _ := play(t, d, "openai")
				if broken != (wants[d.Name] || learns) {
					t.Errorf("mute %v: found %v, refused %q", mute, broken, refused)
				}
			}
		})
	}
}
