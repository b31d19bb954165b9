package projections

import (
	"slices"

	"agent/eventlog/event"
)

// Saved is what the files of the working copy are by the log: at each event, what they were then.
type Saved struct {
	Seq  uint64 // of the event that says so; 0: the log is of a release that saved nothing
	Tree string // of git; its objects are beside the log
	Base string // the commit that the work began on
	Head string // the commit that is checked out; empty: any, since the work was published
	Not  map[event.NotSaved]bool

	Started string                   // the tree when the work began
	Failed  string                   // why the latest could not be stored, empty if it could
	Fresh   *event.WorkspaceRestored // that the model was not told of
	Lost    *Request                 // they could not be made again
	Changed *Request                 // somebody changed them in place, and a person has to say what counts
	Take    bool                     // a person said that they count
}

func (f *Saved) apply(e event.Event, p *event.ContextPaused) {
	switch b := e.Body.(type) {
	case *event.WorkspacePrepared:
		*f = Saved{}
	case *event.ProcessStarted:
		f.Take = false
	case *event.WorkspaceSaved:
		f.Seq, f.Tree, f.Base, f.Head, f.Failed = e.Seq, b.Tree, b.Base, b.Head, b.Error
		if f.Started == "" {
			f.Started = b.Tree
		}
		if f.Not == nil {
			f.Not = map[event.NotSaved]bool{}
		}
		for _, n := range b.NotSaved {
			f.Not[n] = true
		}
		f.Changed, f.Lost, f.Take = nil, nil, false
	case *event.WorkspaceRestored:
		f.Fresh, f.Lost = b, nil
		if b.Base != "" {
			f.Head = b.Base
		}
		if b.Error != "" {
			f.Fresh, f.Lost = nil, &Request{Seq: e.Seq, Reason: b.Error}
		}
	case *event.ChangeRequested:
		f.Head = ""
	case *event.WorkspaceChanged:
		f.Changed = &Request{Seq: e.Seq, Reason: b.Reason}
	case *event.MessageAdded:
		if b.Purpose == event.RestoredMessage {
			f.Fresh = nil
		}
	case *event.ResumeRequested:
		f.Lost = nil
		if b.Person && p != nil {
			f.Changed, f.Take = nil, true
		}
	}
}

// firstCopy is true for the first working copy of a fork if nothing can be missing in
// it: no command has run that may have left ignored files.
func (s *State) firstCopy(b *event.WorkspaceRestored) bool {
	if s.Fork == nil || s.Fork.Copied || b.Error != "" || len(b.Missing) > 0 {
		return false
	}
	return !slices.ContainsFunc(s.Work.Facts, func(f Fact) bool { return !f.Writes && !f.Setup && f.ExitCode != "" })
}

// restored makes the setup run again in a clone that is new.
func (s *State) restored(b *event.WorkspaceRestored) {
	if s.firstCopy(b) {
		s.Saved.Fresh = nil
	}
	if s.Fork != nil {
		s.Fork.Copied = true
	}
	if b.Base != "" && b.Error == "" {
		s.Setup = nil
	}
}
