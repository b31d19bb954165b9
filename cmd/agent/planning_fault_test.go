package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/llm"
	"agent/llm/llmtest"
)

// obliging is planner, but takes up what people said in the pause with one more action.
func obliging(n int, r llmtest.Request) llmtest.Reply {
	if step, _ := planStep(r); strings.HasPrefix(step, "Phase: reflection") && r.Contains("Said-later:") && !strings.Contains(step, "] wish:") {
		return reply(`{"reflection":{"status":"partial","evaluation":"people want more","plan_revision_needed":true},
			"plan_revision":{"reason":"asked for","updated_action_plan":{"actions":[` + act("wish", "write_file") + `,` + act("again", "read_file") + `]}}}`)
	}
	return planner(n, r)
}

// callOf gives the number, from 1, of the first model call of an undisturbed
// planner in a phase.
func callOf(phase string) int {
	order := []string{"understanding", "information", "assumption", "planning", "work"}
	return slices.Index(order, phase) + 1
}

// TestPlanningPaused pauses in the middle of planning, lets people comment and
// goes on (scenario 7 of the requirements): the task is paused and not done
// (B1); what people said is in the next request, once, and changes the plan
// (B3); nothing that came before the pause is said, asked or begun again, and
// the context is as old as before (B7).
func TestPlanningPaused(t *testing.T) {
	t.Parallel()
	for _, kind := range exhaustive.Sample(forges, 2) {
		for _, phase := range []string{"planning", "work"} {
			t.Run(kind+" in "+phase, func(t *testing.T) {
				t.Parallel()
				call := callOf(phase)
				c := newTalk(t, kind, hanging(call-1, obliging))
				c.extra = planningOn
				c.say("alice", "Said-before: use English.")
				c.pauseIn(call)
				before := c.wantState("paused", pausedLabel)
				c.wantSaid(1, "⏸️ **Paused**")
				c.wantSaid(0, "✅ **Done**")
				heads := firstLines(c.said())

				c.say("alice", "Said-later: write wish.txt, too.")
				c.say("bob", "Said-by-bob: be polite.")
				c.noise()
				c.agent(0, "run")
				after := c.wantState("completed", doneLabel)
				resumed := c.model.Requests()[call]
				wantTold(t, resumed, map[string]int{"Said-before:": 1, "Said-later:": 1, "Said-by-bob:": 1, "Said-by-machine:": 0})
				if hello := c.git("show", c.workBranch()+":wish.txt"); hello != "wished\n" {
					t.Errorf("wish.txt holds %q", hello)
				}
				c.wantNothingTwice(heads)
				if !after.CreatedAt.Equal(before.CreatedAt) || c.created("completed") != after.CreatedAt.UTC().Format("2006-01-02T15:04:05") {
					t.Errorf("created at %s, then %s, in metadata.json %s", before.CreatedAt, after.CreatedAt, c.created("completed"))
				}
				c.wantExact(after.UUID)
			})
		}
	}
}

func firstLines(texts []string) (lines []string) {
	for _, text := range texts {
		line, _, _ := strings.Cut(text, "\n")
		lines = append(lines, line)
	}
	return lines
}

// wantNothingTwice wants one system prompt in every request, each part of
// pre-planning once, and the comments that stood before the pause no second time.
func (c *talk) wantNothingTwice(before []string) {
	c.t.Helper()
	for i, r := range c.model.Requests() {
		systems := 0
		for _, m := range r.Messages {
			if m.Role == llm.System {
				systems++
			}
		}
		if systems != 1 {
			c.t.Errorf("request %d has %d system messages", i, systems)
		}
	}
	events := c.events(c.only().UUID)
	phases := map[string]int{}
	for _, p := range find[*event.PhaseEntered](events) {
		phases[p.Phase]++
	}
	for _, phase := range []string{"understanding", "information", "assumption", "planning"} {
		if phases[phase] != 1 {
			c.t.Errorf("%s was entered %d times", phase, phases[phase])
		}
	}
	if n := len(find[*event.ContextInherited](events)); n > 1 {
		c.t.Errorf("inherited %d times", n)
	}
	posted := map[string]bool{}
	for _, e := range find[*event.CommentPosted](events) {
		posted[e.ID] = true
	}
	now := firstLines(c.said())
	if len(now) != len(posted) {
		c.t.Errorf("%d comments stand, the log knows of %d", len(now), len(posted))
	}
	for i, head := range before {
		if again := slices.Index(now[i+1:], now[i]); again >= 0 {
			c.t.Errorf("the comment %q stands once more as %q: %q", head, now[i], now)
		}
	}
}

// created is the time in metadata.json.
func (c *talk) created(place string) string {
	c.t.Helper()
	data, err := os.ReadFile(c.path("contexts", place, c.only().UUID, "metadata.json"))
	must(c.t, err)
	var file struct {
		CreatedAt string `json:"created_at"`
	}
	must(c.t, json.Unmarshal(data, &file))
	return strings.TrimSuffix(file.CreatedAt[:min(19, len(file.CreatedAt))], "Z")
}

// workBranch is where the work was published.
func (c *talk) workBranch() string {
	if branch := c.branch(); branch != "" {
		return branch
	}
	return strings.TrimSpace(c.git("for-each-ref", "--format=%(refname:short)", "refs/heads/agent"))
}

// TestPlanningStopped stops a plan while the model is asked in each of some
// phases, and while it is paused: the label, one comment, and nothing more (B2).
func TestPlanningStopped(t *testing.T) {
	t.Parallel()
	for _, kind := range exhaustive.Sample(forges, 2) {
		for _, phase := range []string{"planning", "work"} {
			for _, paused := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s in %s, paused %v", kind, phase, paused), func(t *testing.T) {
					t.Parallel()
					call := callOf(phase)
					c := newTalk(t, kind, hanging(call-1, planner))
					c.extra = planningOn
					if paused {
						c.pauseIn(call)
						c.agent(0, "stop", c.url(), "--reason", "solved otherwise")
						c.agent(0, "run")
					} else {
						p := c.start("run")
						c.awaitCalls(call)
						c.agent(0, "stop", c.url(), "--reason", "solved otherwise")
						if code := p.wait(); code != 0 {
							t.Fatalf("exit %d\n%s%s", code, &p.out, &p.err)
						}
					}
					c.wantStopped(call, "solved otherwise")
				})
			}
		}
	}
}

// TestVerificationNeverPasses wants a plan whose verification fails to the end
// to be done in part, whatever the model says of it (B9).
func TestVerificationNeverPasses(t *testing.T) {
	t.Parallel()
	for _, kind := range exhaustive.Sample(forges, 2) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, kind, func(n int, r llmtest.Request) llmtest.Reply {
				if step, _ := planStep(r); strings.HasPrefix(step, "Phase: verification") {
					return reply(`{"verification_passed":false,"issues_found":["not signed"],"additional_work_needed":false,"additional_actions":[],"comment":"hello.txt is not signed."}`)
				}
				return planner(n, r)
			})
			c.extra = planningOn
			c.agent(0, "run")
			l := c.only()
			c.wantSaid(0, "✅ **Done**")
			if final := c.wantSaid(1, "⚠️ **Partly done:**"); !strings.Contains(final, "hello.txt is not signed.") {
				t.Errorf("the final comment is\n%s", final)
			}
			done := find[*event.ContextCompleted](c.events(l.UUID))
			if len(done) != 1 || !done[0].Partial {
				t.Errorf("it ended as %+v", done)
			}
			c.wantExact(l.UUID)
		})
	}
}
