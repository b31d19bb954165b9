package workspace_test

import (
	"context"
	"errors"
	"testing"

	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/workspace"
	"agent/projections"
)

// On a machine that was too busy to stop a server's processes in time, the work counted as
// one that cannot be published, and a task was closed without its last change.
func TestBusyMachineIsNoAnswer(t *testing.T) {
	w := workspace.New(workspace.Config{Root: t.TempDir(),
		Freeze: func(context.Context, string) (func(), error) { return nil, errors.New("neither stopped nor killed") }})
	s := projections.NewState()
	s.Workspace = &event.WorkspacePrepared{Dir: t.TempDir()}
	_, measured := w.Measure(t.Context(), s)
	_, published := w.Publish(t.Context(), s, &event.ChangeRequested{})
	_, read := w.Project(t.Context(), s)
	for what, err := range map[string]error{"measure": measured, "publish": published, "read the project's rules": read} {
		var later *engine.Temporary
		if !errors.As(err, &later) {
			t.Errorf("%s: %v, which is final", what, err)
		}
	}
}
