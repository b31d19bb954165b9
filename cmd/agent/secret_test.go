package main

import (
	"os"
	"strings"
	"testing"

	"agent/llm/llmtest"
)

// TestSecrets puts secrets into everything that comes from outside. None
// reaches the log, the forge or the terminal; the tool gets what the model sent.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const shaped = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
	content := "token = " + shaped + "\nkey = " + testKey + "\n"
	say := write("hello.txt", content)
	say.Text = "I write " + shaped + " and " + testKey + " into the file."
	w := newWorld(t, llmtest.Turns(say, command("cat", "hello.txt", "secret.txt"), llmtest.Text("The key is "+testKey+", the token "+shaped+".")))
	w.inPlace()
	must(t, os.WriteFile(w.path("work", "secret.txt"), []byte("also "+testToken+"\n"), 0o600))
	w.forge.EditIssue(testRepo, 1, "Use "+shaped, "My token is "+shaped+".")
	w.forge.AddComment(testRepo, 1, "bob", "Or take "+testKey+".")
	out, errOut := w.agent(0, "run")
	w.wantDone(1, w.only())
	w.noSecrets(shaped)
	for _, command := range [][]string{{"list"}, {"list", "--json"}, {"inspect", "--full", w.only().UUID}, {"replay", w.only().UUID}} {
		o, e := w.agent(0, command...)
		out += o + e
	}
	for _, secret := range []string{shaped, testKey, testToken, canary} {
		if strings.Contains(out+errOut, secret) {
			t.Errorf("the output holds %s", secret)
		}
	}
	got, err := os.ReadFile(w.path("work", "hello.txt"))
	if err != nil || string(got) != content {
		t.Errorf("the tool wrote %q (%v), want %q", got, err, content)
	}
	if r := w.model.Requests()[2]; !r.Contains("[redacted:") {
		t.Errorf("the model does not see that something was redacted:\n%s", r.Last().Content)
	}
}
