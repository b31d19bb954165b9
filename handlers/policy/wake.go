package policy

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/projections"
)

// Ways in which a context comes up again.
const (
	ByLabel   = "label"   // it was listed with a trigger label
	ByCommand = "command" // a person named it on the command line
	ByComment = "comment" // a person asked for another attempt in a comment
)

// Facts are what decides about waking a context.
type Facts struct {
	Now         time.Time
	Trigger     string                 // ByLabel, ByCommand, "" if the round came to it by itself
	Resume      *event.ResumeRequested // what a person's signal asks for; nil without one
	PauseSignal bool                   // the signal that pauses everything is set
	ExpiryDays  int                    // after which a pause ends the task; 0: never
	Triggers    []string               // labels that make an item a task
	Accept      string                 // new_comment_handling.accept
	Operator    string                 // who runs this program
	Commands    bool                   // comments may hold commands
	Told        bool                   // the forge told that something has changed on the item

	Task     *Item   // nil if it was not read
	Gone     bool    // it was read, and is not there
	Listed   *bool   // its list shows it with the paused label, or cannot be read; nil if it was not read
	Labeller *Setter // nil if it was not read
	Comments *[]Answer
	Thumbs   *[]Thumb // of [Reactions]
}

// Answer is one comment on a waiting task.
type Answer struct {
	ID       string
	Author   forge.Account
	Ours     bool // the agent or the forge wrote it
	Self     bool // its author's account is the agent's own
	New      bool // the log does not have this text
	Edited   bool // it is not, or may not be, as it was first written
	Ordered  bool // its id tells whether it is later than others
	Commands []Command
	Alone    bool  // it says nothing but commands
	Wordless bool  // it has no letter or digit: a thumb up
	MayWrite *bool // nil if it was not asked
}

// Thumb is a thumb up of somebody on the agent's comment that shows a plan.
type Thumb struct {
	ID       string
	By       forge.Account
	Self     bool  // the account is the agent's own
	MayWrite *bool // nil if it was not asked
}

// Waiting reports whether a context does nothing until something wakes it.
func Waiting(s *projections.State) bool {
	return s.Resume == nil && (s.Status == projections.Paused || s.Status == projections.Awaiting)
}

// Wake decides what wakes a context; nil if it is not waiting, or if nothing does.
// The refusal says why a label that is there does not.
func Wake(s *projections.State, f Facts) (event.Body, *Refusal, Need) {
	switch {
	case !Waiting(s):
		return nil, nil, Nothing
	case f.Resume != nil:
		return approving(s, f.Resume), nil, Nothing
	case f.Trigger == ByCommand:
		return approving(s, &event.ResumeRequested{By: ByCommand, Person: true, Actor: f.Operator}), nil, Nothing
	}
	// If the forge refused to set labels, the trigger label was never removed, and so not set again.
	labelled := f.Trigger == ByLabel && (s.Paused == nil || s.Paused.Reason != event.PauseLabels)
	awaiting := s.Status == projections.Awaiting
	var refusal *Refusal
	switch {
	case (labelled || awaiting) && f.Task == nil && !f.Gone:
		return nil, nil, Task
	case labelled && f.Task != nil && f.Task.Trigger(f.Triggers) != "":
		if f.Labeller == nil {
			return nil, nil, Labeller
		}
		if refusal = refuseLabel(s, f); refusal == nil {
			wake, need := labelledAgain(s, f)
			return wake, nil, need
		}
	}
	wake, need := byItself(s, f)
	return wake, refusal, need
}

// refuseLabel says why a label does not end a wait. What asks for an approval needs
// somebody who may write, and proof that the label came later; what the forge does
// not tell is neither.
func refuseLabel(s *projections.State, f Facts) *Refusal {
	by, known := f.Labeller, s.Before.Label > 0 && f.Labeller.Event > 0
	approval := projections.NeedsApproval(s.Paused)
	switch {
	case known && by.Event <= s.Before.Label:
		return &Refusal{LabelTooOld, ""}
	case approval && (by.Hidden || !known):
		return &Refusal{LabelUnknown, ""}
	case approval && !by.MayWrite():
		return &Refusal{NoApproval, by.Login}
	case approval, open(f.Task.Private, f.Accept), by.Hidden, by.MayWrite():
		return nil
	}
	return &Refusal{NoWriteAccess, by.Login}
}

// labelledAgain is what a label means that ends a wait. Of a plan it approves only what
// people did not speak about since.
func labelledAgain(s *projections.State, f Facts) (event.Body, Need) {
	resume := &event.ResumeRequested{By: ByLabel, Person: true, Actor: f.Labeller.Login, Event: idOf(f.Labeller.Event)}
	if !waitsForPlan(s) {
		return approving(s, resume), Nothing
	}
	if stop, need := planStopped(s, f); need != Nothing || stop != nil {
		return bodyOf(stop), need
	}
	said, need := planComments(s, f)
	switch {
	case need != Nothing:
		return nil, need
	case said == nil || said.Plan != "":
		return approving(s, resume), Nothing
	}
	return resume, Nothing
}

