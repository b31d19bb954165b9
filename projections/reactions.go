package projections

import (
	"agent/eventlog/event"
	"agent/forge"
)

// Reaction is one that a command in a comment is answered with.
type Reaction struct {
	Comment string
	Emoji   forge.Emoji
}

// Obeyed are the ids of the latest comments whose commands are done with, or that are later than
// all such. Each kind of command has its own: a later one of another kind, seen first, hides none.
type Obeyed struct {
	Begun   string `json:"begun,omitempty"`   // what stood there when the work began, or began it, is no command
	Control string `json:"control,omitempty"` // pause and resume
	Status  string `json:"status,omitempty"`
	Budget  string `json:"budget,omitempty"`
}

// StatusComment is the purpose of a comment that says how far the work is because somebody asked.
const StatusComment = "status"

// applyReactions notes which commands are to be answered. Older releases answered none.
func (s *State) applyReactions(e event.Event) {
	if b, ok := e.Body.(*event.ContextCreated); ok && b.Comment != "" {
		s.answer(b.Comment, forge.ThumbsUp)
	}
	if s.Config == nil || !s.Config.Commands.Enabled {
		return
	}
	switch b := e.Body.(type) {
	case *event.ResumeRequested:
		switch {
		case b.By != "comment" || b.Comment == "":
		case s.Paused != nil && s.Paused.Reason == event.PausePlan && b.Plan == "":
			s.answer(b.Comment, forge.Eyes) // it revises the plan
		default:
			s.answer(b.Comment, forge.ThumbsUp)
		}
	case *event.PauseRequested:
		s.answer(b.Comment, forge.ThumbsUp)
	case *event.StopRequested:
		s.answer(b.Comment, forge.ThumbsUp)
	case *event.StatusRequested:
		s.answer(b.Comment, forge.ThumbsUp)
	case *event.LimitRaised:
		emoji := forge.ThumbsUp
		if b.Limit == "" {
			emoji = forge.Confused
		}
		s.answer(b.Comment, emoji)
	case *event.ReactionAdded, *event.ReactionFailed:
		if len(s.Reactions) > 0 {
			s.Reactions = s.Reactions[1:]
		}
	}
}

func (s *State) answer(comment string, e forge.Emoji) {
	if comment != "" {
		s.Reactions = append(s.Reactions[:len(s.Reactions):len(s.Reactions)], Reaction{comment, e})
	}
}

// Owes reports whether people wait for an answer that a process which ended did not give.
func (s *State) Owes() bool {
	return !s.Status.Ended() && !s.Simulates() && (s.Asked > 0 || len(s.Reactions) > 0 || s.Open != nil)
}

// applyCommands notes up to which comment commands are done with: what stood there when the work
// began, what was obeyed, and what came before the comment on a pause.
func (s *State) applyCommands(e event.Event) {
	o := &s.Obeyed
	switch b := e.Body.(type) {
	case *event.ContextCreated:
		s.begunWith(b.Comment)
	case *event.CommentsFetched:
		for _, c := range b.Comments {
			if b.Reason == event.FetchStart && CommentID(c.Kind, c.ID) == c.ID {
				s.begunWith(c.ID)
			}
		}
	case *event.PauseRequested:
		later(&o.Control, b.Comment)
	case *event.ResumeRequested:
		if later(&o.Control, b.Comment); b.Add != 0 {
			later(&o.Budget, b.Comment)
		}
	case *event.ContextPaused:
		later(&o.Control, s.Before.Comment)
	case *event.StatusRequested:
		later(&o.Status, b.Comment)
		s.Asked++
	case *event.LimitRaised:
		if later(&o.Budget, b.Comment); b.Limit != "" {
			s.Grants[b.Limit] += b.Add
		}
	}
}

func (s *State) begunWith(comment string) {
	o := &s.Obeyed
	for _, mark := range []*string{&o.Begun, &o.Control, &o.Status, &o.Budget} {
		later(mark, comment)
	}
}

func later(mark *string, comment string) {
	if LaterID(comment, *mark) {
		*mark = comment
	}
}
