package projections

import (
	"strings"

	"agent/eventlog/event"
)

// Ending says how a context ends, or is about to, and since which event that is so.
type Ending struct {
	Status Status
	Reason event.EndReason
	Text   string // for people: the model's closing words, or what went wrong
	Since  uint64
}

// ByModel is true if the model said that it is done.
func (e *Ending) ByModel() bool {
	return e.Reason == event.EndDone || e.Reason == event.EndAwaiting || e.Reason == event.EndMaxRounds
}

// Pausing says why a context pauses or is paused, until when, and since which
// event that is so.
type Pausing struct {
	Reason event.PauseReason
	Detail string
	Until  event.Until
	Since  uint64
}

// Incomplete is true if not everything was done that a completed context was to do.
func (s *State) Incomplete(e *Ending) bool {
	return e.Reason == event.EndMaxCalls || s.Planned() && s.PlanIncomplete()
}

// PlanIncomplete is true if part of the plan was given up. Without a verification
// every action has to succeed; with one, other actions may make up for a failed one.
func (s *State) PlanIncomplete() bool {
	p := &s.Planning
	if s.Config.Planning.VerifyRounds > 0 {
		return p.Next() >= 0 || !p.Verified
	}
	return p.Count("success") < len(p.Actions)
}

// UnreadEdit is true while the model does not know the latest text of the task.
func (s *State) UnreadEdit() bool {
	return s.Edited > max(s.Steps[MessageStep(event.TaskMessage)], s.Steps[MessageStep(event.EditedMessage)])
}

// Addressee is the author of the task, "" if that is nobody who can be mentioned:
// a deleted account, a bot, or the agent itself.
func (s *State) Addressee() string {
	if s.Task == nil || s.Task.Author == "ghost" || s.Task.Author == s.Config.Bot || strings.HasSuffix(s.Task.Author, "[bot]") {
		return ""
	}
	return s.Task.Author
}

// ChangedInPlace is true if files were written in the configured workspace,
// where nothing commits them.
func (s *State) ChangedInPlace() bool {
	return s.Workspace != nil && s.Workspace.InPlace && len(s.Work.Files) > 0
}
