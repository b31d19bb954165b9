package policy

import (
	"slices"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/projections"
)

// Ways in which a context comes up again.
const (
	ByLabel   = "label"   // it was listed with a trigger label
	ByCommand = "command" // a person named it on the command line
)

// Facts are what decides about waking a context.
type Facts struct {
	Now         time.Time
	Trigger     string                 // ByLabel, ByCommand, "" if the round came to it by itself
	Resume      *event.ResumeRequested // what a person's signal asks for; nil without one
	PauseSignal bool                   // the signal that pauses everything is set
	ExpiryDays  int                    // after which a pause ends the task; 0: never
	Triggers    []string               // labels that make an item a task

	Task     *Item // nil if it was not read
	Gone     bool  // it was read, and is not there
	Comments *[]Answer
}

// Answer is one comment on a waiting task.
type Answer struct {
	Author forge.Account
	Ours   bool // the agent or the forge wrote it
	New    bool // the log does not have this text
}

// Waiting reports whether a context does nothing until something wakes it.
func Waiting(s *projections.State) bool {
	return s.Resume == nil && (s.Status == projections.Paused || s.Status == projections.Awaiting)
}

// Wake decides what wakes a context; nil if it is not waiting, or if nothing does.
func Wake(s *projections.State, f Facts) (event.Body, Need) {
	switch {
	case !Waiting(s):
		return nil, Nothing
	case f.Resume != nil:
		return f.Resume, Nothing
	case f.Trigger == ByCommand:
		return &event.ResumeRequested{By: ByCommand, Person: true}, Nothing
	}
	// If the forge refused to set labels, the trigger label was never removed, and so not set again.
	labelled := f.Trigger == ByLabel && (s.Paused == nil || s.Paused.Reason != projections.Denied)
	awaiting := s.Status == projections.Awaiting
	switch {
	case (labelled || awaiting) && f.Task == nil && !f.Gone:
		return nil, Task
	case labelled && f.Task != nil && f.Task.Trigger(f.Triggers) != "":
		return &event.ResumeRequested{By: ByLabel, Person: true}, Nothing
	case awaiting:
		return answered(s, f)
	case expired(s, f):
		return &event.StopRequested{By: "expired"}, Nothing
	}
	return pauseOver(s.Paused.Until, f), Nothing
}

func expired(s *projections.State, f Facts) bool {
	return f.ExpiryDays > 0 && f.Now.Sub(s.PausedAt) > time.Duration(f.ExpiryDays)*24*time.Hour
}

// pauseOver ends a pause whose time has come or whose signal is gone.
func pauseOver(until event.Until, f Facts) event.Body {
	switch {
	case until.Kind == "time" && !f.Now.Before(until.Time):
		return &event.ResumeRequested{By: "timer"}
	case until.Kind == "signal" && !f.PauseSignal:
		return &event.ResumeRequested{By: "signal_file", Person: true}
	}
	return nil
}

// answered decides about a task that waits for its author: the item was closed,
// the author wrote, or the time for an answer is over.
func answered(s *projections.State, f Facts) (event.Body, Need) {
	switch {
	case f.Gone:
		return &event.StopRequested{By: "gone"}, Nothing
	case !f.Task.Open():
		return &event.StopRequested{By: "closed"}, Nothing
	case f.Comments == nil:
		return nil, Comments
	case slices.ContainsFunc(*f.Comments, func(a Answer) bool { return a.New && !a.Ours && IsAuthor(s, a.Author) }):
		return &event.ResumeRequested{By: "comment"}, Nothing
	}
	if until := s.Wait.Until.Time; !f.Now.Before(until) {
		return &event.TimerFired{Until: until}, Nothing
	}
	return nil, Nothing
}

// TakenAway names how people ended a task that is being worked on, "" if they did
// not. assigned says whether the item is still assigned to the agent, nil if that
// is not known.
func TakenAway(s *projections.State, i Item, assigned *bool) (by string, need Need) {
	processing := s.Config.Labels.Processing
	switch {
	case !i.Open():
		return "closed", Nothing
	case i.Kind.Carries(s.Labels, processing) && !i.Kind.Carries(i.Labels, processing):
		return "label_removed", Nothing
	case !s.Task.Assigned:
		return "", Nothing
	case assigned == nil:
		return "", Self
	case !*assigned:
		return "unassigned", Nothing
	}
	return "", Nothing
}
