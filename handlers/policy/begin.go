package policy

import "agent/forge"

// Candidate is an item that may become a task.
type Candidate struct {
	Item
	Triggers []string // labels that make an item a task
	Command  bool     // a person named it on the command line
	Accept   string   // new_comment_handling.accept
	Labeller *Setter  // nil if it is not known yet
}

// Setter is whoever set the trigger label, or the item's author if it came with the item.
type Setter struct {
	Login  string
	Bot    bool
	May    forge.Permission
	Event  int64 // id of the event; 0: the forge does not say
	Hidden bool  // the forge never says who set the label, or who may write
}

// MayWrite reports whether the forge says that a person with write access did it.
func (s Setter) MayWrite() bool { return !s.Hidden && !s.Bot && s.May >= forge.Write }

// open is true where anybody's label or comment counts.
func open(private bool, accept string) bool { return private || accept == "any" }

// Refusal is why an item does not become a task. Why is a text of package i18n
// and Arg its only argument, "" if it has none.
type Refusal struct {
	Why string
	Arg string
}

// Reasons of a [Refusal].
const (
	NotOpen       = "skip.state"  // argument: the state
	LabelGone     = "skip.label"  // it was listed with the label
	NoWriteAccess = "skip.access" // argument: who set the label

	// Of a label that does not end a pause.
	NoApproval   = "skip.approval" // argument: who set it
	LabelTooOld  = "skip.old"      // it was set before the pause
	LabelUnknown = "skip.unknown"  // the forge does not say who set it, or when
)

// Begin decides whether an item becomes a task; nil means that it does. In a
// public project anybody can open an item, and a template brings labels along:
// there the label counts only if a person with write access set it. Where the
// forge does not say who did, its own rule must do: few may set labels.
func Begin(c Candidate) (*Refusal, Need) {
	switch {
	case !c.Open():
		return &Refusal{NotOpen, c.State}, Nothing
	case c.Command:
		return nil, Nothing
	case c.Trigger(c.Triggers) == "":
		return &Refusal{LabelGone, ""}, Nothing
	case open(c.Private, c.Accept):
		return nil, Nothing
	case c.Labeller == nil:
		return nil, Labeller
	case c.Labeller.Hidden, c.Labeller.MayWrite():
		return nil, Nothing
	}
	return &Refusal{NoWriteAccess, c.Labeller.Login}, Nothing
}
