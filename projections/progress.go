package projections

import (
	"strings"
	"time"
	"unicode/utf8"

	"agent/eventlog/event"
	"agent/forge"
	"agent/llm"
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

const (
	simpleNotes = 20  // notes of a context without a plan
	mostNotes   = 100 // notes of one with a plan, unless the configuration says otherwise
	argsShown   = 40  // characters of a tool's arguments
)

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
	}
	if s.Planned() {
		s.plannedProgress(e, open, before)
	}
}

func (s *State) plannedProgress(e event.Event, open *Open, before string) {
	p := &s.Progress
	switch b := e.Body.(type) {
	case *event.LLMFailed:
		s.modelFailed(e, b, open)
	case *event.ToolReplied:
		if b.IsError {
			s.toolFailed(e, b.Content.View(), open)
		}
	case *event.ToolFailed:
		s.toolFailed(e, b.Message, open)
	case *event.MessageAdded:
		if b.Purpose == "correction" {
			p.unusable(e)
		}
	case *event.PhaseEntered:
		s.enteredStage(e, before)
	case *event.UnderstandingMade, *event.InformationPlanned, *event.InformationCollected, *event.AssumptionMade, *event.ReflectionMade:
		p.changed(e, Stage(s.Planning.Phase), StatusLine)
	case *event.PlanMade, *event.PlanRevised, *event.VerificationMade, *event.ReplanDecided, *event.ActionFinished:
		p.changed(e, Stage(s.Planning.Phase), StatusLine, Checklist)
	case *event.ActionStarted:
		p.changed(e, StatusLine, Checklist)
	}
	if fellBack(e.Body) {
		p.unusable(e)
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
		post.ID, post.Stands, post.Failed = b.ID, open.Seq, 0
	case *event.CommentFailed:
		post.Failed++
		if in.Edit != "" && b.Kind == string(forge.NotFound) {
			post = Post{} // somebody deleted it: a new one takes its place
		}
	}
	p.Posts[in.Purpose] = post
}

// note adds a note about the current phase and action.
func (s *State) note(e event.Event, n Note) {
	p := &s.Progress
	n.Seq, n.Time, n.Call, n.Tools = e.Seq, e.Time, s.Usage.LLMCalls, s.Usage.ToolCalls
	if s.Planned() {
		n.Stage = Stage(s.Planning.Phase)
		if a := s.Planning.Action(); a != nil {
			n.Action = a.ID
		}
	}
	p.changed(e, n.Stage)
	p.Notes = append(p.Notes, n)
	for len(p.Notes) > s.mostNotes() {
		p.Dropped[p.Notes[0].Stage]++
		p.Notes = p.Notes[1:]
	}
}

func (s *State) mostNotes() int {
	switch {
	case !s.Planned():
		return simpleNotes
	case s.Config.Planning.MaxHistory > 0:
		return s.Config.Planning.MaxHistory
	}
	return mostNotes
}

// replied notes what a reply says. Without a plan only words beside a command
// are progress: those of the last reply are the closing words.
func (s *State) replied(e event.Event, b *event.LLMReplied, open *Open) {
	call, ok := requestOf(open)
	if !ok || call.Aside() {
		return
	}
	said := sayingOf(b)
	switch {
	case !s.Planned():
		if said.command && said.text != "" {
			s.note(e, Note{Kind: NoteReply, Text: said.text})
		}
	case s.announces(s.Planning.Phase):
		if !said.form && !said.command && s.Planning.Phase != Execution {
			said.text = "" // it was to be a form
		}
		s.note(e, Note{Kind: NoteReply, Text: said.text})
	}
}

// announces reports whether people are to be told of the replies of a phase.
func (s *State) announces(phase string) bool {
	notify := s.Config.Planning.Notify
	switch phase {
	case Understanding:
		return notify.Understanding
	case Information:
		return notify.Collection
	case Assumption:
		return notify.Assumption
	}
	return true
}

func requestOf(open *Open) (*event.LLMRequested, bool) {
	if open == nil {
		return nil, false
	}
	call, ok := open.Body.(*event.LLMRequested)
	return call, ok
}

func (s *State) modelFailed(e event.Event, b *event.LLMFailed, open *Open) {
	call, ok := requestOf(open)
	if !ok || call.Aside() || b.Kind == event.Interrupted || b.Kind == string(llm.ToolsRefused) {
		return // nobody has to know, or the work goes on in another way
	}
	s.note(e, Note{Kind: NoteModel, Text: b.Message})
}

func (s *State) toolFailed(e event.Event, message string, open *Open) {
	if open == nil {
		return
	}
	if call, ok := open.Body.(*event.ToolRequested); ok {
		s.note(e, Note{Kind: NoteTool, Tool: call.Server + "/" + call.Tool, Args: beginning(call.Args.View(), argsShown), Text: message})
	}
}

// unusable takes back that the latest reply was of use.
func (p *Progress) unusable(e event.Event) {
	if n := len(p.Notes); n > 0 && p.Notes[n-1].Kind == NoteReply {
		p.Notes[n-1].Kind = NoteUnusable
		p.changed(e, p.Notes[n-1].Stage)
	}
}

// fellBack reports whether a result was made without a usable reply.
func fellBack(b event.Body) bool {
	switch b := b.(type) {
	case *event.UnderstandingMade:
		return b.Fallback
	case *event.InformationPlanned:
		return b.Fallback
	case *event.PlanRevised:
		return b.Fallback
	case *event.ReflectionMade:
		return b.Fallback
	case *event.VerificationMade:
		return b.Fallback
	case *event.ReplanDecided:
		return b.Fallback
	}
	return false
}

// enteredStage notes that a phase was entered. The one before is over now,
// which its default text says.
func (s *State) enteredStage(e event.Event, before string) {
	p, stage := &s.Progress, Stage(s.Planning.Phase)
	if last := p.Latest(Stage(before)); last != nil && stage != Stage(before) && last.Kind == NoteReply && last.Text == "" {
		p.changed(e, last.Stage)
	}
	if stage == PrePlanning && !p.Entered[stage] && s.Config.Planning.Notify.Start {
		s.note(e, Note{Kind: NoteStart})
	}
	p.Entered[stage] = true
	p.changed(e, StatusLine)
}

// beginning gives the first characters of a text, with a mark if there are more.
func beginning(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
