package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agent/internal/config"
	"agent/mcp"
)

// TestPlace: the model is told what its commands can do, and no more than it needs.
func TestPlace(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for name, c := range map[string]struct {
		server      config.MCPServer
		want, lacks string
	}{
		"a sandbox":       {config.MCPServer{Sandbox: "auto", SandboxWrite: []string{"/srv/shared"}}, "Writable are the repository, /srv/shared, and a private $HOME and $TMPDIR", "no network"},
		"without network": {config.MCPServer{Sandbox: "auto", Network: "off"}, "There is no network", "network is on"},
		"no sandbox":      {config.MCPServer{Sandbox: "off"}, "without a sandbox, with the rights of the agent's user", "Writable"},
	} {
		c.server.Name, c.server.Command = "workspace", []string{"agent", "mcp", "workspace", "--root", "{workspace}"}
		if c.server.Sandbox == "auto" {
			if kind, _, _ := ServerConfig(c.server).CheckSandbox(); kind == "" {
				continue // this machine has none, and the text says so
			}
		}
		a := &App{Config: &config.Config{}}
		text := a.place(t.Context(), c.server, mcp.Local{})
		if !strings.Contains(text, c.want) || strings.Contains(text, c.lacks) || !strings.Contains(text, "git 2.") || len(text) > 1200 || strings.Contains(text, "\n") {
			t.Errorf("%s: %s", name, text)
		}
		if again := (&App{Config: &config.Config{}}).place(t.Context(), c.server, mcp.Local{}); again != text {
			t.Errorf("%s: the second time it is\n%s", name, again)
		}
	}
	if kept, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "agent", "*")); len(kept) != 1 {
		t.Errorf("kept: %q", kept)
	}
}
