package main

import (
	"os"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/forge/forgetest"
)

// triage lets an account set labels, and no more.
func (c *talk) triage(login string) {
	switch g := c.thread.(type) {
	case *onGitHub:
		g.w.forge.SetPermission(testRepo, login, "triage")
	case *onGitLab:
		g.server.SetAccess(testProject, login, forgetest.Reporter)
	}
}

// relabel sets the label anew, whoever set it before.
func (c *talk) relabel(login string) {
	c.unlabel(botLabel)
	c.labelAs(login, botLabel)
}

// stillHeld runs the agent once more and wants that nothing is published.
func (c *talk) stillHeld(why string) {
	c.t.Helper()
	out, _ := c.agent(0, "run")
	if !strings.Contains(out, why) || len(c.opened()) > 0 || c.only().State != "paused" {
		c.t.Fatalf("want %q: state %s, opened %+v\n%s", why, c.only().State, c.opened(), out)
	}
}

// TestApproval: a change that is held back is published by those who may write, and
// as they saw it. Not by a triager's label, not by a label from before the pause, and
// not by an approval of another tree.
func TestApproval(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kinds[0], kinds[2]} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var c *talk
			c = newTalk(t, kind, then(greet(), 1, func() { c.labelAs("bob", botLabel) }))
			c.extra = "change_requests: {protected_paths: [hello.txt]}"
			c.triage("tim")
			c.permit("bob")
			c.agent(0, "run")
			if body := c.wantSaid(1, "⏸️ **Paused**"); !strings.Contains(body, "`agent approve`") {
				t.Error(body)
			}
			c.stillHeld("set before the pause")
			c.relabel("tim")
			c.stillHeld("@tim set the label but has no write access")
			if out, _ := c.agent(0, "run", "--dry-run"); !strings.Contains(out, "would wait") || !strings.Contains(out, "no approval") {
				t.Errorf("a dry run says:\n%s", out)
			}
			c.say("tim", "agent approve")
			c.unlabel(botLabel)
			if c.agent(0, "run"); len(c.opened()) > 0 {
				t.Fatal("a triager's comment published it")
			}

			uuid := c.only().UUID
			must(t, os.WriteFile(c.path("workspaces", uuid, "hello.txt"), []byte("something else\n"), 0o600))
			c.labelAs("bob", botLabel)
			c.stillHeld("")
			c.wantSaid(2, "⏸️ **Paused**") // that is another change: it asks again
			c.say("bob", "agent approve")
			c.agent(0, "run")
			c.wantState("completed", doneLabel)
			if all := c.opened(); len(all) != 1 || !strings.HasPrefix(c.git("show", all[0].Head+":hello.txt"), "something else") {
				t.Errorf("published: %+v", all)
			}
			var approvals []string
			for _, r := range find[*event.ResumeRequested](c.events(uuid)) {
				if r.Person && r.Tree == "" || r.By == "label" && r.Event == "" || r.By == "comment" && r.Comment == "" {
					t.Errorf("the log says %+v", r)
				}
				approvals = append(approvals, r.By+" "+r.Actor)
			}
			if got := strings.Join(approvals, ", "); got != "label bob, comment bob" {
				t.Errorf("approvals in the log: %s", got)
			}
			if out, _ := c.agent(0, "why", uuid); !strings.Contains(out, " by bob (label): the change with tree ") || !strings.Contains(out, " by bob (comment): ") {
				t.Errorf("why says:\n%s", out)
			}
			c.wantExact(uuid)
		})
	}
}

// TestWakeInPublic: other pauses of a public project are ended by those who may write.
func TestWakeInPublic(t *testing.T) {
	t.Parallel()
	c := openTalk(t, kinds[2], hanging(1, greet()), true)
	c.permit("bob")
	c.triage("tim")
	c.relabel("bob")
	p := c.start("run")
	c.awaitCalls(2)
	c.agent(0, "pause", c.only().UUID)
	p.wait()
	c.wantState("paused", pausedLabel)
	c.relabel("tim")
	if out, _ := c.agent(0, "run"); !strings.Contains(out, "@tim added the label but has no write access") || c.only().State != "paused" {
		t.Fatalf("it went on:\n%s", out)
	}
	c.relabel("bob")
	c.agent(0, "run")
	c.wantState("completed", doneLabel)
}
