package handlers

import (
	"cmp"

	"agent/eventlog/event"
	"agent/handlers/prompt"
	"agent/handlers/reply"
	"agent/handlers/tell"
	"agent/projections"
)

// maxCorrections is how many unusable replies in a row end a task.
const maxCorrections = 5

// endingOf lets what came first decide: a wish to stop that arrives while the
// closing words are being written changes nothing.
func endingOf(s *projections.State) *projections.Ending {
	v := ownEnding(s)
	if s.Stop != nil && (v == nil || s.Stop.Seq < v.Since || !closing(s, v)) {
		return stops(event.EndReason(s.Stop.By), s.Stop.Reason, s.Stop.Seq)
	}
	return v
}

// closing is true once the work is published or the closing words are said.
func closing(s *projections.State, v *projections.Ending) bool {
	return s.Done(projections.StepChange, v.Since) || s.Done(projections.CommentStep(string(v.Status)), v.Since)
}

func fails(reason event.EndReason, text string, since uint64) *projections.Ending {
	return &projections.Ending{Status: projections.Failed, Reason: reason, Text: text, Since: since}
}

func stops(reason event.EndReason, text string, since uint64) *projections.Ending {
	return &projections.Ending{Status: projections.Stopped, Reason: reason, Text: text, Since: since}
}

func completes(reason event.EndReason, text string, since uint64) *projections.Ending {
	return &projections.Ending{Status: projections.Completed, Reason: reason, Text: text, Since: since}
}

// ownEnding is how the work ends by itself, without a wish to stop.
func ownEnding(s *projections.State) *projections.Ending {
	w := s.Work
	switch {
	case s.Workspace != nil && s.Workspace.Error != "":
		return fails(cmp.Or(event.EndReason(s.Workspace.Reason), event.EndWorkspace), s.Workspace.Error, 0)
	case unusable(s):
		return givesUp(s, w.FailureSeq)
	case s.Limit != nil && askedFiles(s):
		return completes(doneReason(s), s.Publishing.Words, s.Limit.Seq)
	case s.Limit != nil && s.Limit.Limit == "calls":
		return completes(event.EndMaxCalls, "", s.Limit.Seq)
	case s.Expired:
		return completes(event.EndTimeout, "", s.Since)
	case closedByAuthor(s):
		return completes(event.EndKeyword, "", s.Steps[projections.FetchedAtResume])
	case s.Planned():
		return planEnding(s)
	case w.Reply == nil:
		return nil
	}
	p := reply.Parse(s)
	switch {
	case p.Problem != "" && w.Corrections >= maxCorrections-1, w.Corrections >= maxCorrections:
		return givesUp(s, w.ReplySeq)
	case p.Done && needsApproval(s):
		return nil // a person decides first, see pauseOf
	case p.Done:
		return completes(doneReason(s), withWords(s, p.Comment), w.ReplySeq)
	}
	return nil
}

// finish publishes the work, says so, sets the labels, leaves a summary, and ends.
func finish(s *projections.State, v *projections.Ending) Effect {
	if failedRound(s, v) {
		return finishRound(s, v)
	}
	if e := publish(s, v); e != nil {
		return e
	}
	kind := string(v.Status)
	switch {
	case !s.Done(projections.CommentStep(kind), v.Since):
		if e := lastProgress(s, tell.FinalStatus(s, v), v.Since); e != nil {
			return e
		}
		return Act{Intent: tell.Final(s, v)}
	case v.Reason == event.EndAwaiting && !s.Done(projections.LabelsAwaiting, v.Since):
		return Act{Intent: awaitLabels(s)}
	case v.Reason == event.EndAwaiting:
		return Record{awaiting(s)}
	case !s.Done(projections.LabelsStep(kind), v.Since):
		return Act{Intent: finalLabels(s, v)}
	case wantsDraft(s, v) && !s.Done(projections.DraftedSummary, v.Since):
		r := prompt.DraftRequest(s)
		return request(s, "summary", r, prompt.Estimate(s, r))
	case !s.Done(projections.SummaryStep(event.FinalSummary), v.Since):
		return Record{prompt.FinalSummary(s, v)}
	}
	switch v.Status {
	case projections.Stopped:
		return Record{&event.ContextStopped{Reason: v.Reason}}
	case projections.Failed:
		return Record{&event.ContextFailed{Reason: v.Reason}}
	default:
		return Record{&event.ContextCompleted{Reason: v.Reason, Partial: s.Incomplete(v)}}
	}
}

// wantsDraft is true if a model should write the final summary: it works, and
// there is something to tell.
func wantsDraft(s *projections.State, v *projections.Ending) bool {
	return s.Work.Failure == nil && s.Task != nil && v.Reason != event.EndMaxCalls && s.Usage.ToolCalls > 0 && exceeded(s) == nil
}
