package policy

import (
	"strconv"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/projections"
)

// Commanded is what people ask for in comments while the work goes on: an end, before a
// pause; nil for nothing. Comments that an earlier command or pause is later than are done with.
func Commanded(s *projections.State, answers []Answer) (event.Body, Need) {
	var pause *event.PauseRequested
	for i := range answers {
		a := &answers[i]
		stops, pauses := Asks(a.Commands, CommandStop), Asks(a.Commands, CommandPause)
		switch {
		case !stops && !pauses || !a.written(s.Commanded):
		case a.MayWrite == nil:
			return nil, Permission
		case !*a.MayWrite:
		case stops:
			return stopped(a), Nothing
		default:
			pause = &event.PauseRequested{By: "comment", Actor: a.Author.Login, Comment: a.ID}
		}
	}
	if pause == nil {
		return nil, Nothing
	}
	return pause, Nothing
}

// commanded looks for a comment later than ours on the pause by somebody who may write, and
// what it asks for: an end, before anything else, or that the work goes on.
func commanded(s *projections.State, f Facts) (event.Body, Need) {
	if f.Comments == nil {
		return nil, Comments
	}
	var resume *event.ResumeRequested
	for i := range *f.Comments {
		a := &(*f.Comments)[i]
		goesOn, add := a.resumes(s)
		stops := Asks(a.Commands, CommandStop)
		switch {
		case !stops && !goesOn || !a.counts(s.Before.Comment):
		case a.MayWrite == nil:
			return nil, Permission
		case !*a.MayWrite:
		case stops:
			return stopped(a), Nothing
		case resume == nil:
			resume = answer(a)
			resume.Add = add
		}
	}
	if resume == nil {
		return nil, Nothing
	}
	return approving(s, resume), Nothing
}

// resumes reports whether the commands of a comment end the pause, and how much of a limit they grant.
func (a *Answer) resumes(s *projections.State) (goesOn bool, add float64) {
	for _, c := range a.Commands {
		switch c.Name {
		case CommandResume:
			goesOn = true
		case CommandApprove:
			goesOn = goesOn || projections.NeedsApproval(s.Paused) && approvesThis(s, a)
		case CommandBudget:
			if n, err := strconv.ParseFloat(c.Argument, 64); err == nil && n > 0 && s.Paused.Reason == event.PauseLimit {
				goesOn, add = true, n
			}
		case CommandRevise, CommandStop, CommandPause, CommandRetry, CommandStatus:
		}
	}
	return goesOn, add
}

// commandable reports whether commands in comments end a pause. Where the model server or the forge
// refuses the agent, its operator does.
func commandable(s *projections.State, f Facts) bool {
	if s.Before.Comment == "" || s.Paused == nil {
		return false
	}
	_, ofModel := s.Paused.Reason.OfModel()
	return projections.NeedsApproval(s.Paused) || f.Commands && !ofModel && s.Paused.Until.Kind == "person" &&
		s.Paused.Reason != event.PauseUnread && s.Paused.Reason != event.PauseLabels && s.Paused.Reason != event.PauseForked
}

// written reports whether the commands of a comment count that must be later than another
// one, if its author may write, whether or not the log has its text.
func (a *Answer) written(after string) bool {
	return a.Ordered && !a.Edited && !a.Ours && !a.Self && !a.Author.Bot && projections.LaterID(a.ID, after)
}

// Edited reports whether a comment may be another text than its author wrote first. A
// forge that does not say when it was written or changed leaves that open.
func Edited(c forge.Comment) bool {
	return c.CreatedAt.IsZero() || c.UpdatedAt.IsZero() || c.UpdatedAt.Sub(c.CreatedAt) >= time.Second
}
