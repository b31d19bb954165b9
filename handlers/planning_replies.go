package handlers

import (
	"fmt"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/handlers/prompt"
	"agent/handlers/reply"
	"agent/handlers/reply/shapes"
	"agent/projections"
)

// maxAsked is how many replies to a phase may be unusable before the work goes
// on without its result, where it can.
const maxAsked = 2

// maxTurns bounds the model calls of one action.
const maxTurns = 10

// maxErrors is how many errors in a row of one tool end an action.
const maxErrors = 3

// recordReply makes an event of the latest reply to a phase or in an action.
func recordReply(s *projections.State) Effect {
	switch {
	case s.Work.Reply == nil:
		return nil
	case filesOpen(s):
		return answer(s)
	case s.Planning.Current >= 0:
		return recordAction(s)
	case s.Planning.Open && known(s):
		return recordPhase(s)
	}
	return nil
}

// known is false for a phase of a log that this version, or nobody, would write.
func known(s *projections.State) bool {
	phase := s.Planning.Phase
	return marks[phase] != nil && (phase != projections.Assumption || s.Planning.OpenNeed() != nil)
}

func recordAction(s *projections.State) Effect {
	if e := answer(s); e != nil {
		return e
	}
	said := reply.Parse(s)
	if unproven(s, said) {
		return Record{prompt.ToolNotCalled(s)}
	}
	if end := actionEnd(s, said); end != nil {
		return Record{end}
	}
	return nil
}

// actionEnd ends the current action when its tool has succeeded or the model
// says so. An action whose last call gave an error has failed, whatever is said.
func actionEnd(s *projections.State, said reply.Parsed) *event.ActionFinished {
	p, a := &s.Planning, s.Planning.Action()
	end := &event.ActionFinished{Action: a.ID, Status: "success", Detail: format.First(format.OneLine(said.Comment), 500)}
	switch {
	case p.Fault != "" && (s.Work.Errors >= maxErrors || len(said.Calls) == 0):
		end.Status, end.Detail = "failed", format.First(format.OneLine(p.Fault), 500)
	case p.Fault == "" && len(said.Calls) == 0 && !p.Hit && end.Detail == "":
		end.Status, end.Detail = "failed", "its tool did not run, and the model does not say what was done instead"
	case p.Fault == "" && (p.Hit || len(said.Calls) == 0):
	case p.Turns >= maxTurns:
		end.Status, end.Detail = "failed", fmt.Sprintf("no end after %d replies", p.Turns)
	default:
		return nil
	}
	return end
}

// unproven is true for the first reply that ends an action whose tool did not run:
// the model is asked what was done instead, unless it says so of other tools that ran.
func unproven(s *projections.State, said reply.Parsed) bool {
	p := &s.Planning
	return p.Action().Tool != "" && p.Fault == "" && !p.Hit && len(said.Calls) == 0 && (!p.Ran || said.Comment == "") &&
		s.Steps[projections.MessageStep(event.NotCalledMessage)] < p.Started
}

func recordPhase(s *projections.State) Effect {
	r := s.Work.Reply
	if calls := phaseCalls(s); s.Work.Answered < len(calls) {
		return Act{Intent: callIntent(s, calls[s.Work.Answered])}
	} else if len(calls) > 0 {
		return nil // the model goes on with their results
	}
	phase, text := s.Planning.Phase, r.Text.View()
	mark, problem := marks[phase](s, text)
	switch {
	case problem == "":
		return Record{mark}
	case r.Finish == "length":
		problem = "Your reply was cut because it was too long. Reply again, shorter."
	}
	if instead := fallback(s); instead != nil {
		return Record{instead}
	}
	return Record{prompt.Correction(problem)}
}

// phaseCalls are the calls of the reply. Those that may not be made are answered
// with a refusal, because no call may stay without a result.
func phaseCalls(s *projections.State) []reply.Call {
	if len(s.Work.Reply.Calls) > 0 || mayCall(s, 1) {
		return reply.Parse(s).Calls
	}
	return nil
}

// marks read the reply to a phase. problem is for the model; empty if the reply can be used.
var marks = map[string]func(s *projections.State, text string) (mark event.Body, problem string){
	projections.Understanding: func(_ *projections.State, text string) (event.Body, string) {
		u, problem := shapes.Understanding(text)
		return &event.UnderstandingMade{Understanding: u}, problem
	},
	projections.Information: func(_ *projections.State, text string) (event.Body, string) {
		n, problem := shapes.Needs(text)
		return &event.InformationPlanned{Needs: n}, problem
	},
	projections.Assumption: func(s *projections.State, text string) (event.Body, string) {
		a, problem := shapes.Assumption(text)
		a.ID = s.Planning.OpenNeed().ID
		return &event.AssumptionMade{Assumption: a}, problem
	},
	projections.PlanPhase: func(s *projections.State, text string) (event.Body, string) {
		plan, problem := shapes.Plan(text)
		plan.Actions.Actions = named(s, plan.Actions.Actions)
		return &event.PlanMade{Plan: plan}, problem
	},
	projections.Reflection: func(s *projections.State, text string) (event.Body, string) {
		r, revision, said, problem := shapes.Reflection(text)
		return reflected(s, r, revision, said), problem
	},
	projections.Revision: func(s *projections.State, text string) (event.Body, string) {
		revision, problem := shapes.Revision(text)
		revision.Actions.Actions = named(s, revision.Actions.Actions)
		return &event.PlanRevised{Trigger: reviseTrigger(s), Revision: revision}, problem
	},
	projections.Replanning: func(s *projections.State, text string) (event.Body, string) {
		d, problem := shapes.Replan(text)
		d.Additional = fresh(s, d.Additional)
		return decide(s, d), problem
	},
	projections.Verification: func(s *projections.State, text string) (event.Body, string) {
		v, said, problem := shapes.Verification(text)
		return verified(s, v, said), problem
	},
}

