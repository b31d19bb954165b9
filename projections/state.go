// Package projections computes views of a log. Every view is a pure fold of events.
//
// [State] is what decisions are made from (package handlers). It is composed of
// smaller folds: [Conversation], [Comments], [Usage] and [Work]. [Files] renders
// the projection files of a context as bytes, [Describe] one line of a timeline.
//
// Invariants: a fold depends on nothing but the events, in order; folding a
// prefix and then the rest equals folding the whole; events of unknown kinds
// change nothing but Seq and Now.
package projections

import (
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/internal/i18n"
)

// Status is the state of a context in its life.
type Status string

// The statuses.
const (
	Running   Status = "running"
	Paused    Status = "paused"
	Awaiting  Status = "awaiting"
	Completed Status = "completed"
	Stopped   Status = "stopped"
	Failed    Status = "failed"
)

// Ended reports whether nothing more will happen.
func (s Status) Ended() bool { return s == Completed || s == Stopped || s == Failed }

// Open is an intent that has no outcome yet.
type Open struct {
	Seq  uint64
	Time time.Time
	Body event.Body
}

// State is everything that a decision depends on.
type State struct {
	Seq     uint64
	Now     time.Time // of the latest event; nothing pure reads a clock
	Created *event.ContextCreated
	Key     forge.TaskKey
	Started time.Time
	Config  *event.ConfigPinned
	Process *event.ProcessStarted // the latest
	Clean   bool                  // the latest process said that it ended
	Task    *event.TaskFetched
	Edited  uint64   // seq of the latest change of its text by somebody
	Labels  []string // as read back after our latest change
	Place   *event.WorkspacePrepared
	Tools   *event.ToolsListed
	Lang    i18n.Lang

	Status Status
	Since  uint64 // seq of the event that set Status
	Open   *Open
	Pause  *Request                // a wish to pause that was not granted yet
	Stop   *Request                // a wish to stop
	Denied *Request                // the forge did not let us take the task
	Resume *Request                // a wish to resume that was not granted yet
	Rest   *event.ContextPaused    // why and until when it is paused
	Await  *event.ContextAwaiting  // how it waits for an answer, also after it has come back
	Last   *event.ContextCompleted // how it completed

	Expired   bool // nobody answered in time
	PausedAt  time.Time
	ResumedAt time.Time
	ResumedBy string
	Resumes   int
	LastError string

	// Steps holds, for each step of a sequence ("labels:start", "comment:final",
	// "change", "summary:final"), the seq of its latest outcome.
	Steps map[string]uint64

	Conversation Conversation
	Comments     Comments
	Usage        Usage
	Work         Work
	Progress     Progress
	Limit        *Limit
	Grants       map[string]float64 // what persons granted on top of a limit, by its name
	Change       *event.ChangeOpened
	Inherited    *event.ContextInherited
	Drafted      string // the summary that a model wrote last, until it is used
}

// Request is a wish and where it stands in the log.
type Request struct {
	Seq    uint64
	By     string
	Reason string
}

// Limit is a limit that was reached and not lifted.
type Limit struct {
	Seq uint64
	event.LimitReached
}

// Progress is the comment that is edited in place.
type Progress struct {
	ID    string    // empty until it was posted
	At    time.Time // of its latest request
	Reply uint64    // seq of the reply that it speaks of
	Notes []string  // latest lines, oldest first
}

const maxNotes = 20

func (p *Progress) posted(outcome event.Body) {
	switch b := outcome.(type) {
	case *event.CommentPosted:
		p.ID = b.ID
	case *event.CommentFailed:
		p.ID = "" // somebody deleted it, or it never was: the next one is new
	}
}

// NewState is the state before the first event.
func NewState() *State {
	return &State{Steps: map[string]uint64{}, Grants: map[string]float64{}, Comments: newComments(), Lang: i18n.En}
}

// Apply folds one more event into the state.
func (s *State) Apply(e event.Event) {
	s.Usage.apply(e, s.Now, s.Status)
	s.Seq, s.Now = e.Seq, e.Time
	aside := s.aside(e)
	s.applyOpen(e)
	if !aside {
		s.Conversation.apply(e)
		s.Work.apply(e)
	}
	s.Comments.apply(e)
	s.applyInput(e)
	s.applyOutcome(e)
	s.applyLifecycle(e)
}

// aside is true for a model call that is no turn of the conversation: one that
// writes a summary.
func (s *State) aside(e event.Event) bool {
	body := e.Body
	if event.RoleOf(body) == event.Outcome && s.Open != nil {
		body = s.Open.Body
	}
	call, ok := body.(*event.LLMRequested)
	return ok && call.Purpose != "work"
}

func (s *State) applyOpen(e event.Event) {
	switch event.RoleOf(e.Body) {
	case event.Intent:
		s.Open = &Open{Seq: e.Seq, Time: e.Time, Body: e.Body}
	case event.Outcome:
		if s.Open != nil {
			s.closed(s.Open.Body, e)
		}
		s.Open = nil
	}
}

