package policy

import (
	"math"
	"strconv"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/projections"
)

// Commanded is what people ask for in comments while the work goes on; nil for nothing. An end
// counts before all else, a pause after it. Whoever asks appends it and asks again.
func Commanded(s *projections.State, answers []Answer) (event.Body, Need) {
	if s.Stop != nil {
		return nil, Nothing
	}
	stops, need := given(answers, CommandStop, s.Obeyed.Control)
	if need != Nothing || len(stops) > 0 {
		return firstStop(stops), need
	}
	if body, need := asked(s, answers); body != nil || need != Nothing {
		return body, need
	}
	pauses, need := given(answers, CommandPause, s.Obeyed.Control)
	if s.Pause != nil || len(pauses) == 0 {
		return nil, need
	}
	a := pauses[len(pauses)-1]
	return &event.PauseRequested{By: "comment", Actor: a.Author.Login, Comment: a.ID}, Nothing
}

// firstStop is the end that the first of some comments asks for.
func firstStop(comments []*Answer) event.Body {
	if len(comments) == 0 {
		return nil
	}
	return stopped(comments[0])
}

// given are the comments with a command of a name that counts, the oldest first: those later than another
// comment, by people who may write.
func given(answers []Answer, name CommandName, after string) (all []*Answer, need Need) {
	for i := range answers {
		a := &answers[i]
		switch {
		case !Asks(a.Commands, name) || !a.written(after):
		case a.MayWrite == nil:
			return nil, Permission
		case *a.MayWrite:
			all = append(all, a)
		}
	}
	return all, Nothing
}

// asked is what people ask for in comments while the work goes on or waits, beside an end, a pause
// and a resume: another attempt, more of a limit, a report.
func asked(s *projections.State, answers []Answer) (event.Body, Need) {
	retries, need := given(answers, CommandRetry, s.Obeyed.Begun)
	if len(retries) > 0 {
		stop := stopped(retries[0])
		stop.By = string(event.EndRetry)
		return stop, Nothing
	}
	if need != Nothing {
		return nil, need
	}
	grants, need := given(answers, CommandBudget, s.Obeyed.Budget)
	if body := raised(s, grants); body != nil || need != Nothing {
		return body, need
	}
	reports, need := given(answers, CommandStatus, s.Obeyed.Status)
	if len(reports) == 0 {
		return nil, need
	}
	return &event.StatusRequested{By: "comment", Actor: reports[0].Author.Login, Comment: reports[0].ID}, Nothing
}

// raised is what the first of some comments grants of the limit in force. Of one that was reached it is granted
// by what ends the pause.
func raised(s *projections.State, grants []*Answer) event.Body {
	for _, a := range grants {
		add := a.grants()
		switch {
		case add <= 0:
		case s.Paused != nil && s.Paused.Reason == event.PauseLimit:
			resume := answer(a)
			resume.Add = add
			return resume
		case s.Limit == nil:
			return &event.LimitRaised{Limit: inForce(s), Add: add, By: "comment", Actor: a.Author.Login, Comment: a.ID}
		}
	}
	return nil
}

// grants is how much of a limit the commands of a comment grant together.
func (a *Answer) grants() (add float64) {
	for _, c := range a.Commands {
		if n, err := strconv.ParseFloat(c.Argument, 64); c.Name == CommandBudget && err == nil && !math.IsInf(n, 0) {
			add += n
		}
	}
	return add
}

// inForce is the limit of the task that is nearest to being reached, "" if it has none.
func inForce(s *projections.State) (name string) {
	if s.Config == nil {
		return ""
	}
	most := -1.0
	for _, l := range []struct {
		name      string
		max, used float64
	}{
		{"tokens", float64(s.Config.Limits.MaxTokens), float64(s.Usage.Tokens())},
		{"cost", s.Config.Limits.MaxCostUSD, s.Usage.CostUSD},
		{"minutes", float64(s.Config.Limits.MaxMinutes), s.Usage.Active.Minutes()},
	} {
		if share := l.used / (l.max + s.Grants[l.name]); l.max > 0 && share > most {
			name, most = l.name, share
		}
	}
	return name
}

// AfterEnd is what people ask for in comments on a task whose latest attempt has ended: another attempt,
// and reports, with those that were answered. begun is the latest comment that began an attempt.
func AfterEnd(s *projections.State, answers []Answer, begun string) (retry *Answer, reports []*Answer, need Need) {
	if !s.Status.Ended() {
		return nil, nil, Nothing
	}
	after := s.Obeyed.Begun
	if projections.LaterID(begun, after) {
		after = begun
	}
	retries, need := given(answers, CommandRetry, after)
	if need != Nothing {
		return nil, nil, need
	}
	if len(retries) > 0 {
		retry = retries[len(retries)-1]
	}
	reports, need = given(answers, CommandStatus, s.Obeyed.Status)
	return retry, reports, need
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
			if n := a.grants(); n > 0 && s.Paused.Reason == event.PauseLimit {
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
