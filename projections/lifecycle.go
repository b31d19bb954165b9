package projections

import "agent/eventlog/event"

func (s *State) applyLifecycle(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ContextCreated:
		s.enter(e, Running)
	case *event.ContextPaused:
		s.enter(e, Paused)
		s.Paused, s.PausedAt, s.Wished, s.Pause = b, e.Time, s.Pause, nil
	case *event.ContextAwaiting:
		s.enter(e, Awaiting)
		s.Wait, s.Resume = b, nil
		if b.Reason == "" {
			s.Await = b
		}
	case *event.ContextResumed:
		s.enter(e, Running)
		s.Paused, s.Resume, s.ResumedAt, s.Before = nil, nil, e.Time, Before{}
		s.Resumes++
	case *event.ContextCompleted:
		s.enter(e, Completed)
		s.Last = b
	case *event.ContextStopped:
		s.enter(e, Stopped)
	case *event.ContextFailed:
		s.enter(e, Failed)
		s.LastError = string(b.Reason)
	}
}

func (s *State) enter(e event.Event, status Status) { s.Status, s.Since = status, e.Seq }

// Done reports whether the step has an outcome later than the event since.
func (s *State) Done(step Step, since uint64) bool { return s.Steps[step] > since }

// Protocol is how the model is spoken to: "json" or "tools". "auto" means tools
// until the server refuses them, and JSON for the rest of the context.
func (s *State) Protocol() string {
	switch {
	case s.Config == nil || s.Config.Protocol == "tools":
		return "tools"
	case s.Config.Protocol == "json" || s.Work.ToolsRefused != 0:
		return "json"
	}
	return "tools"
}
