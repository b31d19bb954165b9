package projections

import "agent/eventlog/event"

// Outage is a time in which the model server gives no reply. It begins with a
// pause by time and ends with a reply, or with whatever else ends such a pause
// than its time. While it lasts, people have been told and the labels say so.
type Outage struct {
	Pauses int // by time, since the latest reply; 0 if there is no outage
}

func (s *State) applyOutage(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ContextPaused:
		if b.Until.Kind != "time" {
			s.Outage = Outage{}
			return
		}
		s.Outage.Pauses++
	case *event.LLMReplied:
		s.Outage = Outage{}
	case *event.ResumeRequested:
		if b.By != "timer" {
			s.Outage = Outage{}
		}
	}
}

// Probing is true while the work goes on during an outage only to see whether it
// is over: nothing is said, and no label changes.
func (s *State) Probing() bool { return s.Outage.Pauses > 0 && s.Status == Running }
