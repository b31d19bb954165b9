package engine

import (
	"context"

	"agent/eventlog/event"
	"agent/internal/sanitize"
)

// readProject reads what the repository says of itself, cleans it, and appends it.
func (e *Engine) readProject(ctx context.Context) error {
	read, err := e.p.Workspace.Project(ctx, e.state)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	for _, r := range pointers(read.Rules, read.Nested) {
		text, removed := sanitize.Input(r.Text.Inline)
		r.Text, r.Removed, r.Warning = event.T(text), removed, sanitize.Suspicious(text)
	}
	read.Error = sanitize.Line(read.Error, 500)
	return e.input(&read)
}

// pointers are the elements of some lists, to be changed.
func pointers(lists ...[]event.RuleFile) (all []*event.RuleFile) {
	for _, list := range lists {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}
