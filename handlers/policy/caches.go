package policy

import (
	"agent/forge"
	"agent/projections"
)

// Caches is what an attempt's caches leave to later ones.
type Caches int

const (
	KeepNothing   Caches = iota
	KeepDownloads        // what a checksum confirms that the attempt could not choose
	KeepAll              // what it compiled, too
)

// CacheFacts decide what is kept. What the forge does not say counts as a no.
type CacheFacts struct {
	Labeller  *Setter // nil if it was not asked
	AuthorMay *bool   // the task's author may write; nil if it was not asked
}

// Keep decides what is kept of the caches of an attempt: something only if it was completed, and
// a person who may write set the task. What was compiled counts only where nobody else has words in the
// context or code in the working copy.
func Keep(s *projections.State, f CacheFacts) (Caches, Need) {
	byLabel := s.Created != nil && s.Created.Trigger == ByLabel
	switch {
	case s.Status != projections.Completed || s.Task == nil:
		return KeepNothing, Nothing
	case s.Task.Private:
		return KeepAll, Nothing // who can see it is trusted
	case byLabel && f.Labeller == nil:
		return KeepNothing, Labeller
	case byLabel && !f.Labeller.MayWrite():
		return KeepNothing, Nothing
	case s.Lineage.Trust != projections.TrustAuthor && s.Lineage.Trust != projections.TrustMembers:
		return KeepDownloads, Nothing
	case s.Task.Author == "" || !IsAuthor(s, forge.Account{Login: s.Task.Author}): // a deleted account
		return KeepDownloads, Nothing
	case f.AuthorMay == nil:
		return KeepNothing, Permission
	case *f.AuthorMay:
		return KeepAll, Nothing
	}
	return KeepDownloads, Nothing
}
