package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/forge/forgetest"
	"agent/llm/llmtest"
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

// rewrites edits the task's text as somebody.
func (c *talk) rewrites(login, title, body string) {
	switch g := c.thread.(type) {
	case *onGitHub:
		g.w.forge.EditIssueAs(testRepo, g.number, login, title, body)
	case *onGitLab:
		g.item.EditAs(login, title, body)
	}
}

// TestEditedAfterTheLabel: in a public project the text counts that somebody who may
// write has seen. A later edit asks again, before the work and in its middle.
func TestEditedAfterTheLabel(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kinds[0], kinds[2]} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := openTalk(t, kind, hanging(1, greet()), true)
			c.permit("bob")
			c.triage("tim")
			at := time.Now().Add(-time.Hour) // the forge's seconds, one for each deed
			tick := func() { at = at.Add(time.Minute); c.clock(at) }
			tick()
			c.rewrites("alice", "Greet the world", "Said-before: write hello.txt.")
			tick()
			c.relabel("bob")
			tick()
			c.rewrites("alice", "Greet the world", "Said-after: write hello.txt.")
			c.agent(0, "run")
			c.wantState("paused", pausedLabel)
			if body := c.wantSaid(1, "⏸️ **Paused**"); !strings.Contains(body, "was edited after the label was set") || !strings.Contains(body, "alice") || c.asked() > 0 {
				t.Errorf("it asked %d times, and said:\n%s", c.asked(), body)
			}
			tick()
			c.labelAs("tim", botLabel)
			c.stillHeld("@tim set the label but has no write access")
			tick()
			c.relabel("bob")

			p := c.start("run") // the text is approved
			c.awaitCalls(2)
			c.agent(0, "pause", c.only().UUID)
			p.wait()
			wantTold(t, c.model.Requests()[0], map[string]int{"Said-after:": 1})
			tick()
			c.rewrites("alice", "Greet the world", "Said-later: delete everything.")
			c.agent(0, "resume", "--all") // of another pause: the text is not approved by it
			c.stillHeld("was edited after the label was set")
			if n := c.asked(); n != 2 {
				t.Errorf("asked %d times", n)
			}
			tick()
			c.relabel("bob")
			c.agent(0, "run")
			l := c.wantState("completed", doneLabel)
			wantTold(t, c.model.Requests()[2], map[string]int{"Said-later:": 1})
			if out, _ := c.agent(0, "why", l.UUID); strings.Count(out, " by bob (label): the edited text") != 2 {
				t.Errorf("why says:\n%s", out)
			}
			c.wantExact(l.UUID)
		})
	}
}

// clock sets the forge's clock.
func (c *talk) clock(at time.Time) {
	now := func() time.Time { return at }
	switch g := c.thread.(type) {
	case *onGitHub:
		g.w.forge.SetClock(now)
	case *onGitLab:
		g.server.SetClock(now)
	}
}

// TestEditsUnknown: where the forge does not tell of edits, the text counts as it was
// first read, a difference asks, and why says what is unknown.
func TestEditsUnknown(t *testing.T) {
	t.Parallel()
	c := openTalk(t, kinds[0], hanging(1, greet()), true)
	c.permit("bob")
	c.relabel("bob")
	c.fault(forgetest.Fault{Method: "POST", Path: ".*/graphql", Kind: forgetest.Answer, Status: 404, Times: -1, Body: `{"message":"Not Found"}`})
	p := c.start("run")
	c.awaitCalls(2)
	c.agent(0, "pause", c.only().UUID)
	p.wait()
	if out, _ := c.agent(0, "why", c.only().UUID); !strings.Contains(out, "does not tell of edits") {
		t.Errorf("why says:\n%s", out)
	}
	c.rewrites("bob", "Greet the world", "Said-later: write hello.txt.")
	c.agent(0, "resume", "--all")
	c.stillHeld("was edited after the label was set")
	c.agent(0, "resume", "--all")
	c.agent(0, "run")
	c.wantState("completed", doneLabel)
	wantTold(t, c.model.Requests()[2], map[string]int{"Said-later:": 1})
}

// planOf plans to write hello.txt, and writes other.txt along with it.
func planOf(_ int, r llmtest.Request) llmtest.Reply {
	step, _ := planStep(r)
	switch phase, _, _ := strings.Cut(strings.TrimPrefix(step, "Phase: "), "\n"); phase {
	case "planning":
		return reply(`{"goal_understanding":{"main_objective":"hello.txt greets"},"action_plan":{"actions":[
			{"task_id":"write","tool":"workspace/write_file","parameters":{"path":"hello.txt"},"purpose":"Write the greeting"}]}}`)
	case "verification":
		return reply(`{"verification_passed":true,"completion_confidence":0.9,"comment":"I wrote hello.txt."}`)
	}
	return llmtest.ToolCalls(llmtest.Call("workspace__write_file", map[string]any{"path": "other.txt", "content": "x\n"}),
		llmtest.Call("workspace__write_file", map[string]any{"path": "hello.txt", "content": "hello\n"}))
}

// TestPlanIsApproved: a plan is carried out once somebody who may write approves it, and
// a file that it does not name needs another approval before it is published.
func TestPlanIsApproved(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kinds[0], kinds[2]} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, kind, planOf)
			c.extra = "planning: {enabled: true, approval: always, pre_planning: {enabled: false}, reflection: {enabled: false}}"
			c.triage("tim")
			c.permit("bob")
			c.agent(0, "run")
			plan := c.wantSaid(1, "📋 **Plan, version 1")
			if !strings.Contains(plan, "- `hello.txt`") || !strings.Contains(plan, "approve`") {
				t.Error(plan)
			}
			c.say("tim", "agent approve")
			c.stillHeld("")
			uuid := c.only().UUID
			if len(find[*event.ActionStarted](c.events(uuid))) > 0 {
				t.Fatal("a triager's comment let it run")
			}
			if out, _ := c.agent(0, "why", uuid); !strings.Contains(out, "the plan needs an approval") {
				t.Errorf("why says:\n%s", out)
			}
			c.say("bob", "agent approve")
			c.agent(0, "run")
			if body := c.wantSaid(1, "⏸️ **Paused**"); !strings.Contains(body, "`other.txt` is not in the plan that was approved") || strings.Contains(body, "hello.txt` is not") {
				t.Error(body)
			}
			c.say("bob", "agent approve")
			c.agent(0, "run")
			c.wantState("completed", doneLabel)
			if out, _ := c.agent(0, "why", uuid); !strings.Contains(out, " by bob (comment): the plan ") || !strings.Contains(out, " by bob (comment): the change with tree ") {
				t.Errorf("why says:\n%s", out)
			}
			c.wantExact(uuid)
		})
	}
}
