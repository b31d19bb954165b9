package projections

import "agent/eventlog/event"

// Publishing is how far the work has come on its way to a pull or merge request.
type Publishing struct {
	Measured *event.ChangeMeasured // what would be published; Steps["measured"] says since when
	Approved string                // the tree that a person let pass, beyond all limits
	Stale    bool                  // Measured is from before the approval
	Opened   *event.ChangeOpened
	Kept     *event.ChangeOpened // unfinished work, on a branch or in a patch
	Failed   *event.ChangeFailed // the latest try, if it failed
	Asked    map[string]bool     // new files that the model was asked about
	Words    string              // its closing words before that
	Pushed   string              // the latest commit that went out

	tree string // of the latest try
	done string // of the latest that was published or kept
}

func (p *Publishing) apply(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ChangeMeasured:
		p.Measured, p.Stale = b, false
	case *event.MessageAdded:
		if b.Purpose == event.NewFilesMessage {
			p.ask(b)
		}
	case *event.ChangeRequested:
		p.tree = b.Tree
	case *event.ContextResumed:
		p.resumed()
	case *event.ChangeOpened:
		p.Failed, p.done = nil, p.tree
		if b.Patch.IsZero() {
			p.Pushed = b.Commit
		}
		if p.Kept = nil; b.Unfinished {
			p.Kept = b
			return
		}
		p.Opened = b
	case *event.ChangeFailed:
		p.Failed = b
	}
}

// resumed forgets what a pause kept: the work goes on in its copy.
func (p *Publishing) resumed() {
	if p.Kept != nil && p.Kept.Paused {
		p.Kept = nil
	}
	if p.Failed != nil && p.Failed.Paused {
		p.Failed = nil
	}
}

// ask notes what the model is asked about: all new files that were measured.
func (p *Publishing) ask(b *event.MessageAdded) {
	p.Words = b.Words.View()
	if p.Asked == nil {
		p.Asked = map[string]bool{}
	}
	if p.Measured == nil {
		return
	}
	for _, f := range p.Measured.Files {
		if f.New {
			p.Asked[f.Path] = true
		}
	}
}

// Fresh is true if what was measured is neither published nor kept yet.
func (p *Publishing) Fresh() bool {
	return p.Measured != nil && p.Measured.Count > 0 && p.Measured.Tree != p.done
}

// Continues is true if the working copy began with unfinished work of an earlier attempt.
func (s *State) Continues() bool {
	return s.Workspace != nil && s.Workspace.Continued.From != "" && s.Workspace.Continued.Error == ""
}

// Unfinished is true if the latest work was kept, or was to be, without a request.
func (p *Publishing) Unfinished() bool {
	return p.Kept != nil || p.Failed != nil && p.Failed.Unfinished
}

// NeedsApproval is true for pauses that only a person who may write can end.
func NeedsApproval(p *event.ContextPaused) bool {
	return p != nil && (p.Reason == event.PauseChange || p.Reason == event.PausePlan || p.Reason == event.PauseLimit || p.Reason == event.PauseText)
}

// approve notes what a person who resumes lets pass. An approval that names a tree
// is worth nothing for another one: it is measured again before it is published.
func (p *Publishing) approve(rest *event.ContextPaused, tree string) {
	if rest == nil || rest.Reason != event.PauseChange || p.Measured == nil {
		return
	}
	p.Approved, p.Stale = p.Measured.Tree, tree != ""
	if p.Stale {
		p.Approved = tree
	}
}

// SetupRun is one command that makes the working copy ready, with what came of it.
type SetupRun struct {
	Fact
	Output string
}

// setup notes the commands of the configuration. They are no turns of the
// conversation, but they count as facts.
func (s *State) setup(e event.Event) {
	text := ""
	switch b := e.Body.(type) {
	case *event.ToolRequested:
		s.Work.note(e, b)
		return
	case *event.ToolReplied:
		s.Work.outcome(b)
		text = b.Content.View()
	case *event.ToolFailed:
		text = b.Message
	case *event.ToolInterrupted:
		text = b.Reason
	}
	s.Setup = append(s.Setup, SetupRun{s.Work.Facts[len(s.Work.Facts)-1], text})
}
