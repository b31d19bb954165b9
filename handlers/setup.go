package handlers

import (
	"strings"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/projections"
)

// setupTimeout is how many seconds a command may take as far as the tool is concerned; the
// server's own timeout in the configuration bounds it further.
const setupTimeout = 1800

// setupCommands are JSON lists of arguments that make the working copy ready.
func setupCommands(s *projections.State) []string {
	if s.Config.Setup == "" || s.Workspace == nil || s.Workspace.Dir == "" {
		return nil
	}
	return strings.Split(s.Config.Setup, "\n")
}

// setupIntent runs the next of them where the model's commands run. They may be
// repeated: who configures them knows.
func setupIntent(s *projections.State) *event.ToolRequested {
	args := `{"argv":` + setupCommands(s)[len(s.Setup)] + `,"timeout_seconds":` + format.Number(setupTimeout) + `}`
	c := &event.ToolRequested{Tool: "run_command", Args: event.T(args), Again: true, Setup: true}
	for _, server := range s.Tools.Servers {
		for _, t := range server.Tools {
			if t.Name == c.Tool && c.Server == "" {
				c.Server = server.Name
			}
		}
	}
	return c
}