// bodyOf is nil where there is no wish to stop.
func bodyOf(stop *event.StopRequested) event.Body {
	if stop == nil {
		return nil
	}
	return stop
}

// approving binds a person's wish to the change or plan that waits for an approval, if one does.
func approving(s *projections.State, r *event.ResumeRequested) *event.ResumeRequested {
	bound := *r
	switch {
	case !r.Person || s.Paused == nil:
	case s.Paused.Reason == event.PauseChange && s.Publishing.Measured != nil:
		bound.Tree = s.Publishing.Measured.Tree
	case s.Paused.Reason == event.PausePlan:
		bound.Plan = s.Planning.Posted.Hash
	}
	return &bound
}

func idOf(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// byItself decides what ends a wait without a label or a command.
func byItself(s *projections.State, f Facts) (event.Body, Need) {
	switch {
	case s.Status == projections.Awaiting:
		return answered(s, f)
	case expired(s, f):
		return &event.StopRequested{By: "expired"}, Nothing
	}
	removed, need := unpaused(s, f)
	switch {
	case removed:
		return &event.StopRequested{By: "label_removed"}, Nothing
	case need != Nothing:
		return nil, need
	}
	wake, need := pauseAnswered(s, f)
	switch {
	case wake != nil || need != Nothing || !f.Commands:
		return wake, need
	case f.Comments != nil:
		return asked(s, *f.Comments)
	case f.Told:
		return nil, Comments
	}
	return nil, Nothing
}

// pauseAnswered decides what ends a pause.
func pauseAnswered(s *projections.State, f Facts) (event.Body, Need) {
	switch {
	case waitsForPlan(s):
		return planAnswered(s, f)
	case commandable(s, f):
		return commanded(s, f)
	}
	return pauseOver(s.Paused.Until, f), Nothing
}

// unpaused reports whether somebody took the paused label away. Most rounds learn
// from one list that nobody did. Who sets a trigger label instead wishes to go on.
func unpaused(s *projections.State, f Facts) (bool, Need) {
	if s.Config == nil || !s.Key.Kind.Carries(s.Labels, s.Config.Labels.Paused) {
		return false, Nothing // it was never there
	}
	switch {
	case f.Task != nil:
		return f.Task.Open() && lost(s, f, s.Config.Labels.Paused), Nothing
	case f.Listed == nil:
		return false, Listed
	case *f.Listed:
		return false, Nothing
	}
	return false, Task
}

// lost reports whether a label that we set is gone from the item, with no trigger label in its stead.
func lost(s *projections.State, f Facts, label string) bool {
	kind := s.Key.Kind
	return kind.Carries(s.Labels, label) && !kind.Carries(f.Task.Labels, label) && f.Task.Trigger(f.Triggers) == ""
}

// approvesThis reports whether a comment approves what waits, and names nothing else: a
// hash is that of a plan, or of the tree of a change.
func approvesThis(s *projections.State, a *Answer) bool {
	hash := ""
	if s.Paused.Reason == event.PauseChange && s.Publishing.Measured != nil {
		hash = s.Publishing.Measured.Tree
	}
	return approvesHash(a, hash)
}

// approvesHash reports whether a comment approves, and each hash that it names is this one.
func approvesHash(a *Answer, hash string) bool {
	for _, c := range a.Commands {
		if c.Name == CommandApprove && !strings.HasPrefix(hash, c.Argument) {
			return false // it is about something else
		}
	}
	return Asks(a.Commands, CommandApprove)
}

// counts reports whether the commands of a comment count that must be later than another
// one, if its author may write.
func (a *Answer) counts(after string) bool {
	return a.Ordered && a.New && !a.Edited && !a.Ours && !a.Self && !a.Author.Bot && projections.LaterID(a.ID, after)
}

func answer(a *Answer) *event.ResumeRequested {
	return &event.ResumeRequested{By: "comment", Person: true, Actor: a.Author.Login, Comment: a.ID}
}

func stopped(a *Answer) *event.StopRequested {
	return &event.StopRequested{By: "comment", Actor: a.Author.Login, Comment: a.ID}
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
// the author wrote, the label was taken away, or the time for an answer is over.
func answered(s *projections.State, f Facts) (event.Body, Need) {
	switch {
	case f.Gone:
		return &event.StopRequested{By: "gone"}, Nothing
	case !f.Task.Open():
		return &event.StopRequested{By: "closed"}, Nothing
	case f.Comments == nil:
		return nil, Comments
	}
	if stops, need := given(*f.Comments, CommandStop, s.Obeyed.Control); need != Nothing || len(stops) > 0 {
		return firstStop(stops), need
	}
	if slices.ContainsFunc(*f.Comments, func(a Answer) bool {
		return a.New && !a.Ours && !a.Author.Bot && IsAuthor(s, a.Author) && !a.onlyCommands() && (!a.Wordless || s.Wait.Reason != "")
	}) {
		return &event.ResumeRequested{By: "comment"}, Nothing
	}
	if body, need := asked(s, *f.Comments); body != nil || need != Nothing {
		return body, need
	}
	if lost(s, f, s.Config.Labels.Awaiting) {
		return &event.StopRequested{By: "label_removed"}, Nothing
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
