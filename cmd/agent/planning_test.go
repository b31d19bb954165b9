package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/llm"
	"agent/llm/llmtest"
	"agent/projections"
)

// planner plays a model that goes through every phase: an action that fails, a
// reflection that revises, a replan, a verification that fails and one that
// passes. It decides from the conversation alone, so a kill or a pause does not
// change what it says.
func planner(_ int, r llmtest.Request) llmtest.Reply {
	step, asked := planStep(r)
	phase, _, _ := strings.Cut(strings.TrimPrefix(step, "Phase: "), "\n")
	switch {
	case strings.HasPrefix(phase, "understanding"):
		return reply(`{"request_understanding":{"task_type":"feature","primary_goal":"hello.txt greets the world","understanding_confidence":0.9,"ambiguities":["which language"]},"comment":"I know what is asked."}`)
	case strings.HasPrefix(phase, "planning what"):
		return reply(`{"information_needs":{"required_information":[
			{"id":"readme","category":"codebase","description":"what the project is","collection_method":{"tool":"workspace/read_file","parameters":{"path":"README.md"}}},
			{"id":"tone","description":"how to greet","collection_method":{"tool":"workspace/read_file","parameters":{"path":"TONE.md"}},"can_assume":true}],"collection_order":["readme","tone"]}}`)
	case strings.HasPrefix(phase, "assumption"):
		return reply(`{"assumption":{"info_id":"tone","assumed_value":"friendly","reasoning":"it is a greeting","confidence":0.8}}`)
	case phase == "planning":
		return reply(`{"goal_understanding":{"main_objective":"hello.txt greets","success_criteria":["hello.txt says hello"]},"task_decomposition":{"subtasks":[]},
			"action_plan":{"execution_order":["write","look"],"actions":[` + act("look", "read_file") + `,` + act("write", "write_file") + `]},"comment":"Two actions."}`)
	case phase == "reflection" && strings.Contains(step, "The action look failed"):
		return reply(`{"reflection":{"status":"failure","evaluation":"the file is not there","plan_revision_needed":true},"plan_revision":{"reason":"look elsewhere","updated_action_plan":{"actions":[` + act("again", "read_file") + `]}}}`)
	case phase == "reflection":
		return reply(`{"reflection":{"status":"success","evaluation":"fine","plan_revision_needed":false}}`)
	case phase == "replan decision":
		return reply(`{"replan_decision":{"replan_needed":true,"confidence":0.9,"replan_type":"partial_replan","target_phase":"action_sequence","replan_level":2,"reasoning":"it will never be there"}}`)
	case phase == "revision":
		return reply(`{"plan_revision":{"reason":"check what there is","updated_action_plan":{"actions":[` + act("check", "run_command") + `]}}}`)
	case phase == "verification" && !strings.Contains(step, "[done] sign"):
		return reply(`{"verification_passed":false,"issues_found":["not signed"],"additional_work_needed":true,"additional_actions":[` + act("sign", "write_file") + `],"comment":"A signature is missing."}`)
	case phase == "verification":
		return reply(`{"verification_passed":true,"completion_confidence":0.9,"comment":"I wrote hello.txt and signed it."}`)
	}
	return perform(r, step, len(r.Messages)-1-asked)
}

// planStep gives what the model was told last about its step, and where.
func planStep(r llmtest.Request) (step string, at int) {
	for i, m := range r.Messages {
		if m.Role != llm.User {
			continue
		}
		if strings.HasPrefix(m.Content, "Phase: ") {
			step, at = m.Content, i
		} else if n := strings.LastIndex(m.Content, "\n\nPhase: "); n >= 0 { // an adapter joins turns of one role
			step, at = m.Content[n+2:], i
		}
	}
	return step, at
}

func reply(text string) llmtest.Reply { return llmtest.Text(text) }

func act(id, tool string) string {
	return fmt.Sprintf(`{"task_id":%q,"action_type":"tool_call","tool":"workspace/%s","parameters":{},"purpose":"%s it"}`, id, tool, id)
}

// perform makes the call of the current action, another one after an error.
func perform(r llmtest.Request, step string, since int) llmtest.Reply {
	_, id, _ := strings.Cut(step, "The action: ")
	id, _, _ = strings.Cut(id, "\n")
	switch id {
	case "write":
		return write("hello.txt", "hello\n")
	case "sign":
		return write("sign.txt", "signed\n")
	case "wish":
		return write("wish.txt", "wished\n")
	case "check":
		return command("cat", "hello.txt")
	}
	return llmtest.ToolCall("workspace__read_file", map[string]any{"path": fmt.Sprintf("%s-%d.txt", id, since)})
}

const planningOn = "planning: {enabled: true, reflection: {trigger_interval: 3}, llm_call_comments: {mode: phase}}"

// forges are a task of each forge that planning is tried on.
var forges = []string{"GitHub issue", "GitLab merge request"}

var digits = regexp.MustCompile("[0-9]+")

// planEnd is what a run leaves, whatever happened to it on the way.
type planEnd struct {
	Hello, Sign string
	Final       string
	Progress    []string // comments, without numbers
	Actions     []string
	Found       map[string]string
	Counts      projections.Counts
	Rounds      int
	Verified    bool
}

