package handlers

import "agent/projections"

// justForked is true for a fork that was just made: it pauses until a person runs it.
func justForked(s *projections.State) bool {
	return s.Fork != nil && s.Seq == s.Fork.At
}

// Forkable reports whether a fork can begin at a state: nothing is open, and its end
// has not begun. From there the work goes on, whatever is different in the fork.
func Forkable(s *projections.State) bool {
	if s.Created == nil || s.Open != nil || s.Status.Ended() || s.Seq == 0 {
		return false
	}
	if s.Config == nil {
		return true
	}
	v := endingOf(s)
	return v == nil || !closing(s, v)
}
