package config

import "fmt"

// MCPServer is one tool server: either a command or a url.
type MCPServer struct {
	// Name of the server: letters, digits, `_` and `-`, without `__`. `history` is built in.
	Name string `yaml:"mcp_server_name"`
	// Program and arguments, no shell. `agent` is this executable; `{workspace}` is the working copy of the context, and such a server is started once per context.
	Command []string `yaml:"command"`
	// Address of a server over streamable HTTP, instead of a command.
	URL string `yaml:"url"`
	// HTTP headers for a `url`. Their values are secrets.
	Headers map[string]string `yaml:"headers"`
	// Environment for a `command`. May hold `{workspace}`.
	Env map[string]string `yaml:"env"`
	// Text about this server for the system prompt.
	SystemPrompt string `yaml:"system_prompt"`
	// Names of the tools offered to the model. Empty: all; of a server that `tasks_via` or `comments_via` names, none. What the agent itself reads through a server is not bound by it.
	Allow []string `yaml:"allow"`
	// Seconds without an answer or a sign of progress after which a call is given up. The built-in server reports progress as long as a command runs.
	TimeoutSeconds int `yaml:"timeout_seconds" default:"120" min:"1" max:"86400"`
	// Whether tasks need this server. If it cannot be started, the program ends with 78 and touches no task. Without an optional server tasks are worked on, and the closing comment says so. Default: `true` for the server named `workspace` and for an only one, `false` for others.
	Required bool `yaml:"required"`
	// Sandbox around a `command`. `auto`: as much as this machine can do (`agent doctor` shows it). `required`: without it the program ends with 78. `off`: none. Default: `required` for the built-in workspace server, `off` for others. Inside, a server sees the system's programs, toolchains that `PATH` and variables of toolchains like that of Go or Java name, the working copy, and its own home and temporary directory. It never sees key files, prompts, or what lies beside the configuration.
	Sandbox string `yaml:"sandbox" oneof:"auto|required|off"`
	// Network inside the sandbox. `off` leaves only its own loopback interface: builds and tests work that download nothing. Go modules then come from a module cache that `sandbox_read` names.
	Network string `yaml:"network" default:"on" oneof:"on|off"`
	// More directories that the sandbox may change. Every task writes there, so nothing that others build with belongs in it.
	SandboxWrite []string `yaml:"sandbox_write" path:"abs"`
	// More files and directories that the sandbox may read, for example the server's own program.
	SandboxRead []string `yaml:"sandbox_read" path:"abs"`
}

// defaultServer is the built-in workspace server.
func defaultServer() MCPServer {
	s := blankServer()
	s.Name = "workspace"
	s.Command = []string{"agent", "mcp", "workspace", "--root", "{workspace}"}
	return s
}

// fillRequired makes the workspace server and an only one required, unless the
// file says otherwise.
func fillRequired(servers []MCPServer, said func(path string) bool) {
	for i := range servers {
		if !said(fmt.Sprintf("mcp_servers[%d].required", i)) {
			servers[i].Required = servers[i].Name == "workspace" || len(servers) == 1
		}
	}
}

// fillSandbox confines what runs the model's commands, and leaves servers that
// the operator chose as they are, unless the file says otherwise.
func fillSandbox(servers []MCPServer) {
	for i := range servers {
		s := &servers[i]
		switch {
		case s.Sandbox != "":
		case len(s.Command) > 2 && s.Command[0] == "agent" && s.Command[1] == "mcp" && s.Command[2] == "workspace":
			s.Sandbox = "required"
		default:
			s.Sandbox = "off"
		}
	}
}
