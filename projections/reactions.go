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
