package engine

import (
	"context"

	"agent/eventlog/event"
	"agent/internal/sanitize"
)

// readProject reads what the repository says of itself, cleans it, and appends it.
func (e *Engine) readProject(ctx context.Context) error {
	read := e.p.Workspace.Project(ctx, e.state)
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range read.Rules {
		r := &read.Rules[i]
		text, removed := sanitize.Input(r.Text.Inline)
		r.Text, r.Removed, r.Warning = event.T(text), removed, sanitize.Suspicious(text)
	}
	read.Error = sanitize.Line(read.Error, 500)
	return e.input(&read)
}
