package projections

import (
	"slices"

	"agent/eventlog/event"
)

// applyPlanning folds an event; open is the intent that it is the outcome of, if it is one.
func (s *State) applyPlanning(e event.Event, open *Open) {
	p, before := &s.Planning, s.Planning.Seq
	p.Seq = e.Seq
	switch b := e.Body.(type) {
	case *event.PhaseEntered:
		p.Phase, p.Entered, p.Open, p.Turns = b.Phase, e.Seq, true, 0
		if Stage(p.Phase) == PrePlanning {
			p.Sub = p.Phase
		}
	case *event.UnderstandingMade:
		p.Understanding = &b.Understanding
		p.closed(s, Understanding)
	case *event.InformationPlanned:
		p.Needs = &b.Needs
		p.closed(s, "")
	case *event.InformationCollected:
		p.collected(b)
	case *event.AssumptionMade:
		p.assumed(b)
	case *event.PlanMade:
		p.planned(b)
		p.closed(s, PlanPhase)
	case *event.PlanRevised:
		p.revised(b)
		p.closed(s, "")
	case *event.ActionStarted:
		p.started(e, b)
	case *event.ActionFinished:
		p.finished(b)
	case *event.ReflectionMade:
		p.reflected(b)
		p.closed(s, Reflection)
	case *event.VerificationMade:
		p.verified(b, s.Config)
		p.closed(s, "")
	case *event.ReplanDecided:
		p.decided(b)
		p.closed(s, "")
	default:
		p.Seq = before
		p.outside(e, open)
	}
}

// ApplyPlan folds what an event means for the plan, and nothing else. It is for
// who reads the plan of another context.
func (s *State) ApplyPlan(e event.Event) {
	if b, ok := e.Body.(*event.ConfigPinned); ok {
		s.pin(b)
	}
	s.applyPlanning(e, nil)
}

// closed ends the open phase. review names the phase after which a decision may be due.
func (p *Planning) closed(s *State, review string) {
	p.Open = false
	if s.Config != nil && s.Config.Planning.Replan.Enabled && s.Config.Planning.Replan.EveryPhase {
		p.Review = review
	}
}

func (p *Planning) collected(b *event.InformationCollected) {
	f := p.found(b.ID)
	f.Status, f.Summary, f.Tries = b.Status, b.Summary, b.Tries
	p.Open = p.Open && p.Phase != Assumption // a gap also ends an attempt to assume
}

func (p *Planning) found(id string) *Found {
	if p.Found[id] == nil {
		p.Found[id] = &Found{}
	}
	return p.Found[id]
}

func (p *Planning) assumed(b *event.AssumptionMade) {
	f := p.found(b.Assumption.ID)
	f.Status, f.Assumption = "assumed", &b.Assumption
	p.Open = p.Open && p.Phase != Assumption
}

func (p *Planning) planned(b *event.PlanMade) {
	p.Plan, p.Actions, p.Current = &b.Plan, nil, -1
	for _, a := range b.Plan.Actions.Actions {
		p.Actions = append(p.Actions, Action{Action: a})
	}
	p.Trouble, p.Revise, p.Verified, p.Since = nil, "", false, 0
}

// revised replaces what is left to do. Finished actions keep their place and
// their marks; a failed one that is in the new list is tried again.
func (p *Planning) revised(b *event.PlanRevised) {
	kept := slices.DeleteFunc(slices.Clone(p.Actions), func(a Action) bool { return a.Status == "" })
	for _, a := range b.Revision.Actions.Actions {
		i := slices.IndexFunc(kept, func(k Action) bool { return k.ID == a.ID })
		switch {
		case i < 0:
			kept = append(kept, Action{Action: a})
		case kept[i].Status == "failed":
			again := Action{Action: a, Retries: kept[i].Retries, Added: kept[i].Added}
			kept = append(slices.Delete(kept, i, i+1), again)
		}
	}
	p.Actions, p.Current, p.Verified = kept, -1, false
	p.Reflect = p.Reflect && p.Revise != "" // else it was people who asked for this one
	p.Trouble, p.Revise, p.Proposed = nil, "", event.Revision{}
	switch b.Trigger {
	case Reflection:
		p.Counts.Reflected++
		p.Counts.Revisions++
	case "plan_revision":
		p.Counts.Revisions++
	}
}

func (p *Planning) started(e event.Event, b *event.ActionStarted) {
	p.Started = e.Seq
	p.Current = slices.IndexFunc(p.Actions, func(a Action) bool { return a.ID == b.Action })
	p.Begun++
	p.Turns, p.Hit, p.Ran, p.Fault = 0, false, false, ""
}

func (p *Planning) finished(b *event.ActionFinished) {
	if a := p.Action(); a != nil {
		a.Status, a.Detail = b.Status, b.Detail
		if b.Status == "failed" {
			p.Trouble = &Trouble{Action: p.Current}
		}
	}
	p.Current = -1
	p.Since++
}

func (p *Planning) reflected(b *event.ReflectionMade) {
	trigger := Reflection
	if p.Reflect {
		trigger = "comments"
	}
	p.Since, p.Reflect = 0, false
	if p.Trouble != nil {
		p.Trouble.Reflected = true
	}
	if b.Reflection.RevisionNeeded && b.Override == "" {
		p.Revise, p.Proposed = trigger, b.Revision
	}
	p.say(b.Comment)
}

