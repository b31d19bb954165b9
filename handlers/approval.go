package handlers

import (
	"slices"
	"strings"

	"agent/eventlog/event"
	"agent/handlers/tell"
	"agent/projections"
)

// A plan that needs an approval is carried out once a person has approved it, and as
// far as they have: see projections.Covers. Until then no action begins, and only
// read-only tools collect information. What the plan does not name needs another
// approval before it is published: see approvalReasons.

// guardsPlan reports whether plans of this context may need an approval.
func guardsPlan(s *projections.State) bool { return s.Planned() && s.Config.Planning.Approval != "" }

// planNeedsApproval reports whether the plan, as it is now, waits for a person. Whoever
// was asked once is asked about each change that goes beyond what was approved.
func planNeedsApproval(s *projections.State) bool {
	c := s.Config.Planning
	switch {
	case !guardsPlan(s):
		return false
	case c.Approval == "auto" && s.Planning.Posts == 0 && s.Task != nil && s.Task.Private && len(s.Planning.Actions) <= c.ApprovalActions && !touchesProtected(s):
		return false
	}
	return !s.Covers(c.ApprovalActions)
}

// touchesProtected reports whether the plan names a protected path, as a file or in a command.
func touchesProtected(s *projections.State) bool {
	r := s.Reach(s.Planning.Actions)
	words := r.Files
	for _, c := range r.Commands {
		words = append(words, strings.FieldsFunc(c, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`=<>|&;(){}[],:", r) })...)
	}
	return slices.ContainsFunc(words, func(w string) bool { return protected(strings.TrimPrefix(w, "./"), s.Config.Change.Protected) })
}

// readsAtResume reports whether comments are read when the work goes on: where plans are
// approved they are the answer.
func readsAtResume(s *projections.State) bool { return s.Config.Comments.Enabled || guardsPlan(s) }

// askApproval shows the plan, and pauses. The label comes last: one that somebody sets
// again is then later than the comment.
func askApproval(s *projections.State) Effect {
	changed := s.Planning.Seq
	p := pauses(event.PausePlan, "", event.Until{Kind: "person"}, max(changed, s.Since))
	switch {
	case s.Planning.Posted.Seq > changed:
	case !s.Done(projections.FetchedForPlan, changed):
		return Read{Want: WantComments, Reason: event.FetchPlan}
	default:
		if e := lastProgress(s, string(projections.Paused), p.Since); e != nil {
			return e
		}
		return Act{Intent: tell.Plan(s)}
	}
	if e := keepPaused(s, p); e != nil {
		return e
	}
	if !s.Done(projections.LabelsPaused, p.Since) {
		return Act{Intent: pauseLabels(s)}
	}
	return Record{&event.ContextPaused{Reason: p.Reason, Until: p.Until}}
}

// report tells who asked how far the work is.
func report(s *projections.State) Effect {
	if s.Asked == 0 || s.Simulates() {
		return nil
	}
	return Act{Intent: tell.Status(s, ownEnding(s))}
}

// Status is what people are told who ask about a context that has ended.
func Status(s *projections.State) string { return tell.Status(s, ownEnding(s)).Body.Inline }

// react answers commands in comments.
func react(s *projections.State) Effect {
	if len(s.Reactions) == 0 || s.Simulates() {
		return nil
	}
	r := s.Reactions[0]
	return Act{Intent: &event.ReactionRequested{Comment: r.Comment, Reaction: string(r.Emoji)}}
}
