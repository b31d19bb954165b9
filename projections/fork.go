package projections

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"agent/eventlog/event"
)

// ForkComment is the id of the comment that a fork begins with, if its maker said something.
const ForkComment = "forked"

// Fork is where the log of a fork parts from that of its origin.
type Fork struct {
	*event.ContextForked
	At      uint64 // seq of the event that says so
	InPlace string // the directory that the origin worked in, if that was a person's
	Before  Usage  // what was spent before
	Fresh   bool   // nothing but the fork itself has paused it
	Unheard bool   // the model was not told what the operator says
	Fetches int    // of comments, since then
	Copied  bool   // its working copy was made
}

// Simulates reports whether nothing is written to the forge: the context is a fork that
// is not live.
func (s *State) Simulates() bool { return s.Fork != nil && !s.Fork.Live }

// applyFork makes the context another one. Of what people and processes did with the
// origin nothing concerns the fork; the conversation, the plan and the files do.
func (s *State) applyFork(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ContextForked:
		if s.Created != nil {
			s.forked(e, b)
		}
	case *event.ContextPaused:
		if s.Fork != nil && b.Reason != event.PauseForked {
			s.Fork.Fresh = false
		}
	case *event.ContextAwaiting:
		if s.Fork != nil {
			s.Fork.Fresh = false
		}
	case *event.CommentsFetched:
		if s.Fork != nil && b.Last {
			s.Fork.Fetches++
		}
	case *event.MessageAdded:
		if s.Fork != nil && (b.Purpose == event.CommentsMessage || slices.Contains(b.Comments, CommentID("comment", ForkComment))) {
			s.Fork.Unheard = false
		}
	}
}

func (s *State) forked(e event.Event, b *event.ContextForked) {
	created := *s.Created
	created.UUID = b.UUID
	s.Created = &created
	s.Fork = &Fork{ContextForked: b, At: e.Seq, Before: s.Usage, Fresh: true}
	s.EndedProperly, s.OpenRuns = true, 0
	s.Pause, s.Stop, s.Denied, s.Unread, s.Image, s.Resume, s.Paused = nil, nil, nil, nil, nil, nil, nil
	s.Expired, s.Before, s.Outage, s.Limit = false, Before{}, Outage{}, nil
	s.Reactions, s.Planning.Posted = nil, Proposal{} // people answer the origin there
	s.Labels = nil                                   // the item has others by now
	s.enter(e, Running)
	if b.Live {
		s.Progress.Posts = map[string]Post{} // the origin's comments stay as they are
	}
	s.ownCopy(b)
	s.Saved.Changed, s.Saved.Lost, s.Saved.Take = nil, nil, false
	if s.Config != nil {
		s.primary, s.fallbacks = nil, 0
		if own := s.Own(*s.Config); own != *s.Config {
			s.Steps[StepConfig] = e.Seq
			s.asks(&own)
		}
	}
	if !b.Say.IsZero() {
		s.Fork.Unheard = true
		s.Comments.Pending = append(s.Comments.Pending, event.Comment{ID: ForkComment, Kind: "comment", Author: b.By, Created: e.Time, Updated: e.Time, Verdict: event.NewComment, Body: b.Say})
	}
}

// ownCopy is the working copy of the fork, which is never a person's directory.
func (s *State) ownCopy(b *event.ContextForked) {
	if s.Workspace == nil || s.Workspace.Dir == "" {
		return
	}
	own := *s.Workspace
	if own.InPlace {
		s.Fork.InPlace = own.Dir
	}
	own.Dir, own.InPlace = b.Dir, false
	s.Workspace = &own
}

// forkedFrom says in one line where a fork begins, and what is different in it.
func forkedFrom(b *event.ContextForked) string {
	text := fmt.Sprintf("a fork of %s at %d, by %s", b.Origin, b.Seq, b.By)
	if b.Dropped > 0 {
		text += fmt.Sprintf(", without its last %d turns", b.Dropped)
	}
	if b.Model.Model != "" {
		text += ", with model " + b.Model.Model
	}
	if !b.Prompt.IsZero() {
		text += ", with another system prompt"
	}
	if !b.Say.IsZero() {
		text += ", says: " + firstLine(b.Say.View())
	}
	if b.Live {
		return text + "; live: it works on the task itself"
	}
	return text + "; nothing is written to the task"
}

// simulated says of an outcome that a fork did not do it.
func simulated(how string) string {
	switch how {
	case "":
		return ""
	case event.Recorded:
		return " (not done: this is a fork; its origin did the same)"
	}
	return " (not done: this is a fork)"
}

// Own is a configuration with what a fork was given instead.
func (s *State) Own(c event.ConfigPinned) event.ConfigPinned {
	if s.Fork == nil {
		return c
	}
	if m := s.Fork.Model; m.Model != "" {
		c.Provider, c.Model, c.ContextLength, c.Profile = m.Provider, m.Model, m.ContextLength, m.Profile
	}
	if prompt := s.Fork.Prompt.View(); prompt != "" {
		sum := sha256.Sum256([]byte(prompt))
		c.Prompt, c.PromptHash = prompt, hex.EncodeToString(sum[:])
	}
	return c
}
