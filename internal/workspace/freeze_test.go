package workspace

import (
	"context"
	"errors"
	"testing"

	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/projections"
)

// At a load of 34 a server could be neither stopped nor killed in three seconds. The task was said to be done without
// its change. What a busy machine says is not final: the next run has new processes, and measures and publishes then.
func TestBusyMachineIsNoAnswer(t *testing.T) {
	t.Parallel()
	s := projections.NewState()
	s.Workspace = &event.WorkspacePrepared{Dir: t.TempDir()}
	moving := errors.New("its processes can be neither stopped nor killed")
	w := New(Config{Freeze: func(context.Context, string) (func(), error) { return nil, moving }})
	_, measured := w.Measure(t.Context(), s)
	_, published := w.Publish(t.Context(), s, &event.ChangeRequested{})
	for what, err := range map[string]error{"measure": measured, "publish": published} {
		var later *engine.Temporary
		if !errors.As(err, &later) || !errors.Is(err, moving) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