func (c *talk) planEnd() planEnd {
	c.t.Helper()
	l := c.wantState("completed", doneLabel)
	c.wantExact(l.UUID)
	c.wantRebuilt(l.UUID)
	state := projections.NewState()
	for _, e := range c.events(l.UUID) {
		state.Apply(e)
	}
	p := state.Planning
	end := planEnd{Counts: p.Counts, Rounds: p.Rounds, Verified: p.Verified, Found: map[string]string{}}
	for _, a := range p.Actions {
		end.Actions = append(end.Actions, a.ID+" "+a.Status)
	}
	for id, f := range p.Found {
		end.Found[id] = f.Status
	}
	branch := c.workBranch()
	end.Hello, end.Sign = c.git("show", branch+":hello.txt"), c.git("show", branch+":sign.txt")
	for _, body := range c.said() {
		if strings.HasPrefix(body, "## ") {
			end.Progress = append(end.Progress, digits.ReplaceAllString(body, "N"))
		}
	}
	end.Final, _, _ = strings.Cut(c.wantSaid(1, "✅ **Done** @alice"), "Change: ") // the address differs
	return end
}

// TestPlanning goes through every phase undisturbed, and then paused and killed
// once in each: the same files, comments and state, and an exact replay. A
// paused task is not done (B1); after a kill no changed plan is lost (B8).
func TestPlanning(t *testing.T) {
	t.Parallel()
	for _, kind := range exhaustive.One(t, forges) {
		t.Run(kind, func(t *testing.T) {
			c := newTalk(t, kind, planner)
			c.extra = planningOn
			c.agent(0, "run")
			want := c.planEnd()
			if want.Hello != "hello\n" || want.Sign != "signed\n" || !want.Verified || want.Rounds != 2 || want.Counts.Partial != 1 || want.Counts.Reflected != 1 || len(want.Progress) != 8 {
				t.Fatalf("%+v", want)
			}
			c.wantHistory()
			for phase, call := range exhaustive.SampleMap(firstCalls(c), 6) {
				t.Run("paused in "+phase, func(t *testing.T) { t.Parallel(); disturbed(t, kind, call, true, want) })
				t.Run("killed in "+phase, func(t *testing.T) { t.Parallel(); disturbed(t, kind, call, false, want) })
			}
		})
	}
}

// firstCalls gives for each phase the number of its first model call, from 1.
func firstCalls(c *talk) map[string]int {
	first := map[string]int{}
	for i, r := range find[*event.LLMRequested](c.events(c.only().UUID)) {
		if first[r.Purpose] == 0 && !r.OutsideConversation() {
			first[r.Purpose] = i + 1
		}
	}
	return first
}

func disturbed(t *testing.T, kind string, call int, pause bool, want planEnd) {
	c := newTalk(t, kind, hanging(call-1, planner))
	c.extra = planningOn
	if pause {
		c.pauseIn(call)
		c.wantState("paused", pausedLabel)
		c.wantSaid(0, "✅ **Done**") // B1
	} else {
		p := c.start("run")
		c.awaitCalls(call)
		p.kill()
	}
	c.agent(0, "run")
	got := c.planEnd()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("ended as\n%s\nwant\n%s", g, w)
	}
}

// wantHistory wants the planning history as the documents have it.
func (c *talk) wantHistory() {
	c.t.Helper()
	uuid := c.only().UUID
	data, err := os.ReadFile(c.path("contexts", "completed", uuid, "planning", uuid+".jsonl"))
	must(c.t, err)
	var kinds []string
	for line := range strings.Lines(string(data)) {
		var l map[string]any
		must(c.t, json.Unmarshal([]byte(line), &l))
		kinds = append(kinds, fmt.Sprint(l["type"]))
		if l["issue_id"] != "1" || l["task_uuid"] != uuid || l["timestamp"] == "" {
			c.t.Errorf("%s", line)
		}
	}
	if got := strings.Join(kinds, " "); got != "plan reflection revision reflection replan_decision revision verification verification" {
		c.t.Errorf("the history is %s", got)
	}
	var state struct {
		Planning map[string]any `json:"planning_state"`
	}
	data, err = os.ReadFile(c.path("contexts", "completed", uuid, "task_state.json"))
	must(c.t, err)
	must(c.t, json.Unmarshal(data, &state))
	if state.Planning["enabled"] != true || state.Planning["action_counter"] != 3.0 || state.Planning["total_actions"] != 5.0 {
		c.t.Errorf("planning_state is %v", state.Planning)
	}
}

// TestPlanGoesOn stops a plan half done. The next go at the task knows what was
// done, what failed and what is left, before it plans (seeds/002 §10).
func TestPlanGoesOn(t *testing.T) {
	t.Parallel()
	exhaustive.Slow(t)
	w := newWorld(t, hanging(5, planner)) // in the second action
	w.extra = planningOn
	p := w.start("run")
	w.awaitCalls(6)
	first := w.only()
	w.agent(0, "stop", first.UUID)
	if code := p.wait(); code != 0 {
		t.Fatalf("exit %d\n%s", code, &p.err)
	}
	w.forge.AddComment(testRepo, 1, "alice", "Said-again: go on, please.")
	w.forge.AddLabels(testRepo, 1, botLabel)
	w.agent(0, "run")
	m := w.firstRequest("Said-again:").Messages[1].Content
	for _, want := range []string{"Summary of the previous run:", "Previous Plan Summary\n- Goal: hello.txt greets", "Completion Status: 1 of 2 actions succeeded, 0 failed",
		"Execution History\n- Successful action write: write it (workspace/write_file)", "Not done yet, to be continued if it still fits the request: look: look it"} {
		if !strings.Contains(m, want) {
			t.Errorf("inherited lacks %q:\n%s", want, m)
		}
	}
	if in := w.inherited(first.TaskKey); in.From != first.UUID {
		t.Errorf("%+v", in)
	}
}
