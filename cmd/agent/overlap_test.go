package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// TestOverlap lets a loop, two runs and commands that pause and resume meet over
// four issues: each is done once, whoever did it.
func TestOverlap(t *testing.T) {
	t.Parallel()
	slow := greet()
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		reply := slow(n, r)
		reply.Delay = 30 * time.Millisecond
		return reply
	})
	for i := range 3 {
		w.issue(fmt.Sprintf("Greet planet %d", i))
	}
	loop := w.start("loop", "--interval", "1")
	runs := []*process{w.start("run"), w.start("run")}
	w.awaitCalls(2)
	w.agent(0, "pause", "--all")
	for _, p := range runs {
		if code := p.wait(); code != 0 {
			t.Errorf("a run ends with %d\n%s%s", code, &p.out, &p.err)
		}
	}
	w.until("all four are done", func() bool {
		w.agent(0, "resume", "--all")
		for n := 1; n <= 4; n++ {
			if !slices.Equal(w.forge.Labels(testRepo, n), []string{doneLabel}) { // the old label goes last
				return false
			}
		}
		return true
	})
	loop.signal(syscall.SIGTERM)
	if code := loop.wait(); code != 0 {
		t.Errorf("the loop ends with %d\n%s%s", code, &loop.out, &loop.err)
	}
	for n := 1; n <= 4; n++ {
		seen, done := map[string]bool{}, 0
		for _, c := range w.forge.Comments(testRepo, n) {
			if c.Author != testBot {
				continue
			}
			body, op := c.Body, opForm.FindString(c.Body)
			if strings.Contains(body, "✅ **Done**") {
				done++
			}
			if seen[op] {
				t.Errorf("#%d: twice: %s", n, body)
			}
			seen[op] = true
		}
		if done != 1 {
			t.Errorf("#%d is done %d times", n, done)
		}
		w.wantLabels(n, doneLabel)
	}
	if all := w.list(0); len(all) != 4 {
		t.Errorf("%d contexts for four issues", len(all))
	}
}

// TestTwoForges serves a GitHub and a GitLab from one configuration.
func TestTwoForges(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	w := newWorld(t, greet())
	g := forgetest.NewGitLab()
	t.Cleanup(g.Close)
	g.AddToken(testToken, testBot)
	g.AddProject("acme/sub.group/道具", forgetest.Project{Private: true, Git: w.path("origin.git")})
	issue := g.AddIssue("acme/sub.group/道具", "Greet the tools", "Please write hello.txt.", "alice", botLabel)
	w.extra = fmt.Sprintf("task_source: [github, gitlab]\ngitlab: {api_url: %s, personal_access_token: %s, projects: [acme/sub.group/道具], bot_name: %s}",
		g.URL(), testToken, testBot)
	w.agent(0, "run")
	w.wantLabels(1, doneLabel)
	if labels := issue.Labels(); !slices.Equal(labels, []string{doneLabel}) || g.MergeRequests("acme/sub.group/道具") != 1 {
		t.Errorf("on the other forge: %v", labels)
	}
	for _, l := range w.list(0) {
		w.wantExact(l.UUID)
	}
}

// TestLoopEndsServers: a loop keeps no tool server of a context that has ended.
func TestLoopEndsServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.issue("Greet again")
	loop := w.start("loop", "--interval", "1")
	w.until("both are done and their servers have ended", func() bool {
		for n := 1; n <= 2; n++ {
			if !slices.Contains(w.forge.Labels(testRepo, n), doneLabel) {
				return false
			}
		}
		return len(w.processes("")) <= 1 && len(w.list(0)) == 2 // the loop itself
	})
	loop.signal(syscall.SIGTERM)
	if code := loop.wait(); code != 0 {
		t.Errorf("the loop ends with %d", code)
	}
}
