package handlers

import (
	"agent/eventlog/event"
	"agent/handlers/tell"
	"agent/projections"
)

// Ways to keep unfinished work: the values of change_requests.unfinished.
const (
	keepPush  = "push"
	keepPatch = "patch"
	keepNone  = "none"
)

// keep takes the steps that keep the work of an end that is not the model's own:
// it failed, was stopped, or reached a limit.
func keep(s *projections.State, v *projections.Ending) Effect {
	switch {
	case len(s.Work.Facts) == 0 && !s.Continues(), answered(v), s.Config.Change.Unfinished == keepNone:
		return nil
	case !s.Done(projections.StepMeasured, v.Since):
		return Read{Want: WantMeasure}
	case s.Publishing.Measured.Error == "" && s.Publishing.Fresh():
		return Act{Intent: keepIntent(s, v)}
	}
	return nil
}

// keepPaused makes a patch of the work before it pauses until a person acts: who that
// is may not be able to look into the working copy.
func keepPaused(s *projections.State, p *projections.Pausing) Effect {
	worked := len(s.Work.Facts) > 0 || s.Continues()
	if p.Until.Kind != "person" || !publishes(s) || !worked || s.Config.Change.Unfinished == keepNone || s.Done(projections.StepKept, p.Since) {
		return nil
	}
	return Act{Intent: &event.ChangeRequested{Base: s.Workspace.Base, Title: tell.ChangeTitle(s), Unfinished: true, Paused: true}}
}

// answered is true for ends after work that was published: its author is content,
// or nobody answered.
func answered(v *projections.Ending) bool {
	return v.Reason == event.EndKeyword || v.Reason == event.EndTimeout
}

// keepIntent pushes to the branch of the context, or makes a patch. It never
// touches the branch of somebody's request.
func keepIntent(s *projections.State, v *projections.Ending) *event.ChangeRequested {
	c := &event.ChangeRequested{Base: s.Workspace.Base, Tree: s.Publishing.Measured.Tree, Title: tell.ChangeTitle(s), Unfinished: true}
	if keepsBy(s, v) == keepPush {
		c.Branch = branchName(s)
	}
	return c
}

// keepsBy says how the work is kept. Whoever stops the work does not wish to see
// it pushed.
func keepsBy(s *projections.State, v *projections.Ending) string {
	rule := s.Config.Change.Unfinished
	opened := s.Publishing.Opened
	switch {
	case opened != nil && opened.Number > 0: // the branch is that of a request, which is complete without it
		return keepPatch
	case v.Status == projections.Stopped && v.Reason != "expired", s.Task.Fork, s.Task.Confidential, s.Task.NoPush:
		return keepPatch
	case s.Publishing.Measured.Tree != s.Publishing.Approved && len(approvalReasons(s)) > 0:
		return keepPatch
	case rule == keepPush, rule == keepPatch:
		return rule
	case s.Task.Private:
		return keepPush
	}
	return keepPatch
}
