package policy_test

import (
	"fmt"
	"testing"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/policy"
	"agent/projections"
)

// people are who may write a command, with whether it counts.
func people() map[string]struct {
	change func(*policy.Answer)
	counts bool
} {
	yes, no := true, false
	return map[string]struct {
		change func(*policy.Answer)
		counts bool
	}{
		"author with write access":     {func(a *policy.Answer) { a.MayWrite = &yes }, true},
		"stranger":                     {func(a *policy.Answer) { a.MayWrite = &no }, false},
		"bot":                          {func(a *policy.Answer) { a.MayWrite, a.Author.Bot = &yes, true }, false},
		"the agent's account":          {func(a *policy.Answer) { a.MayWrite, a.Self = &yes, true }, false},
		"a comment of ours":            {func(a *policy.Answer) { a.MayWrite, a.Ours = &yes, true }, false},
		"edited":                       {func(a *policy.Answer) { a.MayWrite, a.Edited = &yes, true }, false},
		"of a review":                  {func(a *policy.Answer) { a.MayWrite, a.Ordered = &yes, false }, false},
		"before what is done with":     {func(a *policy.Answer) { a.MayWrite, a.ID = &yes, "49" }, false},
		"what is done with, few chars": {func(a *policy.Answer) { a.MayWrite, a.ID = &yes, "9" }, false},
	}
}

// TestCommandsInComments: each command in each state of a task, by everybody, as each forge
// writes it. A command has no effect but its own, and none where it means nothing.
func TestCommandsInComments(t *testing.T) {
	const nothing = ""
	type effects map[policy.CommandName]string
	states := map[string]struct {
		state func() *projections.State
		want  effects
	}{
		"running":            {working, effects{policy.CommandPause: "pause", policy.CommandStop: "stop"}},
		"paused on request":  {func() *projections.State { return held(event.PauseOnRequest) }, effects{policy.CommandResume: "resume", policy.CommandStop: "stop"}},
		"paused at a limit":  {func() *projections.State { return held(event.PauseLimit) }, effects{policy.CommandResume: "resume", policy.CommandApprove: "resume", policy.CommandStop: "stop", policy.CommandBudget: "resume +500"}},
		"change to approve":  {func() *projections.State { return held(event.PauseChange) }, effects{policy.CommandResume: "resume tree1", policy.CommandApprove: "resume tree1", policy.CommandStop: "stop"}},
		"files were changed": {func() *projections.State { return held(event.PauseFilesChanged) }, effects{policy.CommandResume: "resume", policy.CommandStop: "stop"}},
		"key was refused":    {func() *projections.State { return held(event.ModelPause("auth")) }, effects{}},
		"cannot be read":     {func() *projections.State { return held(event.PauseUnread) }, effects{}},
		"completed":          {over, effects{}},
	}
	forges := map[string]policy.Grammar{"GitHub": {Slash: true, Bot: "agent-bot"}, "GitLab": {Bot: "agent-bot"}, "off": {Off: true, Slash: true, Bot: "agent-bot"}}
	for _, name := range []policy.CommandName{policy.CommandApprove, policy.CommandStop, policy.CommandPause, policy.CommandResume, policy.CommandBudget, policy.CommandRetry, policy.CommandStatus} {
		for _, form := range []string{"/%s", "@agent-bot %s", "agent %s", "please do not %s", "> /%s"} {
			for forgeName, g := range forges {
				for who, p := range people() {
					for stateName, st := range states {
						text := fmt.Sprintf(form, name)
						if name == policy.CommandBudget {
							text += " +500"
						}
						read := form == "@agent-bot %s" || form == "agent %s" || form == "/%s" && g.Slash
						want := nothing
						if read && !g.Off && p.counts {
							want = st.want[name]
						}
						if got := effect(t, st.state(), text, g, p.change); got != want {
							t.Errorf("%s, %s, by %s, %s: %q leads to %q, want %q", forgeName, stateName, who, name, text, got, want)
						}
					}
				}
			}
		}
	}
}

// effect is what a comment leads to.
func effect(t *testing.T, s *projections.State, text string, g policy.Grammar, change func(*policy.Answer)) string {
	t.Helper()
	a := policy.Answer{ID: "51", Author: forge.Account{Login: "bob"}, New: true, Ordered: true}
	a.Commands, a.Alone = policy.Commands(text, g)
	change(&a)
	var body event.Body
	if s.Status == projections.Running {
		body, _ = policy.Commanded(s, []policy.Answer{a})
	} else {
		body, _, _ = wake(t, s, policy.Facts{Now: now, Comments: &[]policy.Answer{a}, Commands: !g.Off})
	}
	switch b := body.(type) {
	case nil:
		return ""
	case *event.PauseRequested:
		return said("pause", b.By, b.Actor, b.Comment)
	case *event.StopRequested:
		return said("stop", b.By, b.Actor, b.Comment)
	case *event.ResumeRequested:
		what := "resume"
		if b.Tree != "" {
			what += " " + b.Tree
		}
		if b.Add != 0 {
			what += fmt.Sprintf(" +%g", b.Add)
		}
		return said(what, b.By, b.Actor, b.Comment)
	}
	return fmt.Sprintf("%T", body)
}

// said is an effect whose event says who asked for it, and where.
func said(what, by, actor, comment string) string {
	if by != "comment" || actor != "bob" || comment != "51" {
		return what + " without its facts"
	}
	return what
}

func working() *projections.State {
	s := projections.NewState()
	s.Status, s.Commanded = projections.Running, "50"
	return s
}

func over() *projections.State {
	s := projections.NewState()
	s.Status = projections.Completed
	return s
}

// A stop counts before all else, and who nobody asked about is asked.
func TestSeveralCommands(t *testing.T) {
	yes := true
	g := policy.Grammar{Slash: true}
	comment := func(id, text string, may *bool) policy.Answer {
		a := policy.Answer{ID: id, Author: forge.Account{Login: "bob"}, New: true, Ordered: true, MayWrite: may}
		a.Commands, a.Alone = policy.Commands(text, g)
		return a
	}
	both := []policy.Answer{comment("51", "/resume", &yes), comment("52", "/stop", &yes)}
	if body, _, _ := wake(t, held(event.PauseOnRequest), policy.Facts{Now: now, Commands: true, Comments: &both}); body == nil || body.Type() != (*event.StopRequested)(nil).Type() {
		t.Errorf("paused: %+v", body)
	}
	both = []policy.Answer{comment("51", "/pause", &yes), comment("52", "/stop", &yes)}
	if body, _ := policy.Commanded(working(), both); body == nil || body.Type() != (*event.StopRequested)(nil).Type() {
		t.Errorf("running: %+v", body)
	}
	if _, need := policy.Commanded(working(), []policy.Answer{comment("51", "/pause", nil)}); need != policy.Permission {
		t.Errorf("need %d", need)
	}
	if _, _, need := wake(t, held(event.PauseOnRequest), policy.Facts{Now: now, Commands: true}); need != policy.Comments {
		t.Errorf("need %d", need)
	}
	if _, _, need := wake(t, held(event.PauseOnRequest), policy.Facts{Now: now}); need != policy.Nothing {
		t.Errorf("comments are read although commands are off: need %d", need)
	}
}
