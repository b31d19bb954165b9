package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agent/forge/forgetest"
	"agent/llm/llmtest"
)

// TestLoopLooksOn: while one task takes minutes, a free worker begins a new issue, goes on
// after an answer, and obeys a resume. A round once lasted as long as its longest task.
func TestLoopLooksOn(t *testing.T) {
	t.Parallel()
	longHold, sunHold := make(chan struct{}), make(chan struct{})
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		reply := greets(n, r)
		switch text := r.Messages[1].Content; {
		case strings.Contains(text, "The long one"):
			reply.Until = longHold
		case strings.Contains(text, "Greet the sun"):
			reply.Until = sunHold
		}
		return reply
	})
	w.extra = followUp
	w.forge.RemoveLabels(testRepo, 1, botLabel)
	long := w.issue("The long one")
	loop := w.start("loop", "--interval", "1")
	w.awaitCalls(1)
	moon := w.issue("Greet the moon")
	has := func(n int, label string) func() bool {
		return func() bool { return slices.Contains(w.forge.Labels(testRepo, n), label) }
	}
	w.until("a new issue is worked on meanwhile, and waits for an answer", has(moon, awaitingLabel))
	w.forge.AddComment(testRepo, moon, "alice", "Said-answer: one more line, please.")
	w.until("an answer is read", func() bool {
		return slices.ContainsFunc(w.model.Requests(), func(r llmtest.Request) bool { return strings.Contains(fmt.Sprint(r.Messages), "Said-answer") })
	})
	sun := w.issue("Greet the sun")
	w.until("another one is begun", has(sun, processingLabel))
	url := (&onGitHub{w: w, number: sun}).url()
	w.agent(0, "pause", url)
	close(sunHold)
	w.until("it is paused", has(sun, pausedLabel))
	w.agent(0, "resume", url)
	w.until("a resume is obeyed", has(sun, awaitingLabel))
	if has(long, awaitingLabel)() {
		t.Fatal("the long task has ended")
	}
	close(longHold)
	w.until("the long one is done, too", has(long, awaitingLabel))
	loop.signal(syscall.SIGTERM)
	if code := loop.wait(); code != 0 {
		t.Errorf("the loop ends with %d\n%s", code, &loop.err)
	}
	if all := w.list(0); len(all) != 3 {
		t.Errorf("%d contexts of three issues", len(all))
	}
}

// TestWorkersOfAllProcesses: processes that cron starts over each other work on as many
// tasks as one may.
func TestWorkersOfAllProcesses(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	script := greet()
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		reply := script(n, r)
		reply.Until = hold
		return reply
	})
	w.extra = "workers: 1"
	w.issue("Another one")
	first := w.start("run")
	w.awaitCalls(1)
	if out, _ := w.agent(0, "run", "--verbose"); !strings.Contains(out, "all 1 workers") {
		t.Errorf("the second run says %q", out)
	}
	if n := len(w.model.Requests()); n != 1 {
		t.Errorf("%d calls at the same time", n)
	}
	close(hold)
	if code := first.wait(); code != 0 {
		t.Errorf("the first run ends with %d", code)
	}
}

// TestRepositoryTakenOut: a context whose repository is no longer configured is left as it
// is, and why says so. A forge that is down says nothing of it: the repository may have another
// name now. The work goes on once the repository is back.
func TestRepositoryTakenOut(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	script := greet()
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		reply := script(n, r)
		reply.Until = hold
		return reply
	})
	p := w.start("run")
	w.awaitCalls(1)
	p.kill()
	close(hold)
	calls := len(w.model.Requests())
	config := w.site
	w.site = strings.ReplaceAll((&onGitHub{w: w}).config(), testRepo, "acme/others")
	w.forge.AddRepository("acme/others", forgetest.Repository{Private: true, Git: w.path("origin.git")})
	w.forge.Fault(forgetest.Fault{Path: ".*/" + testRepo + "/issues/1", Times: -1, Kind: forgetest.Answer, Status: 503})
	w.agent(75, "run")
	if out, _ := w.agent(0, "why", w.only().UUID); strings.Contains(out, "no longer among") {
		t.Errorf("the forge did not say where the repository is, and why says %q", out)
	}
	w.forge.ClearFaults()
	w.agent(0, "run")
	if out, _ := w.agent(0, "why", w.only().UUID); !strings.Contains(out, testRepo+" is no longer among the configured repositories") {
		t.Errorf("why says %q", out)
	}
	if len(w.model.Requests()) != calls {
		t.Error("it was worked on")
	}
	w.site = config
	w.agent(0, "run")
	w.wantLabels(1, doneLabel)
}
