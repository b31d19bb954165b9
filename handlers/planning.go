package handlers

import (
	"slices"

	"agent/eventlog/event"
	"agent/handlers/prompt"
	"agent/handlers/reply/shapes"
	"agent/llm"
	"agent/projections"
)

// In planning mode the work is done by a plan. Where it stands is folded from
// the log (projections.Planning), and step asks it from the top what comes next:
//
//	understanding → information → collecting, assuming → planning →
//	actions, with reflections, revisions and replan decisions between them →
//	verification → done
//
// A phase is phase.entered, a message that says what to reply, a model call, and
// the mark that the reply becomes. An action is a turn of the conversation as in
// simple mode, bounded by the action's end.

// step takes the next step of a plan.
func step(s *projections.State) Effect {
	if next := due(s); next != nil {
		return next(s)
	}
	return ask(s, projections.Verification)
}

// due is the step that comes next, nil if nothing of the plan is left to do.
func due(s *projections.State) func(*projections.State) Effect {
	if next := beforeActions(s); next != nil {
		return next
	}
	next := afterPlan(s)
	if next != nil && planNeedsApproval(s) {
		return askApproval
	}
	return next
}

// beforeActions is the step that comes before another action begins: the plan is made,
// or changed.
func beforeActions(s *projections.State) func(*projections.State) Effect {
	p, c := &s.Planning, s.Config.Planning
	switch {
	case filesOpen(s):
		return callModel
	case p.Current >= 0: // it ends first, whatever a configuration pinned meanwhile asks for
		return proceed
	case p.Questions != nil:
		return askPeople
	case p.Review != "":
		return asks(projections.Replanning)
	case c.Understand && p.Understanding == nil:
		return asks(projections.Understanding)
	case c.Collect && p.Needs == nil:
		return asks(projections.Information)
	case s.Planning.OpenNeed() != nil:
		return collect
	case p.Plan == nil:
		return asks(projections.PlanPhase)
	case reflectionDue(s):
		return asks(projections.Reflection)
	case revisionDue(s):
		return revise
	case p.Trouble != nil && c.Replan.Enabled:
		return asks(projections.Replanning)
	}
	return nil
}

// afterPlan is the step that carries the plan out.
func afterPlan(s *projections.State) func(*projections.State) Effect {
	p, c := &s.Planning, s.Config.Planning
	switch {
	case nextAction(s) >= 0:
		return begin
	case !p.Verified && p.Rounds < c.VerifyRounds:
		return asks(projections.Verification)
	}
	return nil
}

func asks(phase string) func(*projections.State) Effect {
	return func(s *projections.State) Effect { return ask(s, phase) }
}

// planDone reports whether nothing of the plan is left to do, and the model knows
// all that people wrote.
func planDone(s *projections.State) bool { return due(s) == nil && !unread(s) }

// unread is true for what people wrote and the model has not seen.
func unread(s *projections.State) bool {
	return len(s.Comments.Pending) > 0 || s.UnreadEdit()
}

// reflectionDue is true after some actions while more are to come, after a
// failure, and when people wrote something.
func reflectionDue(s *projections.State) bool {
	p, every := &s.Planning, s.Config.Planning.ReflectEvery
	return every > 0 && (p.Reflect || p.Trouble != nil && !p.Trouble.Reflected || p.Since >= every && nextAction(s) >= 0)
}

// revisionDue is true if the plan is to change. Without reflections what people
// wrote changes it at once.
func revisionDue(s *projections.State) bool {
	p := &s.Planning
	return p.Revise != "" || p.Reflect && s.Config.Planning.ReflectEvery == 0
}

// nextAction is the index of the action that may begin, or -1.
func nextAction(s *projections.State) int {
	if s.Planning.Begun >= s.Config.Planning.MaxActions {
		return -1
	}
	return s.Planning.Next()
}

// planEnding says how a plan ends, if it does. text is for people.
func planEnding(s *projections.State) *projections.Ending {
	p, c := &s.Planning, s.Config.Planning
	lost := p.Lost || p.Trouble != nil && p.Trouble.Action >= 0 && !c.Replan.Enabled && !reflectionDue(s) && !revisionDue(s)
	switch {
	case s.Work.Corrections >= maxCorrections:
		return givesUp(s, s.Work.ReplySeq)
	case lost && !c.ContinueOnError:
		return fails(event.EndActionFailed, latestFault(p), p.Seq)
	case planDone(s) && needsApproval(s):
		return nil // a person decides first, see pauseOf
	case planDone(s):
		return completes(doneReason(s), planSaid(s), planSince(s))
	}
	return nil
}

func latestFault(p *projections.Planning) string {
	for _, a := range slices.Backward(p.Actions) {
		if a.Status == "failed" {
			return a.ID + ": " + a.Detail
		}
	}
	return ""
}

// ask enters a phase, says what to reply, and calls the model.
func ask(s *projections.State, phase string) Effect {
	p := &s.Planning
	switch {
	case !p.Open || p.Phase != phase:
		return Record{&event.PhaseEntered{Phase: phase}}
	case s.Steps[projections.MessageStep(event.PhaseMessage)] < p.Entered:
		return Record{prompt.Phase(s, phase)}
	}
	return turn(s, phase, phaseRequest(s, phase))
}

func phaseRequest(s *projections.State, phase string) llm.Request {
	r := prompt.Request(s)
	if !mayCall(s, 0) {
		r.Kept, r.Tools, r.ToolWeight = r.Tools, nil, llm.Weight{}
		r.JSON, r.Schema = true, shapes.Schema(phase)
	}
	return r
}

// mayCall reports whether the reply after so many others in the open phase may
// call tools: in an action it may, and in a verification the first one, to look.
func mayCall(s *projections.State, replies int) bool {
	p := &s.Planning
	return !p.Open || p.Current >= 0 || p.Phase == projections.Verification && p.Turns <= replies
}

// begin starts the next action.
func begin(s *projections.State) Effect {
	if s.Planning.Phase != projections.Execution {
		return Record{&event.PhaseEntered{Phase: projections.Execution}}
	}
	return Record{&event.ActionStarted{Action: s.Planning.Actions[nextAction(s)].ID}}
}

// proceed says what the current action is, and calls the model.
func proceed(s *projections.State) Effect {
	if s.Steps[projections.MessageStep(event.ActionMessage)] < s.Planning.Started {
		return Record{prompt.Action(s)}
	}
	return callModel(s)
}

// revise takes the revision that came with a reflection, or asks for one.
func revise(s *projections.State) Effect {
	p := &s.Planning
	if len(p.Proposed.Actions.Actions) > 0 {
		return Record{&event.PlanRevised{Trigger: p.Revise, Revision: p.Proposed}}
	}
	return ask(s, projections.Revision)
}
