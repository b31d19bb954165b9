package tui

import (
	"errors"
	"fmt"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/term"
	"agent/internal/timeline"
	"agent/internal/trees"
)

// Views of a change.
const (
	viewDiff   i18n.ID = "tui.view.diff"
	viewBefore i18n.ID = "tui.view.before"
	viewAfter  i18n.ID = "tui.view.after"
)

// change shows what a step changed in the files: the differences, or the files whole as
// they were before or after it.
func (p *page) change(r timeline.Row, view i18n.ID) {
	v, err := trees.Open(p.Store, p.uuid, p.Redact)
	if v == nil {
		p.add(term.Bad, err.Error())
		return
	}
	at, err := v.At(r.Saved)
	if err == nil {
		var all []trees.Difference
		if all, err = v.Diff(at.Saved.From, at.Saved.Tree); err == nil && view == viewDiff {
			p.head("tui.diff", len(all))
			for _, f := range all {
				p.patch(f.Patch)
			}
		} else if err == nil {
			p.sides(v, at.Saved, r.Seq, all, view)
		}
	}
	if err != nil && !errors.Is(err, trees.ErrNone) {
		p.add(term.Bad, err.Error())
	}
}

// sides shows the files that a step changed, whole.
func (p *page) sides(v *trees.View, saved *event.WorkspaceSaved, seq uint64, all []trees.Difference, view i18n.ID) {
	name, title, absent := saved.From, i18n.ID("tui.file.before"), "added"
	if view == viewAfter {
		name, title, absent = saved.Tree, "tui.file.after", "deleted"
	}
	tree, err := v.Tree(name)
	if err != nil {
		p.add(term.Bad, err.Error())
		return
	}
	for _, f := range all {
		p.head(title, f.Path, seq)
		if f.Change == absent {
			p.add(term.Aux, p.text("tui.file.absent"))
			continue
		}
		_, data, err := v.Content(tree, f.Path)
		switch {
		case err != nil:
			p.add(term.Bad, err.Error())
		case f.Binary:
			p.add(term.Aux, fmt.Sprintf("%d bytes", len(data)))
		default:
			p.add("", string(data))
		}
	}
}
