package main

import (
	"strings"
	"testing"

	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// shapedToken has the shape of a token and is nowhere configured.
const shapedToken = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"

// TestSecretIsHeld: a change with a secret in a new line, a name or an encoding
// waits for a person. A line that was there before does not count.
func TestSecretIsHeld(t *testing.T) {
	t.Parallel()
	for name, reply := range exhaustive.SampleMap(map[string]llmtest.Reply{
		"configured": write("hello.txt", "key = "+testKey+"\n"),
		"shape":      command("sh", "-c", "printf 'a\\0%s' "+shapedToken+" > hello.bin"),
		"name":       write("hello-"+testKey+".txt", "hello\n"),
		"encoded":    command("sh", "-c", "printf %s "+testKey+" | base64 > hello.txt"),
	}, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, kinds[0], llmtest.Turns(reply, llmtest.Done("Here it is."), llmtest.Done("It belongs.")))
			c.extra = "change_requests: {binary: allow}"
			c.agent(0, "run")
			c.wantState("paused", pausedLabel)
			if body := c.wantSaid(1, "⏸️ **Paused**"); !strings.Contains(body, "seems to contain a secret") {
				t.Error(body)
			}
			c.noSecrets(shapedToken)
			if refs := c.git("for-each-ref", "refs/heads/agent"); refs != "" {
				t.Errorf("it was pushed: %s", refs)
			}
			c.agent(0, "resume", "--all")
			c.agent(0, "run")
			c.wantExact(c.wantState("completed", doneLabel).UUID)
			if len(c.opened()) != 1 {
				t.Errorf("requests: %+v", c.opened())
			}
		})
	}
	t.Run("known", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, kinds[0], llmtest.Turns(command("sh", "-c", "echo more >> hello.txt"), llmtest.Done("Here it is.")))
		c.pushes("main", "hello.txt", "token = "+shapedToken)
		c.agent(0, "run")
		c.wantState("completed", doneLabel)
	})
}

// TestCommitsInBetween: what a commit of the model's own holds, and the last one
// does not, is not published. Other versions of the same files are.
func TestCommitsInBetween(t *testing.T) {
	t.Parallel()
	for name, in := range exhaustive.SampleMap(map[string]struct {
		script string
		apart  bool
	}{
		"other versions":         {"true", true},
		"secret":                 {"echo " + testKey + " >> hello.txt", false},
		"file that is gone":      {"echo x > gone.txt", false},
		"binary that is changed": {"printf 'a\\0b' > hello.txt", false},
	}, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			commit := llmtest.ToolCall("workspace__git_commit", map[string]any{"message": "First try, closes #9"})
			c := newTalk(t, kinds[2], llmtest.Turns(write("hello.txt", "hallo\n"), command("sh", "-c", in.script), commit,
				command("rm", "-f", "gone.txt"), write("hello.txt", "hello\n"), llmtest.Done("Done.")))
			c.agent(0, "run")
			c.wantExact(c.wantState("completed", doneLabel).UUID)
			c.wantPublished()
			log := c.git("log", "-p", "--format=%s", "main.."+c.workBranch())
			if apart := strings.Contains(log, "First try"); apart != in.apart || strings.Contains(log, testKey) || strings.Contains(log, "gone.txt") ||
				strings.Contains(log, "closes #9") {
				t.Errorf("published:\n%s", log)
			}
		})
	}
}
