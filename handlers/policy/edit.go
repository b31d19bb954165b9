package policy

import (
	"agent/forge"
	"agent/projections"
)

// Edit is what decides whether an edited text of a task counts.
type Edit struct {
	First bool            // the text is read for the first time; else it differs from what was read before
	Last  forge.Edit      // the latest edit
	Label forge.Labelling // the latest time that a trigger label was set

	LabellerMay *bool // the labeller may write; nil if it was not asked
	EditorMay   *bool // so may the editor
}

// Guarded reports whether edits of a task's text need approval: where anybody can open
// an item, its author can change it after somebody set the label.
func Guarded(s *projections.State, private bool) bool {
	return !open(private, s.Config.Comments.Accept)
}

// Seen decides whether somebody who may write has seen the text as it is: set the label
// after the latest edit, or made that edit. Both times are the forge's own. An edit in
// the second of the label may have come after it.
func Seen(e Edit) (seen bool, need Need) {
	switch {
	case e.First && (!e.Last.Known || e.Last.At.IsZero() || e.Label.Event == 0):
		return true, Nothing // never edited, or nobody can tell
	case !e.Last.Known || e.Last.At.IsZero():
		return false, Nothing // it differs all the same
	case e.Last.Known && e.Last.At.Before(e.Label.At):
		if e.First {
			return true, Nothing // the label was looked at when the task began
		}
		if e.LabellerMay == nil {
			return false, Labeller
		}
		if *e.LabellerMay {
			return true, Nothing
		}
	}
	if e.EditorMay == nil {
		return false, Permission
	}
	return *e.EditorMay, Nothing
}
