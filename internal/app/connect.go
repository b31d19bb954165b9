package app

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"agent/internal/config"
	"agent/mcp"
)

// maxResult bounds the result of a tool, in bytes. It fits into one message of a server.
const maxResult = 12 << 20

// Connect makes the pool of tool servers, the clients of the forges and the
// model provider. Nothing is contacted yet.
func (a *App) Connect() error {
	servers := ServerConfigs(a.Config.MCPServers)
	for i, m := range a.Config.MCPServers {
		servers[i].AgentOnly = servesForge(a.Config.Forges(), m)
		if a.isOwn(m.Name) {
			servers[i].About = func(ctx context.Context, local mcp.Local) string { return a.place(ctx, m, local) }
		}
	}
	a.Pool = mcp.NewPool(servers, mcp.Options{Version: a.options.Version, MaxResult: maxResult,
		Stderr: func(server, line string) { a.Log.Debug(line, "server", server) },
		Warn:   func(server, text string) { a.Log.Warn(text, "server", server) },
		Secret: func(text string) bool { _, found := a.Redact.String(text); return found },
		Deny:   a.denied(), Unnamed: a.unnamed()})
	a.closers = append(a.closers, a.Pool)
	for _, f := range a.Config.Forges() {
		at, err := a.newSite(f)
		if err != nil {
			return err
		}
		a.Sites = append(a.Sites, a.throughServer(at))
	}
	model, err := newModel(a.Config)
	if err != nil {
		return err
	}
	a.Model = model
	return nil
}

// denied are the trees that no tool may read, wherever they are.
func (a *App) denied() []string {
	all := []string{a.Config.ContextsDir, a.Config.WorkspacesDir, a.Config.CachesDir, a.Config.Log.Dir}
	for _, path := range []string{a.configFile(), a.Config.SystemPromptFile, a.Config.Planning.PromptsDir} {
		if path != "" {
			all = append(all, path)
		}
	}
	for _, f := range a.Config.Forges() {
		for _, path := range []string{f.App.KeyFile, f.Directory} { // who can write a task may approve
			if path != "" {
				all = append(all, path)
			}
		}
	}
	return realPaths(all)
}

// unnamed is the directory of the configuration: what lies beside it is often as
// secret, but programs of tool servers may lie there too.
func (a *App) unnamed() []string {
	path := a.configFile()
	if path == "" {
		return nil
	}
	return realPaths([]string{filepath.Dir(path)})
}

// configFile is the absolute path of the configuration, "" for none.
func (a *App) configFile() string {
	path, exists := config.Path(a.options.ConfigPath, os.Getenv)
	if !exists {
		return ""
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	return path
}

// realPaths adds to each path the one that it leads to.
func realPaths(paths []string) []string {
	all := paths
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			all = append(all, real)
		}
	}
	return all
}

// ServerConfigs are tool servers as package mcp takes them.
func ServerConfigs(servers []config.MCPServer) []mcp.ServerConfig {
	var out []mcp.ServerConfig
	for _, m := range servers {
		out = append(out, ServerConfig(m))
	}
	return out
}

// ServerConfig is one tool server as package mcp takes it.
func ServerConfig(m config.MCPServer) mcp.ServerConfig {
	return mcp.ServerConfig{Name: m.Name, Command: m.Command, Env: m.Env, SystemPrompt: m.SystemPrompt,
		Allow: m.Allow, Timeout: time.Duration(m.TimeoutSeconds) * time.Second, URL: m.URL, Headers: m.Headers,
		Sandbox: m.Sandbox, Network: m.Network, Write: m.SandboxWrite, Read: m.SandboxRead,
		Required: m.Required}
}
