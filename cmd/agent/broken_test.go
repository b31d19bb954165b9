package main

import (
	"os"
	"testing"

	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// TestRepositoryBrokenByATool: a command that damages the repository of the clone costs
// nothing of the work. It once ended with "done" and without a change.
func TestRepositoryBrokenByATool(t *testing.T) {
	t.Parallel()
	for _, line := range exhaustive.Sample([]string{"rm -rf .git", "mv .git ../.git-away", "rm -rf .git/objects", "rm .git/HEAD", "echo > .git/config",
		"git checkout -q --orphan x && git rm -rfq --cached .", "rm .git/index", "git -c user.name=x -c user.email=x@x commit -q --allow-empty -m own"}, 3) {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, llmtest.Turns(write("hello.txt", "hello\n"), command("sh", "-c", line+"; true"), write("two.txt", "two\n"),
				llmtest.Done("I wrote two files."), llmtest.Done("Both are part of the work.")))
			w.agent(0, "run")
			l := w.only()
			if measured := find[*event.ChangeMeasured](w.events(l.UUID)); len(measured) == 0 || measured[0].Count != 2 || measured[0].Error != "" {
				t.Fatalf("measured: %+v", measured)
			}
			if l.State != "completed" || w.pushedTree() == "" {
				t.Errorf("state %s, pushed %q", l.State, w.pushedTree())
			}
			w.wantExact(l.UUID)
		})
	}
	t.Run("the whole working copy", func(t *testing.T) {
		t.Parallel()
		var c *talk
		c = newTalk(t, kinds[0], then(greet(), 1, func() { must(t, os.RemoveAll(c.path("workspaces"))) }))
		c.agent(0, "run")
		c.wantState("completed", doneLabel)
		c.wantPublished()
	})
}
