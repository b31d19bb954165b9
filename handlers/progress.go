package handlers

import (
	"time"

	"agent/handlers/tell"
	"agent/projections"
)

// progress gives the next comment on how far the work is, or nil if none is
// due. It is asked before model calls and waits, and before what a reply asks for.
func progress(s *projections.State) Effect {
	if s.Probing() {
		return nil
	}
	for _, b := range tell.Boards(s) {
		post := s.Progress.Posts[b.Purpose]
		if b.Changed <= post.Tried || s.Now.Sub(post.At) < editInterval(s, post) {
			continue
		}
		if e := write(s, b, tell.Moment{Status: string(projections.Running)}); e != nil {
			return e
		}
	}
	return nil
}

// lastProgress is progress before the work ends or rests: whatever is not shown
// yet is now due. since is the event that ends it.
func lastProgress(s *projections.State, status string, since uint64) Effect {
	if s.Stop != nil && s.Stop.By == "gone" {
		return nil // nobody can read it
	}
	for _, b := range tell.Boards(s) {
		post := s.Progress.Posts[b.Purpose]
		saysStatus := b.Purpose == tell.OneForAll || b.Purpose == projections.Checklist && s.Planning.Current >= 0
		if post.Tried > since || b.Changed <= post.Stands && !(saysStatus && b.Changed > 0) {
			continue
		}
		if e := write(s, b, tell.Moment{Status: status, Last: true}); e != nil {
			return e
		}
	}
	return nil
}

// editInterval is the least time between two edits. It doubles with each that fails.
func editInterval(s *projections.State, post projections.Post) time.Duration {
	return time.Duration(s.Config.ProgressMS) * time.Millisecond << min(post.Failed, 6)
}

func write(s *projections.State, b tell.Board, now tell.Moment) Effect {
	post := s.Progress.Posts[b.Purpose]
	now.Since = post.Stands
	body := b.Body(now)
	if body == "" {
		return nil
	}
	c := tell.Comment(s, b.Purpose, body)
	if !b.Fresh {
		c.Edit = post.ID
	}
	return Act{Intent: c}
}
