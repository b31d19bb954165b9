package history

import (
	"agent/contexts"
	"agent/projections"
)

// Unfinished is work that an earlier attempt at a task left. It is zero if there is none.
type Unfinished struct {
	From   string // uuid of its context
	Branch string // that was pushed; "": Patch holds it
	Base   string // the commit that the work began on
	Patch  []byte // as git made it; empty if it cannot be read
}

// Unfinished gives what the latest attempt that changed something left. What was
// published, or ended without a change, is finished, and so is all before it.
// Whatever goes wrong, the task begins anew.
func (r Reader) Unfinished(s *projections.State) Unfinished {
	all, err := r.earlier(s)
	if err != nil {
		return Unfinished{}
	}
	for _, info := range all {
		earlier := projections.NewState()
		if info.Err != nil || !info.Over() || r.expired(info, s) || r.fold(info.UUID, earlier.Apply) != nil {
			return Unfinished{}
		}
		if p := earlier.Publishing; p.Unfinished() && s.Lineage.Admits(earlier.Lineage.Trust) {
			return r.unfinished(earlier)
		} else if p.Opened != nil || p.Failed != nil || p.Measured != nil {
			return Unfinished{}
		}
	}
	return Unfinished{}
}

func (r Reader) expired(info contexts.Info, s *projections.State) bool {
	return s.Config.Inherit.ExpiryDays > 0 && info.Ended.Before(oldest(s))
}

func (r Reader) unfinished(s *projections.State) Unfinished {
	left := Unfinished{From: s.Created.UUID}
	if s.Workspace != nil {
		left.Base = s.Workspace.Commit
	}
	if kept := s.Publishing.Kept; kept != nil && kept.Branch != "" {
		left.Branch = kept.Branch
		return left
	}
	left.Patch, _ = r.Store.Patch(s.Created.UUID)
	return left
}