func (p *Planning) say(words string) {
	if words != "" {
		p.Words = words
	}
}

func (p *Planning) verified(b *event.VerificationMade, c *event.ConfigPinned) {
	p.Rounds = b.Round
	p.Verified = b.Result.Passed
	p.say(b.Comment)
	switch more := p.append(b.Result.Additional); {
	case b.Result.Passed || c == nil || p.Rounds >= c.Planning.VerifyRounds:
	case !more:
		p.Trouble = &Trouble{Action: -1, Reflected: true}
	}
}

// append adds actions that are still to be done, and tells whether there were any.
func (p *Planning) append(more []event.Action) bool {
	for _, a := range more {
		p.Actions = append(p.Actions, Action{Action: a, Added: true})
	}
	return len(more) > 0
}

func (p *Planning) decided(b *event.ReplanDecided) {
	d, trouble := b.Decision, p.Trouble
	p.Trouble, p.Review = nil, ""
	if !b.Executed {
		p.Lost = trouble != nil && (d.ErrorClass == "fatal" || trouble.Action >= 0 && forGood(b))
		return
	}
	p.Counts.Total++
	p.Counts.Triggers[d.Target+":"+b.Carried]++
	if p.append(d.Additional) {
		p.Verified = false
	}
	switch b.Carried {
	case "clarification_request":
		p.Counts.Clarifications++
		p.Questions = b.Questions
	case "retry":
		p.retry(trouble)
	case "partial_replan":
		p.Counts.Partial++
		p.Revise = b.Carried
	case "action_regeneration":
		p.Counts.Regenerations++
		p.Revise = b.Carried
	case "plan_revision":
		p.Revise = b.Carried
	case "task_redecomposition":
		p.Counts.Decompositions++
		p.Plan = nil
	case "goal_revision", "full_replan":
		p.Counts.Decompositions++
		p.Plan, p.Understanding = nil, nil
	}
}

// forGood is true for a decision that leaves a failed action as it is: no limit
// leaves another try, or the model says that the error will not pass. A model that
// was not sure enough, or says nothing usable, decides nothing.
func forGood(b *event.ReplanDecided) bool {
	return b.Override != "" && b.Override != "confidence" || b.Decision.ErrorClass == "persistent"
}

func (p *Planning) retry(t *Trouble) {
	p.Counts.Retries++
	if t != nil && t.Action >= 0 && t.Action < len(p.Actions) {
		p.Actions[t.Action].Status = ""
		p.Actions[t.Action].Retries++
	}
}

// outside takes what events of other kinds mean for the plan.
func (p *Planning) outside(e event.Event, open *Open) {
	switch b := e.Body.(type) {
	case *event.MessageAdded:
		p.told(b)
	case *event.LLMReplied:
		p.turn(open)
	case *event.ToolReplied:
		text := b.Content.View()
		if len(b.Sources) > 0 {
			text = "(see the answer of the tool)" // no copy, so that it can be forgotten
		}
		p.tool(open, !b.IsError, text)
	case *event.ToolFailed:
		p.tool(open, false, b.Message)
	case *event.CommentPosted:
		if b.Simulated != "" {
			b = &event.CommentPosted{} // nobody can answer it
		}
		p.posted(open, e.Seq, b.ID)
	case *event.CommentFailed:
		p.posted(open, e.Seq, "")
	case *event.ContextAwaiting:
		if b.Reason == Clarification {
			p.Asked = e.Seq
		} else {
			p.roundOver()
		}
	case *event.ContextResumed:
		if p.Asked > 0 { // with an answer, or without one in time
			p.Questions, p.Asked = nil, 0
			p.Reflect = p.Plan != nil
		}
	}
}

// roundOver ends a round. Whoever answers wants more, and a failure of this round is
// none of the next one's.
func (p *Planning) roundOver() {
	p.Reflect = p.Plan != nil
	p.Lost, p.Trouble, p.Open = false, nil, false
	if a := p.Action(); a != nil {
		a.Status, p.Current = "failed", -1
	}
}

// turn counts a reply, unless it is one beside the conversation: a summary.
func (p *Planning) turn(open *Open) {
	if open == nil {
		return
	}
	if call, ok := open.Body.(*event.LLMRequested); ok && !call.OutsideConversation() {
		p.Turns++
	}
}

// told looks at the plan again when people say something new.
func (p *Planning) told(b *event.MessageAdded) {
	if b.Purpose != event.CommentsMessage && b.Purpose != event.EditedMessage {
		return
	}
	p.Reflect = p.Plan != nil
	p.Rounds = 0
}

// tool takes the outcome of a call. A call that was interrupted is neither a
// success nor an error: the model looks for itself.
func (p *Planning) tool(open *Open, ok bool, text string) {
	if open == nil {
		return
	}
	call, isTool := open.Body.(*event.ToolRequested)
	a := p.Action()
	switch {
	case !isTool:
	case call.Need != "":
		f := p.found(call.Need)
		f.Tries++
		f.OK, f.Summary = ok, text
	case a == nil:
	case !ok:
		p.Fault = call.Name() + ": " + text
	default:
		p.Fault, p.Ran = "", true
		p.Hit = p.Hit || call.Server+"/"+call.Tool == a.Tool
	}
}
