package projections

import (
	"strings"
	"unicode/utf8"

	"agent/eventlog/event"
	"agent/llm"
)

const (
	simpleNotes = 20  // notes of a context without a plan
	mostNotes   = 100 // notes of one with a plan, unless the configuration says otherwise
	argsShown   = 40  // characters of a tool's arguments
)

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
		if b.Purpose == event.CorrectionMessage {
			p.unusable(e)
		}
	case *event.PhaseEntered:
		s.enteredStage(e, before)
	case *event.UnderstandingMade, *event.InformationPlanned, *event.ReflectionMade:
		p.concluded(e, Stage(s.Planning.Phase))
	case *event.PlanMade, *event.PlanRevised, *event.VerificationMade, *event.ReplanDecided:
		p.concluded(e, Stage(s.Planning.Phase))
		p.changed(e, Checklist)
	case *event.ActionStarted:
		p.changed(e, StatusLine, Checklist)
	case *event.ActionFinished:
		p.changed(e, Execution, StatusLine, Checklist)
	}
	if fellBack(e.Body) {
		p.unusable(e)
	}
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
	if !ok || call.OutsideConversation() {
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

// Unanswered is true for a call that no server answered. What the network says
// of that names addresses, which are no business of who reads comments.
func Unanswered(b *event.LLMFailed) bool {
	return b.Status == 0 && (b.Kind == string(llm.Transient) || b.Kind == string(llm.Timeout))
}

func (s *State) modelFailed(e event.Event, b *event.LLMFailed, open *Open) {
	call, ok := requestOf(open)
	if !ok || call.OutsideConversation() || b.Kind == event.Interrupted || b.Kind == string(llm.ToolsRefused) {
		return // nobody has to know, or the work goes on in another way
	}
	if s.Probing() {
		return // it is known
	}
	text := b.Message
	if Unanswered(b) {
		text = ""
	}
	s.note(e, Note{Kind: NoteModel, Text: text})
}

func (s *State) toolFailed(e event.Event, message string, open *Open) {
	if open == nil {
		return
	}
	if call, ok := open.Body.(*event.ToolRequested); ok {
		s.note(e, Note{Kind: NoteTool, Tool: call.Name(), Args: beginning(call.Args.View(), argsShown), Text: message})
	}
}

// concluded notes that a stage has come to a result. What a silent reply came to
// is said with that.
func (p *Progress) concluded(e event.Event, stage string) {
	p.changed(e, StatusLine)
	if last := p.Latest(stage); last != nil && last.Kind == NoteReply && last.Text == "" {
		p.changed(e, stage)
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

// enteredStage notes that a phase was entered, which ends the one before.
func (s *State) enteredStage(e event.Event, before string) {
	p, stage := &s.Progress, Stage(s.Planning.Phase)
	if stage != Stage(before) {
		p.concluded(e, Stage(before))
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
