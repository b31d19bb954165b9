package projections

import (
	"time"

	"agent/eventlog/event"
)

// Outage is a time in which the model server gives no reply. It begins with a
// pause by time and ends with a reply. While it lasts people have one comment, which
// is edited, and the labels change only when a person acts.
type Outage struct {
	Pauses  int       // by time, since the latest reply or resume by a person; 0: the work does not only probe
	Comment string    // id of the comment that says so, "" if there is none
	Paused  bool      // what that comment says: that the work is paused
	Since   time.Time // when it began
	Over    bool      // a reply has come, and the comment does not say so yet
}

func (s *State) applyOutage(e event.Event) {
	o := &s.Outage
	switch b := e.Body.(type) {
	case *event.ContextPaused:
		if b.Until.Kind != "time" {
			*o = Outage{}
			return
		}
		if o.Pauses++; o.Since.IsZero() {
			o.Since = s.Work.FailedAt
		}
		if s.Done(CommentPaused, s.Work.FailureSeq) {
			o.Comment, o.Paused = s.Before.Comment, s.Before.Comment != ""
		}
	case *event.LLMReplied:
		o.Pauses, o.Over = 0, true
		if !o.Paused {
			*o = Outage{}
		}
	case *event.ResumeRequested:
		if b.By != "timer" {
			o.Pauses = 0
		}
	}
}

// said notes what the comment on the outage says now, as a write of it has ended.
func (o *Outage) said(in *event.CommentRequested, outcome event.Body) {
	if o.Comment == "" || in.Edit != o.Comment {
		return
	}
	if _, posted := outcome.(*event.CommentPosted); !posted || o.Over { // the next word is a comment of its own
		*o = Outage{Pauses: o.Pauses}
		return
	}
	o.Paused = in.Purpose == string(Paused)
}

// Probing is true while the work goes on during an outage only to see whether it
// is over: nothing is said, and no label changes.
func (s *State) Probing() bool { return s.Outage.Pauses > 0 && s.Status == Running }
