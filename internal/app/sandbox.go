package app

import (
	"cmp"
	"fmt"

	"agent/internal/config"
)

// builtIn is the line for a configuration that has no mcp_servers yet.
const builtIn = `mcp_servers: [{mcp_server_name: workspace, command: [agent, mcp, workspace, --root, "{workspace}"], sandbox: off}]`

// checkSandboxes refuses a configuration whose tool servers need a sandbox that
// this system does not have, before a task fails for it. It is a *[config.Error].
func (a *App) checkSandboxes() error {
	var problems []config.Problem
	for _, m := range a.Config.MCPServers {
		if a.Config.Sandbox.Container.Used() && BuiltIn(m) && m.Sandbox == "off" {
			problems = append(problems, config.Problem{Where: cmp.Or(a.configFile(), "config"), Text: fmt.Sprintf(
				"sandbox.container needs the sandbox, and the tool server %s has sandbox: off", m.Name)})
		}
		_, lack, _ := ServerConfig(m).CheckSandbox()
		if lack == nil || m.Sandbox != "required" {
			continue
		}
		problems = append(problems, config.Problem{Where: cmp.Or(a.configFile(), "config"), Text: fmt.Sprintf(
			"the tool server %s needs a sandbox, which this system cannot give: %v. To run its commands with all rights of this user, write sandbox: off for it, or if the file has no mcp_servers: %s",
			m.Name, lack, builtIn)})
	}
	if problems != nil {
		return &config.Error{Problems: problems}
	}
	return nil
}
