package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

// While init asks, the real servers are asked whether the answers can be right. What they
// do not know is asked for again, and taken if the person insists.
func TestInitChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.env = []string{"FORGE_TOKEN=" + testToken, "WRONG_TOKEN=ghp_" + strings.Repeat("x", 36), "OPENAI_API_KEY=" + testKey}
	file := w.path("asked", "config.yaml")
	p := w.startOnTerminal(100, "init", "--output", file, "--lang", "en", "--forge-url", w.forge.URL(), "--provider", "openai", "--base-url", w.model.URL(), "--sandbox", "off")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(p.shown.String())
		}
	})
	for _, step := range []struct{ sees, types string }{
		{"holds the GitHub token [GITHUB_PERSONAL_ACCESS_TOKEN]: ", "WRONG_TOKEN"},
		{"Enter keeps the answer.", "FORGE_TOKEN"},
		{"✓ The token belongs to " + testBot, "acme/nothing"},
		{"The token cannot see acme/nothing", testRepo},
		{"✓ The token can see them.", ""}, // the login is known by now
		{"Model [", "no-such-model"},
		{"The server has no model no-such-model; it has: scripted", ""}, // kept: it may come
		{"Tokens that a task may use (0: no limit) [2000000]: ", "many"},
		{"--max-tokens must be a whole number.", "500000"},
	} {
		w.until(step.sees, func() bool { return strings.Contains(p.shown.String(), step.sees) })
		_, err := io.WriteString(p.terminal, step.types+"\n")
		must(t, err)
	}
	code, shown := p.end()
	raw, err := os.ReadFile(file)
	must(t, err)
	for _, want := range []string{`"${FORGE_TOKEN}"`, "- \"" + testRepo + "\"", "bot_name: \"" + testBot + "\"", `model: "no-such-model"`, "max_tokens: 500000,", "env_file: env"} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%q is missing in\n%s", want, raw)
		}
	}
	env, err := os.ReadFile(w.path("asked", "env"))
	must(t, err)
	if code != 0 || !strings.Contains(string(env), "\nFORGE_TOKEN=\nOPENAI_API_KEY=\n") || strings.Contains(shown+string(raw)+string(env), testToken) || strings.Contains(shown, "xxxxxxxx") {
		t.Errorf("exit %d\n%s\n%s", code, shown, env)
	}
}
