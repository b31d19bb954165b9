package main

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/forge/forgetest"
	"agent/llm/llmtest"
)

// A project gets another name in mid-run: what is said and set at the end arrives at
// the new address, and neither the new name nor the old one begins a second context.
func TestRenamedInMidRun(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds[:3:3] {
		if kind == kinds[1] {
			continue // a pull request moves with its repository like an issue
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var c *talk
			script := greet()
			c = newTalk(t, kind, func(n int, r llmtest.Request) llmtest.Reply {
				if n == 1 {
					c.rename()
				}
				return script(n, r)
			})
			c.agent(0, "run")
			l := c.only()
			if l.State != "completed" {
				t.Fatalf("%+v", l)
			}
			moved := find[*event.TaskMoved](c.events(l.UUID))
			if len(moved) != 1 || moved[0].Reason != "renamed" || !strings.Contains(moved[0].To, "/renamed/") {
				t.Fatalf("moved: %+v", moved)
			}
			labels, comments := c.atNewAddress()
			if strings.Join(labels, ",") != doneLabel || !strings.Contains(comments, "✅ **Done**") {
				t.Errorf("at the new address: %q\n%s", labels, comments)
			}
			c.wantExact(l.UUID)
			if out, _ := c.agent(0, "run"); !strings.Contains(out, "nothing to do") {
				t.Errorf("there is more to do:\n%s", out)
			}
		})
	}
}

// A repository gets another name while its task is paused: the label that is set at the
// new address resumes that context.
func TestRenamedWhilePaused(t *testing.T) {
	t.Parallel()
	c := newTalk(t, kinds[0], hanging(1, greet()))
	c.pauseIn(2)
	c.rename()
	c.forge.AddLabels("renamed/widgets", 1, botLabel)
	// Where the earlier address leads is unknown for now: no second context begins.
	c.forge.Fault(forgetest.Fault{Path: "/repos/" + testRepo + "/issues/1", Times: 4, Kind: forgetest.Answer, Status: 503})
	c.agent(75, "run")
	c.only()
	c.forge.ClearFaults()
	c.agent(0, "run")
	l := c.only()
	if labels, comments := c.atNewAddress(); l.State != "completed" || strings.Join(labels, ",") != doneLabel || !strings.Contains(comments, "✅ **Done**") {
		t.Errorf("%+v, %q\n%s", l, labels, comments)
	}
	c.wantExact(l.UUID)
}

// rename moves the project of the talk to another owner.
func (c *talk) rename() {
	if g, ok := c.thread.(*onGitLab); ok {
		g.server.RenameProject(testProject, "renamed/project")
		return
	}
	c.forge.RenameRepository(testRepo, "renamed/widgets")
}

func (c *talk) atNewAddress() (labels []string, comments string) {
	if g, ok := c.thread.(*onGitLab); ok {
		return g.item.Labels(), strings.Join(c.said(), "\n")
	}
	for _, x := range c.forge.Comments("renamed/widgets", 1) {
		comments += x.Body
	}
	return c.forge.Labels("renamed/widgets", 1), comments
}