// closed notes which step an outcome ends.
func (s *State) closed(intent event.Body, outcome event.Event) {
	switch in := intent.(type) {
	case *event.CommentRequested:
		s.Steps["comment:"+in.Purpose] = outcome.Seq
		if in.Purpose == "progress" {
			s.Progress.posted(outcome.Body)
		}
	case *event.LabelsRequested:
		failed, isFailed := outcome.Body.(*event.LabelsFailed)
		if isFailed && in.Purpose == "start" {
			s.Denied = &Request{Seq: outcome.Seq, Reason: failed.Message}
			return
		}
		s.Steps["labels:"+in.Purpose] = outcome.Seq
		if changed, ok := outcome.Body.(*event.LabelsChanged); ok {
			s.Labels = changed.Labels
		}
	case *event.ChangeRequested:
		s.Steps["change"] = outcome.Seq
	case *event.LLMRequested:
		s.drafted(in, outcome)
	}
}

// drafted keeps a summary that a model wrote. A failed try is not repeated.
func (s *State) drafted(in *event.LLMRequested, outcome event.Event) {
	if in.Purpose == "work" {
		return
	}
	if failed, ok := outcome.Body.(*event.LLMFailed); ok && failed.Kind == event.Interrupted {
		return
	}
	s.Steps["drafted:"+in.Purpose] = outcome.Seq
	s.Drafted = ""
	if reply, ok := outcome.Body.(*event.LLMReplied); ok {
		s.Drafted = reply.Text.View()
	}
}

func (s *State) applyInput(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ContextCreated:
		s.created(e, b)
	case *event.ConfigPinned:
		s.pin(b)
		s.Steps["config"] = e.Seq
	case *event.ProcessStarted:
		s.Process, s.Clean = b, false
	case *event.ProcessEnded:
		s.Clean = true
	case *event.TaskFetched:
		s.Task = b
		s.Lang = s.language()
	case *event.TaskChanged:
		s.edited(e, b)
	case *event.WorkspacePrepared:
		s.Place = b
	case *event.ContextInherited:
		s.Inherited = b
	case *event.ToolsListed:
		s.Tools, s.Steps["tools"] = b, e.Seq
	case *event.TimerFired:
		s.Expired = s.Await != nil && s.Status == Awaiting && !b.Until.Before(s.Await.Until.Time)
	case *event.LimitReached:
		s.Limit = &Limit{Seq: e.Seq, LimitReached: *b}
	case *event.PauseRequested:
		s.Pause = &Request{Seq: e.Seq, By: b.By}
	case *event.StopRequested:
		s.Stop = &Request{Seq: e.Seq, By: b.By, Reason: b.Reason}
	case *event.ResumeRequested:
		s.resume(e, b)
	}
}

// edited takes over a title and body that somebody changed.
func (s *State) edited(e event.Event, b *event.TaskChanged) {
	if s.Task == nil || b.What != "text" {
		return
	}
	task := *s.Task
	task.Title, task.Body, task.Hash = b.Title, b.Body, b.Hash
	s.Task, s.Edited = &task, e.Seq
}

func (s *State) created(e event.Event, b *event.ContextCreated) {
	s.Created, s.Started = b, e.Time
	s.Key, _ = forge.ParseTaskKey(b.TaskKey, b.Forge)
}

// pin keeps the protocol of the first configuration: a conversation cannot change it.
func (s *State) pin(b *event.ConfigPinned) {
	pinned := *b
	if s.Config != nil {
		pinned.Protocol = s.Config.Protocol
		pinned.Language = s.Config.Language
	}
	s.Config = &pinned
	s.Lang = s.language()
}

func (s *State) language() i18n.Lang {
	switch {
	case s.Config != nil && s.Config.Language == "ja":
		return i18n.Ja
	case s.Config != nil && s.Config.Language == "en":
		return i18n.En
	case s.Task != nil:
		return i18n.Detect(s.Task.Title + s.Task.Body.View())
	}
	return s.Lang
}

func (s *State) resume(e event.Event, b *event.ResumeRequested) {
	s.Resume, s.ResumedBy, s.Pause, s.Denied = &Request{Seq: e.Seq, By: b.By}, b.By, nil, nil
	s.Work.forgive()
	if !b.Person || s.Limit == nil {
		return
	}
	grant := b.Add
	if grant == 0 {
		grant = s.Limit.Max
	}
	s.Grants[s.Limit.Limit] += grant
	s.Limit = nil
}

func (s *State) applyOutcome(e event.Event) {
	switch b := e.Body.(type) {
	case *event.MessageAdded:
		s.Steps["message:"+b.Purpose] = e.Seq
	case *event.SummaryAdded:
		s.Steps["summary:"+b.Purpose] = e.Seq
	case *event.CommentsFetched:
		if b.Last || b.Error != "" {
			s.Steps["fetch:"+b.Reason] = e.Seq
		}
	case *event.CommentRequested:
		s.progress(e, b)
	case *event.ChangeOpened:
		s.Change = b
	}
}

func (s *State) progress(e event.Event, b *event.CommentRequested) {
	if b.Purpose != "progress" {
		return
	}
	s.Progress.At, s.Progress.Reply = e.Time, s.Work.ReplySeq
	s.Progress.Notes = append(s.Progress.Notes, b.Note)
	if n := len(s.Progress.Notes); n > maxNotes {
		s.Progress.Notes = s.Progress.Notes[n-maxNotes:]
	}
}
