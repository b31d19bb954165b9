package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"agent/internal/config"
	"agent/internal/machine"
)

// place tells the model where its commands run: in what sandbox, with what network and
// what time, and which programs are there. It is asked for when tools are listed, and
// stands in the log with them.
func (a *App) place(ctx context.Context, m config.MCPServer) string {
	parts := []string{fmt.Sprintf("Where commands run: %s/%s, %s", runtime.GOOS, runtime.GOARCH, confinement(m))}
	parts = append(parts, "Nothing can ask for input. What takes longer than a few minutes needs timeout_seconds, or background.")
	if found := a.programs(ctx, m); found != "" {
		parts = append(parts, "Programs that are there: "+found+".")
	}
	return strings.Join(parts, " ")
}

// confinement is what the sandbox of a server lets through, for the model.
func confinement(m config.MCPServer) string {
	kind, _, boxed := ServerConfig(m).CheckSandbox()
	if !boxed || kind == "" {
		return "without a sandbox, with the rights of the agent's user: keep to the repository."
	}
	writable := append([]string{"the repository"}, m.SandboxWrite...)
	text := "in a sandbox. Writable are " + strings.Join(writable, ", ") + ", and a private $HOME and $TMPDIR, which end with the work; everything else is read-only or hidden. "
	if m.Network == "off" {
		return text + "There is no network: work with what is installed and vendored."
	}
	return text + "The network is on."
}

// programs are those that commands find.
func (a *App) programs(ctx context.Context, m config.MCPServer) string {
	a.lookedUp.Do(func() {
		file := ""
		if dir, err := os.UserCacheDir(); err == nil {
			file = filepath.Join(dir, "agent", "programs.json")
		}
		for _, p := range machine.Find(ctx, cmp.Or(m.Env["PATH"], os.Getenv("PATH")), file) {
			a.found = append(a.found, p.String())
		}
	})
	return strings.Join(a.found, ", ")
}
