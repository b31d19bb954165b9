package tell

import (
	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/projections"
)

// workLine says where the work is that a context leaves which failed or was stopped.
func workLine(s *projections.State, v *projections.Ending) string {
	p := s.Publishing
	switch {
	case s.ChangedInPlace():
		return inPlaceLine(s)
	case p.Unfinished():
		return keptLine(s)
	case p.Measured != nil && p.Measured.Error != "" && s.Done(projections.StepMeasured, v.Since):
		return i18n.Text(s.Lang, "kept.unknown", format.Code(p.Measured.Error))
	case p.Opened != nil && p.Opened.URL != "":
		return i18n.Text(s.Lang, "change", p.Opened.URL)
	}
	return ""
}

// keptLine says where unfinished work is. A patch is never shown: a person may have
// to approve it first, or stopped the work.
func keptLine(s *projections.State) string {
	p := s.Publishing
	patch := i18n.Text(s.Lang, "kept.patch", format.Code(s.Created.UUID), event.PatchFile)
	switch {
	case p.Failed != nil && p.Failed.Patch.IsZero():
		return i18n.Text(s.Lang, "kept.failed", format.Code(p.Failed.Message))
	case p.Failed != nil:
		return i18n.Text(s.Lang, "kept.failed", format.Code(p.Failed.Message)) + " " + patch
	case p.Kept.Branch != "":
		return i18n.Text(s.Lang, "kept.branch", format.Code(p.Kept.Branch))
	}
	return patch
}

// pausedWork says where the work is while a person is waited for.
func pausedWork(s *projections.State, p *projections.Pausing) string {
	kept := s.Publishing.Kept
	patch := kept != nil && kept.Paused && !kept.Patch.IsZero()
	if p.Until.Kind != "person" || s.Workspace == nil || s.Workspace.Dir == "" || !patch && len(s.Work.Files) == 0 {
		return ""
	}
	text := i18n.Text(s.Lang, "paused.copy", directory(s))
	if patch {
		text += i18n.Text(s.Lang, "paused.patch", format.Code(s.Created.UUID), event.PatchFile)
	}
	return text
}

// Work says on one line where the unfinished work of a context is, "" if there is none.
// It is not safe for a terminal.
func Work(s *projections.State, lang i18n.Lang) string {
	p := s.Publishing
	switch {
	case p.Kept != nil && p.Kept.Branch != "":
		return i18n.Text(lang, "work.branch", p.Kept.Branch)
	case p.Kept != nil && p.Kept.Paused && p.Kept.Patch.IsZero(), p.Failed != nil && p.Failed.Paused: // nothing was changed, or it is in the working copy alone
		return ""
	case p.Kept != nil, p.Failed != nil && p.Failed.Unfinished && !p.Failed.Patch.IsZero():
		return i18n.Text(lang, "work.patch", event.PatchFile)
	case p.Failed != nil && p.Failed.Unfinished:
		return i18n.Text(lang, "work.clone")
	}
	return ""
}
