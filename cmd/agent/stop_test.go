package main

import (
	"strings"
	"testing"

	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// ways are how people end a task, each with what the last comment says of it.
var ways = []struct {
	name, says string
	end        func(c *talk)
}{
	{"unassigned", "assign", func(c *talk) { c.assign("bob") }},
	{"label removed", "label", func(c *talk) { c.unlabel(processingLabel) }},
	{"closed", "closed", func(c *talk) { c.finish() }},
	{"command", "solved otherwise", func(c *talk) { c.agent(0, "stop", c.url(), "--reason", "solved otherwise") }},
}

// TestStop ends a task in each way, in the middle of a run and while it is
// paused. Nothing more is asked of the model but a summary.
func TestStop(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		for _, way := range exhaustive.Sample(ways, 2) {
			t.Run(way.name, func(t *testing.T) {
				t.Parallel()
				var script later
				c := newTalk(t, kind, script.play)
				script.script = func(n int, r llmtest.Request) llmtest.Reply {
					if n == 1 {
						way.end(c)
					}
					return longer()(n, r)
				}
				c.assign(testBot, "bob")
				c.extra = "task_stop: {min_check_interval_seconds: 0}"
				c.agent(0, "run")
				c.wantStopped(2, way.says)
			})
			if way.name == "label removed" || kind == kinds[0] || kind == kinds[3] {
				continue // a paused task does not carry the label; two kinds do
			}
			t.Run(way.name+" while paused", func(t *testing.T) {
				t.Parallel()
				c := newTalk(t, kind, hanging(1, longer()))
				c.assign(testBot)
				c.pauseIn(2)
				way.end(c)
				c.agent(0, "run")
				c.wantStopped(2, way.says)
				c.wantSaid(0, "▶️ **Resumed")
			})
		}
	})
}

func (c *talk) wantStopped(asked int, says string) {
	c.t.Helper()
	l := c.wantState("stopped", stoppedLabel)
	if body := c.wantSaid(1, "⏹️ **Stopped**"); !strings.Contains(body, says) || c.asked() != asked {
		c.t.Errorf("after %d requests, want %d, with %q:\n%s", c.asked(), asked, says, body)
	}
	c.wantSaid(0, "✅ **Done**")
	c.wantExact(l.UUID)
	if out, _ := c.agent(0, "run"); !strings.Contains(out, "nothing to do") {
		c.t.Errorf("a stopped task goes on:\n%s", out)
	}
}

// TestWaitingLabelRemoved takes away the label of a task that is paused, and of one
// that waits for an answer. A round before that changes nothing.
func TestWaitingLabelRemoved(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kinds[0], kinds[2]} {
		t.Run("paused "+kind, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, kind, hanging(1, longer()))
			p := c.start("run")
			c.awaitCalls(2)
			c.agent(0, "pause", c.only().UUID)
			p.wait()
			c.step(2, "paused", pausedLabel)
			c.unlabel(pausedLabel)
			c.agent(0, "run")
			c.wantStopped(2, "label")
			c.wantSaid(0, "▶️ **Resumed")
		})
		t.Run("awaiting "+kind, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, kind, followUps)
			c.extra = followUp
			c.step(2, "awaiting", awaitingLabel)
			c.step(2, "awaiting", awaitingLabel)
			c.unlabel(awaitingLabel)
			c.step(2, "stopped", stoppedLabel)
			if body := c.wantSaid(1, "⏹️ **Stopped**"); !strings.Contains(body, "label") {
				t.Error(body)
			}
			c.wantExact(c.only().UUID)
		})
	}
}

// TestNotStopped changes what does not end a task: assignees where the agent
// was none, or stays one, and labels of other people.
func TestNotStopped(t *testing.T) {
	t.Parallel()
	for name, change := range exhaustive.SampleMap(map[string]func(c *talk){
		"never assigned": func(c *talk) { c.assign() },
		"also assigned":  func(c *talk) { c.assign("alice", testBot) },
		"other labels":   func(c *talk) { c.unlabel("theirs"); c.label("urgent", botLabel) },
	}, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var script later
			c := newTalk(t, kinds[2], script.play)
			script.script = func(n int, r llmtest.Request) llmtest.Reply {
				if n == 1 {
					change(c)
				}
				return longer()(n, r)
			}
			c.assign("bob")
			if name == "also assigned" {
				c.assign("bob", testBot)
			}
			c.label("theirs")
			c.extra = "task_stop: {min_check_interval_seconds: 0}"
			c.agent(0, "run", c.url())
			if name == "other labels" {
				c.wantState("completed", "urgent", botLabel, doneLabel)
			} else {
				c.wantState("completed", "theirs", doneLabel)
			}
		})
	}
}
