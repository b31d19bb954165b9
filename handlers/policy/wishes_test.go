package policy_test

import (
	"fmt"
	"maps"
	"slices"
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
	all := effects{policy.CommandStop: "stop", policy.CommandRetry: "retry", policy.CommandBudget: "tokens +500", policy.CommandStatus: "status"}
	and := func(name policy.CommandName, what string) effects {
		more := maps.Clone(all)
		more[name] = what
		return more
	}
	pausedFor := func(reason event.PauseReason) func() *projections.State {
		return func() *projections.State { return begunBefore(held(reason)) }
	}
	operator := effects{policy.CommandRetry: "retry", policy.CommandBudget: "tokens +500", policy.CommandStatus: "status"}
	states := map[string]struct {
		state func() *projections.State
		want  effects
	}{
		"running":         {working, and(policy.CommandPause, "pause")},
		"without a limit": {func() *projections.State { s := working(); s.Config.Limits = event.Limits{}; return s }, effects{policy.CommandPause: "pause", policy.CommandStop: "stop", policy.CommandRetry: "retry", policy.CommandBudget: " +500", policy.CommandStatus: "status"}},
		"near its cost": {func() *projections.State {
			s := working()
			s.Config.Limits.MaxCostUSD, s.Usage.CostUSD = 5, 4
			return s
		}, effects{policy.CommandPause: "pause", policy.CommandStop: "stop", policy.CommandRetry: "retry", policy.CommandBudget: "cost +500", policy.CommandStatus: "status"}},
		"about to stop":      {func() *projections.State { s := working(); s.Stop = &projections.Request{}; return s }, effects{}},
		"paused on request":  {pausedFor(event.PauseOnRequest), and(policy.CommandResume, "resume")},
		"paused at a limit":  {pausedFor(event.PauseLimit), effects{policy.CommandResume: "resume", policy.CommandApprove: "resume", policy.CommandStop: "stop", policy.CommandBudget: "resume +500", policy.CommandRetry: "retry", policy.CommandStatus: "status"}},
		"change to approve":  {pausedFor(event.PauseChange), effects{policy.CommandResume: "resume tree1", policy.CommandApprove: "resume tree1", policy.CommandStop: "stop", policy.CommandBudget: "tokens +500", policy.CommandRetry: "retry", policy.CommandStatus: "status"}},
		"files were changed": {pausedFor(event.PauseFilesChanged), and(policy.CommandResume, "resume")},
		"key was refused":    {pausedFor(event.ModelPause("auth")), operator},
		"cannot be read":     {pausedFor(event.PauseUnread), operator},
		"awaits an answer":   {func() *projections.State { return begunBefore(awaiting()) }, all},
		"completed":          {over, effects{policy.CommandRetry: "retry", policy.CommandStatus: "status"}},
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
	switch {
	case s.Status == projections.Running:
		body, _ = policy.Commanded(s, []policy.Answer{a})
	case s.Status.Ended():
		retry, reports, _ := policy.AfterEnd(s, []policy.Answer{a}, "")
		if retry != nil {
			return "retry"
		}
		return map[int]string{1: "status"}[len(reports)]
	default:
		body, _, _ = wake(t, s, policy.Facts{Now: now, Comments: &[]policy.Answer{a}, Commands: !g.Off, Task: &policy.Item{State: "open"}})
	}
	switch b := body.(type) {
	case nil:
		return ""
	case *event.PauseRequested:
		return said("pause", b.By, b.Actor, b.Comment)
	case *event.StopRequested:
		if b.By == "retry" {
			return said("retry", "comment", b.Actor, b.Comment)
		}
		return said("stop", b.By, b.Actor, b.Comment)
	case *event.StatusRequested:
		return said("status", b.By, b.Actor, b.Comment)
	case *event.LimitRaised:
		return said(fmt.Sprintf("%s +%g", b.Limit, b.Add), b.By, b.Actor, b.Comment)
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
	s.Status = projections.Running
	return begunBefore(s)
}

func over() *projections.State {
	s := begunBefore(projections.NewState())
	s.Status = projections.Completed
	return s
}

// begunBefore lets comments up to number 50 be done with, and the task have a limit.
func begunBefore(s *projections.State) *projections.State {
	s.Obeyed = projections.Obeyed{Begun: "50", Control: "50", Status: "50", Budget: "50"}
	if s.Config == nil {
		s.Config = &event.ConfigPinned{}
	}
	s.Config.Limits.MaxTokens = 1000
	return s
}

// TestCommandsThatWait: a command is not lost because a later one of another kind was seen first, and each counts once.
// Where several ask for the status each is answered, the oldest first.
func TestCommandsThatWait(t *testing.T) {
	comment := func(id, text string) policy.Answer {
		a := policy.Answer{ID: id, Author: forge.Account{Login: "bob"}, New: true, Ordered: true, MayWrite: new(true)}
		a.Commands, a.Alone = policy.Commands(text, policy.Grammar{Slash: true})
		return a
	}
	answers := []policy.Answer{comment("51", "/status"), comment("52", "/budget +5\n/status"), comment("53", "/budget +6\n/budget +1"), comment("54", "/pause"), comment("55", "/budget +0")}
	s := working()
	var got []string
	for range 10 {
		body, _ := policy.Commanded(s, answers)
		if body == nil {
			break
		}
		s.Seq++
		s.Apply(event.Event{Seq: s.Seq, Body: body})
		switch b := body.(type) {
		case *event.StatusRequested:
			got = append(got, "status "+b.Comment)
		case *event.LimitRaised:
			got = append(got, fmt.Sprintf("%s +%g %s", b.Limit, b.Add, b.Comment))
		case *event.PauseRequested:
			got = append(got, "pause "+b.Comment)
		}
	}
	if want := []string{"tokens +5 52", "tokens +7 53", "status 51", "status 52", "pause 54"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if s.Grants["tokens"] != 12 || s.Asked != 2 {
		t.Errorf("grants %v, %d reports", s.Grants, s.Asked)
	}
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