// fallback is what stands for the reply to the open phase once enough of them
// could not be used; nil where there is nothing.
func fallback(s *projections.State) event.Body {
	p := &s.Planning
	if !s.Planned() || !p.Open || p.Current >= 0 || !known(s) || fallbacks[p.Phase] == nil || s.Work.Corrections < maxAsked-1 {
		return nil
	}
	return fallbacks[p.Phase](s)
}

// fallbacks stand for replies that cannot be used. There is none for a plan.
var fallbacks = map[string]func(*projections.State) event.Body{
	projections.Understanding: func(s *projections.State) event.Body {
		goal := format.First(s.Task.Title+"\n"+s.Task.Body.View(), 200)
		return &event.UnderstandingMade{Fallback: true, Understanding: event.Understanding{TaskType: "unknown", Goal: goal, Confidence: 0.3}}
	},
	projections.Information: func(*projections.State) event.Body {
		return &event.InformationPlanned{Fallback: true, Needs: event.Needs{Skip: true}}
	},
	projections.Assumption: func(s *projections.State) event.Body {
		return collected(s, s.Planning.OpenNeed(), "gap")
	},
	projections.Reflection: func(*projections.State) event.Body { return &event.ReflectionMade{Fallback: true} },
	projections.Revision: func(s *projections.State) event.Body { // what is left stays as it is
		return &event.PlanRevised{Trigger: reviseTrigger(s), Fallback: true, Revision: event.Revision{Actions: event.ActionPlan{Actions: openActions(s)}}}
	},
	projections.Replanning: func(s *projections.State) event.Body {
		return &event.ReplanDecided{Phase: decidedAfter(s), Fallback: true}
	},
	projections.Verification: func(s *projections.State) event.Body {
		return &event.VerificationMade{Round: s.Planning.Rounds + 1, Fallback: true}
	},
}

func reviseTrigger(s *projections.State) string {
	if s.Planning.Revise == "" {
		return "comments"
	}
	return s.Planning.Revise
}

func openActions(s *projections.State) (open []event.Action) {
	for _, a := range s.Planning.Actions {
		if a.Status == "" {
			open = append(open, a.Action)
		}
	}
	return open
}

// reflected applies the limits of revisions. What people asked for has none:
// they do not ask without end.
func reflected(s *projections.State, r event.Reflection, revision *event.Revision, said string) *event.ReflectionMade {
	c, n := s.Config.Planning, s.Planning.Counts
	made := &event.ReflectionMade{Reflection: r, Comment: said}
	switch {
	case !r.RevisionNeeded:
	case !s.Planning.Reflect && n.Revisions >= c.MaxRevisions:
		made.Override = "max_revisions"
	case !s.Planning.Reflect && n.Reflected >= c.Replan.MaxReflected:
		made.Override = "max_plan_revisions"
	case revision != nil:
		made.Revision = *revision
		made.Revision.Actions.Actions = named(s, made.Revision.Actions.Actions)
	}
	return made
}

func verified(s *projections.State, v event.Verification, said string) *event.VerificationMade {
	v.Additional = fresh(s, v.Additional)
	if v.Passed && (v.MoreNeeded && len(v.Additional) > 0) {
		v.Passed = false // the two contradict each other
	}
	if v.Passed {
		v.Additional = nil
	}
	return &event.VerificationMade{Round: s.Planning.Rounds + 1, Result: v, Comment: said}
}

// named gives the tools of actions their full names.
func named(s *projections.State, actions []event.Action) []event.Action {
	names := reply.NamesOf(s)
	for i, a := range actions {
		if server, tool := names.Resolve(a.Tool); server != "" {
			actions[i].Tool = server + "/" + tool
		}
	}
	return actions
}

// fresh gives actions ids that no action of the plan has: they are new work.
func fresh(s *projections.State, actions []event.Action) []event.Action {
	taken := map[string]bool{}
	for _, a := range s.Planning.Actions {
		taken[a.ID] = true
	}
	for i := range actions {
		id := actions[i].ID
		for n := 2; taken[actions[i].ID]; n++ {
			actions[i].ID = fmt.Sprintf("%s-%d", id, n)
		}
		taken[actions[i].ID] = true
	}
	return named(s, actions)
}
