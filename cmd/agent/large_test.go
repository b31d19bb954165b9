package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// TestLargeRepository works in a repository of 15,000 files, and logs how long the change
// takes to be measured and published. docs/performance.md has the figures.
func TestLargeRepository(t *testing.T) {
	t.Parallel()
	exhaustive.Only(t)
	w := emptyWorld(t, llmtest.Turns(write("hello.txt", "hello\n"), command("sh", "-c", "echo x >> d1/f1.go"), llmtest.Done("I wrote hello.txt.")))
	for i := range 15000 {
		file := w.path("work", fmt.Sprintf("d%d/f%d.go", i%150, i))
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must(t, os.WriteFile(file, fmt.Appendf(nil, "package d%d\n\nfunc F%d() int { return %d }\n", i%150, i, i), 0o600))
	}
	gitIn(t, w.path("work"), "add", "-A")
	gitIn(t, w.path("work"), "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "Many")
	gitIn(t, w.path("work"), "push", "-q", w.path("origin.git"), "HEAD:main")
	w.forge.AddRepository(testRepo, forgetest.Repository{Private: true, Git: w.path("origin.git")})
	w.issue("Greet the world")
	w.agent(0, "run")
	var before time.Time
	for _, ev := range w.events(w.list(0)[0].UUID) {
		switch b := ev.Body.(type) {
		case *event.ChangeMeasured:
			t.Logf("measured in %v", ev.Time.Sub(before))
		case *event.ChangeOpened:
			t.Logf("published in %v", ev.Time.Sub(before))
			if len(b.Files) != 2 {
				t.Errorf("the change has the files %q", b.Files)
			}
		}
		before = ev.Time
	}
	if n := len(w.forge.PullRequests(testRepo)); n != 1 {
		t.Errorf("%d pull requests", n)
	}
}
