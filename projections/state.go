// Package projections computes views of a log. Every view is a pure fold of events.
//
// [State] is what decisions are made from (package handlers). It is composed of
// smaller folds: [Conversation], [Comments], [Usage], [Work], [Planning], [Progress],
// [Publishing], [Saved], [Outage], [Window] and [Lineage]. [Files] renders the projection files of a context as
// bytes, [Describe] one line of a timeline.
//
// Invariants: a fold depends on nothing but the events, in order; folding a
// prefix and then the rest equals folding the whole; events of unknown kinds
// change nothing but Seq and Now.
package projections

import (
	"encoding/json"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/internal/i18n"
	"agent/llm"
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
	Seq           uint64
	Now           time.Time // of the latest event; nothing pure reads a clock
	Created       *event.ContextCreated
	Key           forge.TaskKey   // where the item is now
	Earlier       []forge.TaskKey // where it was before
	Item, Home    string          // ids of the item and of its project, "" if they are not known
	Foreign       bool            // the working copy is of a project that the item has left
	Started       time.Time
	Fork          *Fork // nil for a context that is none
	Config        *event.ConfigPinned
	FormerLabels  []string              // names from before the configuration changed, which the item may still carry
	Process       *event.ProcessStarted // the latest
	EndedProperly bool                  // the latest process said that it ended
	OpenRuns      int                   // processes in a row that found the same intent open
	Task          *event.TaskFetched
	Edited        uint64   // seq of the latest change of its text by somebody
	Unseen        *Unseen  // an edit of its text that nobody who may write has seen
	Labels        []string // as read back after our latest change
	Workspace     *event.WorkspacePrepared
	Saved         Saved
	Project       *event.ProjectRead
	Entered       Entered
	Tools         *event.ToolsListed
	Schemas       [][]json.RawMessage // of all of them, by server, as [llm.FitSchema] gives them
	ToolWeight    llm.Weight          // of all of them
	Lang          i18n.Lang

	Status Status
	Since  uint64 // seq of the event that set Status
	Open   *Open
	Pause  *Request                // a wish to pause that was not granted yet
	Stop   *Request                // a wish to stop
	Denied *Request                // the forge did not let us take the task
	Unread *Request                // the forge did not let us read the task, or its comments
	Image  *MissingImage           // without which no command runs; nil: it is there, or none is needed
	Resume *Request                // a wish to resume that was not granted yet
	Paused *event.ContextPaused    // why and until when it is paused
	Wished *Request                // the wish that led to Paused; nil: nobody asked for it
	Before Before                  // what was on the item before it paused or waited
	Wait   *event.ContextAwaiting  // the latest wait for people, for whatever reason
	Await  *event.ContextAwaiting  // the latest one for an answer to the closing words, also after it has come back
	Last   *event.ContextCompleted // how it completed

	Expired   bool // nobody answered in time
	PausedAt  time.Time
	ResumedAt time.Time
	ResumedBy string
	Waited    bool // the latest resume ended a wait for people, no pause
	Resumes   int
	LastError string
	Outage    Outage
	Window    Window
	Shape     Shape
	primary   *event.ConfigPinned // what is configured, while another model server is asked
	fallbacks int                 // how many of the configured ones were tried

	// Steps holds the seq of the latest step of each kind.
	Steps map[Step]uint64

	Conversation Conversation
	Comments     Comments
	Usage        Usage
	Work         Work
	Planning     Planning
	Progress     Progress
	Limit        *Limit
	Obeyed       Obeyed             // commands in comments
	Reactions    []Reaction         // to commands, that are due
	Asked        int                // comments that say how far the work is, that are due
	Grants       map[string]float64 // what persons granted on top of a limit, by its name
	Publishing   Publishing
	Refused      []string // what the forge did not let us say or set at the end, and why
	Setup        []SetupRun
	Inherited    *event.ContextInherited
	Lineage      Lineage
	Drafted      string // the summary that a model wrote last, until it is used
}

// Request is a wish and where it stands in the log.
type Request struct {
	Seq    uint64
	By     string
	Actor  string // a login of the forge, or an account of the machine
	Reason string
}

// Unseen is an edit of a task's text that waits for an approval.
type Unseen struct {
	Seq  uint64
	By   string
	Text *event.TaskChanged // the new text; nil: the task was first read with it
}

// Before tells what people did before a pause or wait from what they did after it.
// The forge's ids tell, not its clock.
type Before struct {
	Label   int64  // id of the newest event about labels; 0: unknown
	Comment string // id of the comment that says why it pauses; empty: unknown
}

// Limit is a limit that was reached and not lifted.
type Limit struct {
	Seq uint64
	event.LimitReached
}

// NewState is the state before the first event.
func NewState() *State {
	return &State{Steps: map[Step]uint64{}, Grants: map[string]float64{}, Comments: newComments(), Planning: newPlanning(), Progress: newProgress(), Lang: i18n.En}
}
