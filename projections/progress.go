package projections

import (
	"slices"
	"time"

	"agent/eventlog/event"
	"agent/forge"
)

// Progress is what people are told while the work goes on, and which comments
// tell it. Notes are folded from what the model and the tools said, not from
// what was posted, so a comment that could not be written loses nothing.
type Progress struct {
	Notes   []Note            // oldest first; as many as the configuration says
	Dropped map[string]int    // older notes, by stage
	Changed map[string]uint64 // seq of the latest event that people are to see, by stage, and of Checklist and StatusLine
	Entered map[string]bool   // stages that were entered
	Posts   map[string]Post   // by purpose
}

// Parts of Changed that are no stage.
const (
	Checklist  = "checklist"
	StatusLine = "status"
)

// Note is one line of progress.
type Note struct {
	Seq    uint64
	Time   time.Time
	Kind   NoteKind
	Call   int    // number of the model call, or of the latest one
	Tools  int    // tool calls so far
	Stage  string // see Stage; empty without a plan
	Action string // id of the action that was being done
	Tool   string // of a tool error: server/tool
	Args   string // of a tool error: the beginning of its arguments
	Text   string // what the model said, or the message of the error; may be empty for a reply
}

// NoteKind says what a note is about.
type NoteKind string

// The kinds of note.
const (
	NoteReply    NoteKind = "reply"
	NoteUnusable NoteKind = "unusable" // a reply that the model was asked to correct
	NoteModel    NoteKind = "model"    // a model call that failed
	NoteTool     NoteKind = "tool"     // a tool that gave an error
	NoteStart    NoteKind = "start"    // the work on the task begins
)

// Post is a comment that is edited in place.
type Post struct {
	ID     string    // empty if there is none
	At     time.Time // of the latest request
	Tried  uint64    // seq of the latest request
	Stands uint64    // seq of the latest request that succeeded: the comment shows all up to it
	Failed int       // requests in a row that did not succeed
	Lost   []uint64  // seqs of requests for a new comment that were not answered since: one of them may stand
}

// Stages are what people are told of as one phase, in their usual order.
var Stages = []string{PrePlanning, PlanPhase, Execution, Reflection, Revision, Replanning, Verification}

// PrePlanning is the stage of all that is done before there is a plan.
const PrePlanning = "pre_planning"

// Stage gives the stage that a phase belongs to.
func Stage(phase string) string {
	switch phase {
	case Understanding, Information, Assumption:
		return PrePlanning
	}
	return phase
}

func newProgress() Progress {
	return Progress{Dropped: map[string]int{}, Changed: map[string]uint64{}, Entered: map[string]bool{}, Posts: map[string]Post{}}
}

// Latest gives the latest note of a stage, or nil.
func (p *Progress) Latest(stage string) *Note {
	for i := len(p.Notes) - 1; i >= 0; i-- {
		if p.Notes[i].Stage == stage {
			return &p.Notes[i]
		}
	}
	return nil
}

// Comment is the id of the comment that was written last, but for the checklist.
func (p *Progress) Comment() (id string) {
	var seq uint64
	for purpose, post := range p.Posts {
		if purpose != Checklist && post.ID != "" && post.Stands >= seq {
			id, seq = post.ID, post.Stands
		}
	}
	return id
}

// Planned is true for a context that works by a plan.
func (s *State) Planned() bool { return s.Config != nil && s.Config.Planning.Enabled }

// applyProgress folds an event; open is the intent that it is the outcome of,
// and before the phase that was entered before it.
func (s *State) applyProgress(e event.Event, open *Open, before string) {
	switch b := e.Body.(type) {
	case *event.CommentRequested:
		s.Progress.requested(e, b)
	case *event.CommentPosted, *event.CommentFailed:
		s.Progress.posted(e.Body, open)
	case *event.LLMReplied:
		s.replied(e, b, open)
	case *event.ContextResumed:
		s.Progress.changed(e, StatusLine)
		if s.Planning.Current >= 0 {
			s.Progress.changed(e, Checklist)
		}
	}
	if s.Planned() {
		s.plannedProgress(e, open, before)
	}
}

func (p *Progress) changed(e event.Event, parts ...string) {
	for _, part := range parts {
		p.Changed[part] = e.Seq
	}
}

func (p *Progress) requested(e event.Event, b *event.CommentRequested) {
	if !b.Repeated() {
		return
	}
	post := p.Posts[b.Purpose]
	post.At, post.Tried = e.Time, e.Seq
	p.Posts[b.Purpose] = post
}

func (p *Progress) posted(outcome event.Body, open *Open) {
	if open == nil {
		return
	}
	in, ok := open.Body.(*event.CommentRequested)
	if !ok || !in.Repeated() {
		return
	}
	post := p.Posts[in.Purpose]
	switch b := outcome.(type) {
	case *event.CommentPosted:
		post.ID, post.Stands, post.Failed, post.Lost = b.ID, open.Seq, 0, nil
	case *event.CommentFailed:
		post.Failed++
		if in.Edit == "" {
			post.Lost = append(slices.Clone(post.Lost), open.Seq)
		}
		if in.Edit != "" && b.Kind == string(forge.NotFound) {
			post = Post{} // somebody deleted it: a new one takes its place
		}
	}
	p.Posts[in.Purpose] = post
}
