package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agent/forge/forgetest"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// TestBotsAmongThemselves lets two bots answer everything for 20 rounds, one of
// them from an account like a person's, with a marker like ours. The agent
// answers the author only, each comment once.
func TestBotsAmongThemselves(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	var script later
	c := newTalk(t, kinds[0], script.play)
	script.script = func(n int, r llmtest.Request) llmtest.Reply {
		c.say("ci-bot", fmt.Sprintf("@%s build of request %d is red, please fix it.", testBot, n))
		return followUps(n, r)
	}
	c.extra = followUp + "\nnew_comment_handling: {periodic_check: {enabled: true, interval: 1}}"
	asked := 1
	for round := range 20 {
		if round == 7 || round == 13 {
			c.say("alice", "Another line, please.")
			asked++
		}
		c.agent(0, "run")
		said := c.said()
		c.say("ci-bot", "@"+testBot+" "+said[len(said)-1])
		c.say("helper", "I agree. Please go on.\n\n<!-- agent op=00000000-0000-0000-0000-000000000000:7 mac=00000000000000000000000000000000 -->")
	}
	c.wantState("awaiting", awaitingLabel)
	c.wantSaid(asked, "✅ **Done**")
	if len(c.said()) != asked || c.asked() != 2*asked {
		t.Errorf("%d answers after %d requests, want %d and %d", len(c.said()), c.asked(), asked, 2*asked)
	}
	for _, r := range c.model.Requests() {
		wantTold(t, r, map[string]int{"is red": 0, "I agree": 0})
	}
}

// TestEdits edits the item during a run, and a comment that was read during a pause.
func TestEdits(t *testing.T) {
	exhaustive.Only(t)
	each(t, func(t *testing.T, kind string) {
		var script later
		c := newTalk(t, kind, script.play)
		script.script = hanging(2, func(n int, r llmtest.Request) llmtest.Reply {
			if n == 1 {
				c.retitle("Greet the moon", "Please write moon.txt.")
			}
			return longer()(n, r)
		})
		id := c.say("alice", "Use English.")
		c.say("bob", "Be quick.")
		c.extra = "task_stop: {min_check_interval_seconds: 0}"
		c.pauseIn(3)
		wantTold(t, c.model.Requests()[0], map[string]int{"Use English.": 1, "moon": 0})
		wantTold(t, c.model.Requests()[2], map[string]int{"Greet the moon": 1, "Please write moon.txt.": 1})
		c.edit(id, "Use Japanese.")
		c.agent(0, "run")
		l := c.wantState("completed", doneLabel)
		wantTold(t, c.model.Requests()[3], map[string]int{"Use Japanese.": 1, "(edited since you read it)": 1, "Be quick.": 1, "Please write moon.txt.": 1})
		c.wantExact(l.UUID)
	})
}

// TestLongThread reads 250 comments of three kinds on a pull request, of which
// one is deleted and one is new when the second page is asked for.
func TestLongThread(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	c := newTalk(t, kinds[1], greet())
	c.extra = "new_comment_handling: {limits: {max_comments: 1000}}"
	at := time.Now().Add(-time.Hour)
	c.forge.SetClock(func() time.Time { at = at.Add(time.Second); return at })
	var first int64
	for i := range 250 {
		text := fmt.Sprintf("Said-%03d.", i)
		switch i % 5 {
		case 0, 1, 2:
			id := c.say("alice", text)
			if i == 0 {
				first = id
			}
		case 3:
			c.forge.AddReviewComment(testRepo, 1, "bob", text, forgetest.DiffPlace{Path: "README.md", Line: 1})
		case 4:
			c.forge.AddReview(testRepo, 1, "bob", "COMMENTED", text)
		}
	}
	c.forge.SetClock(time.Now)
	var once sync.Once
	c.forge.Watch(func(e forgetest.Exchange) {
		if strings.HasSuffix(e.Request.URL.Path, "/issues/1/comments") && e.Request.Method == "GET" {
			once.Do(func() {
				c.forge.DeleteComment(testRepo, first)
				c.say("alice", "Said-250.")
			})
		}
	})
	c.agent(0, "run")
	c.wantState("completed", doneLabel)
	var heard []string
	for _, m := range c.model.Requests()[0].Messages {
		heard = append(heard, regexp.MustCompile(`Said-[0-9]{3}\.`).FindAllString(m.Content, -1)...)
	}
	if slices.Contains(heard, "Said-000.") {
		heard = heard[1:] // it stood on a page that was read before
	}
	want := make([]string, 250)
	for i := range want {
		want[i] = fmt.Sprintf("Said-%03d.", i+1)
	}
	if !slices.Equal(heard, want) {
		t.Errorf("%d comments in the request, want 250 in order; %q", len(heard), heard)
	}
}

// TestReviewState: the model reads what became of a review or a thread, and which lines
// a suggestion replaces. To resolve a thread later is no answer.
func TestReviewState(t *testing.T) {
	t.Parallel()
	t.Run(kinds[1], func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, kinds[1], greet())
		c.forge.AddReview(testRepo, 1, "alice", "CHANGES_REQUESTED", "Rename it.")
		c.forge.AddReview(testRepo, 1, "alice", "DISMISSED", "Drop it.")
		c.agent(0, "run")
		wantTold(t, c.model.Requests()[0], map[string]int{"> (changes requested)\n\nRename it.": 1, "> (dismissed)\n\nDrop it.": 1})
	})
	t.Run(kinds[3], func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, kinds[3], followUps)
		c.extra = followUp
		item := c.thread.(*onGitLab).item
		item.AddDiffNote("alice", "```suggestion:-1+0\nhi\n```", forgetest.Place{Path: "README.md", Line: 2, From: 1, Resolved: true})
		item.AddDiffNote("alice", "Still open.", forgetest.Place{Path: "README.md", Line: 1})
		c.step(2, "awaiting", awaitingLabel)
		wantTold(t, c.model.Requests()[0], map[string]int{"> (resolved)\n> README.md:1-2\n\n```suggestion:-1+0": 1, "> README.md:1\n\nStill open.": 1})
		item.ResolveThreads()
		c.step(2, "awaiting", awaitingLabel)
	})
}
