package policy

import (
	"agent/eventlog/event"
	"agent/projections"
)

// A plan that waits for an approval is answered by people who may write. A stop counts
// before all else. Else the latest word counts: an approval, or anything that is none,
// which revises the plan. A thumb up counts only on the comment of the newest plan, and
// where nobody wrote.

func waitsForPlan(s *projections.State) bool {
	return s.Paused != nil && s.Paused.Reason == event.PausePlan
}

// planAnswered decides what ends the wait for the approval of a plan.
func planAnswered(s *projections.State, f Facts) (event.Body, Need) {
	if stop, need := planStopped(s, f); need != Nothing || stop != nil {
		return bodyOf(stop), need
	}
	said, need := planComments(s, f)
	switch {
	case need != Nothing:
		return nil, need
	case said != nil:
		return said, Nothing
	case s.Planning.Posted.Comment == "":
		return nil, Nothing
	case f.Thumbs == nil:
		return nil, Reactions
	}
	for _, t := range *f.Thumbs {
		switch {
		case t.By.Bot || t.Self:
		case t.MayWrite == nil:
			return nil, Permission
		case *t.MayWrite:
			return approving(s, &event.ResumeRequested{By: "reaction", Person: true, Actor: t.By.Login, Comment: s.Planning.Posted.Comment, Reaction: t.ID}), Nothing
		}
	}
	return nil, Nothing
}

// planStopped is the wish of somebody who may write that the work ends.
func planStopped(s *projections.State, f Facts) (*event.StopRequested, Need) {
	if f.Comments == nil {
		return nil, Comments
	}
	for i := range *f.Comments {
		a := &(*f.Comments)[i]
		switch {
		case !Asks(a.Commands, CommandStop) || !a.counts(s.Planning.Posted.Comment) || s.Planning.Posted.Comment == "":
		case a.MayWrite == nil:
			return nil, Permission
		case *a.MayWrite:
			return stopped(a), Nothing
		}
	}
	return nil, Nothing
}

// planComments is what the latest comment says that counts; nil if none does.
func planComments(s *projections.State, f Facts) (said *event.ResumeRequested, need Need) {
	if f.Comments == nil {
		return nil, Comments
	}
	for i := range *f.Comments {
		a := &(*f.Comments)[i]
		approves := approvesPlan(a, s.Planning.Posted)
		switch {
		case !approves && !a.says():
		case a.MayWrite == nil:
			return nil, Permission
		case *a.MayWrite && approves:
			said = approving(s, answer(a))
		case *a.MayWrite:
			said = answer(a)
		}
	}
	return said, Nothing
}

// says reports whether a comment has words that the plan has to take into account.
func (a *Answer) says() bool {
	return !a.Wordless && !a.onlyCommands() && a.New && !a.Ours && !a.Self && !a.Author.Bot
}

// onlyCommands reports whether a comment has no words beside its commands, and for the model.
func (a *Answer) onlyCommands() bool { return a.Alone && !Asks(a.Commands, CommandRevise) }

// approvesPlan reports whether a comment approves the plan that was posted last. Without
// a hash it means the newest plan before it.
func approvesPlan(a *Answer, p projections.Proposal) bool {
	return p.Comment != "" && a.counts(p.Comment) && !Asks(a.Commands, CommandRevise) && approvesHash(a, p.Hash)
}
