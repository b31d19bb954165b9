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

// applyReactions notes which commands are to be answered. Older releases answered none.
func (s *State) applyReactions(e event.Event) {
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
		if b.Comment != "" {
			s.answer(b.Comment, forge.ThumbsUp)
		}
	case *event.StopRequested:
		if b.Comment != "" {
			s.answer(b.Comment, forge.ThumbsUp)
		}
	case *event.ReactionAdded, *event.ReactionFailed:
		if len(s.Reactions) > 0 {
			s.Reactions = s.Reactions[1:]
		}
	}
}

func (s *State) answer(comment string, e forge.Emoji) {
	s.Reactions = append(s.Reactions[:len(s.Reactions):len(s.Reactions)], Reaction{comment, e})
}

// applyCommands notes up to which comment commands are done with: what stood there when the work
// began, what was obeyed, and what came before the comment on a pause.
func (s *State) applyCommands(e event.Event) {
	switch b := e.Body.(type) {
	case *event.CommentsFetched:
		for _, c := range b.Comments {
			if b.Reason == event.FetchStart && CommentID(c.Kind, c.ID) == c.ID {
				s.done(c.ID)
			}
		}
	case *event.PauseRequested:
		s.done(b.Comment)
	case *event.ResumeRequested:
		s.done(b.Comment)
	case *event.ContextPaused:
		s.done(s.Before.Comment)
	}
}

func (s *State) done(comment string) {
	if LaterID(comment, s.Commanded) {
		s.Commanded = comment
	}
}
