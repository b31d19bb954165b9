package tell

import (
	"agent/eventlog/event"
	"agent/projections"
)

// Progress is said in comments that are edited in place (seeds/003). What they
// hold is rendered from the state, so many events cost one edit, and a comment
// that could not be written is made good by the next one.

// Board is a comment that says how far the work is.
type Board struct {
	Purpose string
	Changed uint64 // seq of the latest event that it is to show
	Fresh   bool   // each is a new comment
	Body    func(now Moment) string
}

// Moment is when a comment is written.
type Moment struct {
	Status string // what status.is.* says
	Last   bool   // nothing more is tried for now
	Since  uint64 // seq of the latest event that a comment which is not edited has shown
}

// Purposes of comments on progress; that of the checklist is projections.Checklist.
const (
	OneForAll  = "progress"
	oneForEach = "progress:call"
	ofStage    = "progress:"
)

// Boards gives the comments that the configuration wants, in the order in which they are written.
func Boards(s *projections.State) []Board {
	if !s.Planned() {
		return []Board{{Purpose: OneForAll, Changed: latest(s, true), Body: func(now Moment) string { return simpleBody(s, now) }}}
	}
	var all []Board
	switch s.Config.Planning.Comments {
	case "task":
		return []Board{{Purpose: OneForAll, Changed: latest(s, true), Body: func(now Moment) string { return taskBody(s, now) }}}
	case "call":
		all = append(all, Board{Purpose: oneForEach, Changed: latest(s, false), Fresh: true,
			Body: func(now Moment) string { return callsBody(s, now) }})
	case "phase":
		for _, stage := range projections.Stages {
			all = append(all, Board{Purpose: ofStage + stage, Changed: s.Progress.Changed[stage],
				Body: func(now Moment) string { return stageBody(s, stage, now) }})
		}
	}
	if s.Config.Planning.Checklist {
		all = append(all, Board{Purpose: projections.Checklist, Changed: s.Progress.Changed[projections.Checklist],
			Body: func(now Moment) string { return checklistBody(s, now) }})
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

// FinalStatus says how the work ends, in the words of a comment on progress.
func FinalStatus(s *projections.State, v *projections.Ending) string {
	switch {
	case v.Reason == event.EndAwaiting:
		return string(projections.Awaiting)
	case v.Status == projections.Completed && s.Incomplete(v):
		return "partial"
	}
	return string(v.Status)
}
