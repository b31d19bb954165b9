package handlers

import (
	"time"

	"agent/projections"
)

// Progress is said in comments that are edited in place (seeds/003). What they
// hold is rendered from the state, so many events cost one edit, and a comment
// that could not be written is made good by the next one.

// board is a comment that says how far the work is.
type board struct {
	purpose string
	changed uint64 // seq of the latest event that it is to show
	fresh   bool   // each is a new comment
	body    func(now moment) string
}

// moment is when a comment is written.
type moment struct {
	status string // what status.is.* says
	last   bool   // nothing more is tried for now
	since  uint64 // seq of the latest event that a comment which is not edited has shown
}

// progress gives the next comment on how far the work is, or nil if none is
// due. It is asked before model calls and waits, and before what a reply asks for.
func progress(s *projections.State) Effect {
	for _, b := range boards(s) {
		post := s.Progress.Posts[b.purpose]
		if b.changed <= post.Tried || s.Now.Sub(post.At) < editInterval(s, post) {
			continue
		}
		if e := write(s, b, moment{status: string(projections.Running)}); e != nil {
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
	for _, b := range boards(s) {
		post := s.Progress.Posts[b.purpose]
		stale := b.changed > post.Stands || b.purpose == oneForAll && b.changed > 0 && (s.Planned() || status != string(projections.Paused))
		if post.Tried > since || !stale {
			continue
		}
		if e := write(s, b, moment{status: status, last: true}); e != nil {
			return e
		}
	}
	return nil
}

// editInterval is the least time between two edits. It doubles with each that fails.
func editInterval(s *projections.State, post projections.Post) time.Duration {
	return time.Duration(s.Config.ProgressMS) * time.Millisecond << min(post.Failed, 6)
}

func write(s *projections.State, b board, now moment) Effect {
	post := s.Progress.Posts[b.purpose]
	now.since = post.Stands
	body := b.body(now)
	if body == "" {
		return nil
	}
	c := comment(s, b.purpose, body)
	if !b.fresh {
		c.Edit = post.ID
	}
	return Act{Intent: c}
}

// Purposes of comments on progress; that of the checklist is projections.Checklist.
const (
	oneForAll  = "progress"
	oneForEach = "progress:call"
	ofStage    = "progress:"
)

// boards gives the comments that the configuration wants, in the order in which they are written.
func boards(s *projections.State) []board {
	if !s.Planned() {
		return []board{{purpose: oneForAll, changed: s.Progress.Changed[""], body: func(now moment) string { return simpleBody(s, now) }}}
	}
	var all []board
	switch s.Config.Planning.Comments {
	case "task":
		return []board{{purpose: oneForAll, changed: latest(s, true), body: func(now moment) string { return taskBody(s, now) }}}
	case "call":
		all = append(all, board{purpose: oneForEach, changed: latest(s, false), fresh: true,
			body: func(now moment) string { return callsBody(s, now) }})
	case "phase":
		for _, stage := range projections.Stages {
			all = append(all, board{purpose: ofStage + stage, changed: s.Progress.Changed[stage],
				body: func(now moment) string { return stageBody(s, stage, now) }})
		}
	}
	if s.Config.Planning.Checklist {
		all = append(all, board{purpose: projections.Checklist, changed: s.Progress.Changed[projections.Checklist],
			body: func(now moment) string { return checklistBody(s, now) }})
	}
	return all
}

// latest is the seq of the latest change: of anything, or of what has notes.
func latest(s *projections.State, anything bool) (seq uint64) {
	for part, changed := range s.Progress.Changed {
		if anything || part != projections.Checklist && part != projections.StatusLine {
			seq = max(seq, changed)
		}
	}
	return seq
}

// finalStatus says how the work ends, in the words of a comment on progress.
func finalStatus(s *projections.State, v *verdict) string {
	switch {
	case v.reason == "await":
		return string(projections.Awaiting)
	case v.status == projections.Completed && incomplete(s, v):
		return "partial"
	}
	return string(v.status)
}
