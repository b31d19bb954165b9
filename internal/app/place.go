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
	"agent/mcp"
)

// place tells the model where its commands run: in what sandbox, with what network and
// what time, and which programs are there. It is asked for when tools are listed, and
// stands in the log with them.
func (a *App) place(ctx context.Context, m config.MCPServer, local mcp.Local) string {
	parts := []string{fmt.Sprintf("Where commands run: %s/%s, %s", runtime.GOOS, runtime.GOARCH, confinement(m, local.Image))}
	if local.Note != "" {
		parts = append(parts, local.Note+".")
	}
	parts = append(parts, "Nothing can ask for input. What takes longer than a few minutes needs timeout_seconds, or background.")
	if found := a.programs(ctx, m, local.Image); found != "" {
		parts = append(parts, "Programs that are there: "+found+".")
	}
	return strings.Join(parts, " ")
}

// confinement is what the sandbox of a server lets through, for the model.
func confinement(m config.MCPServer, image mcp.Image) string {
	kind, _, boxed := ServerConfig(m).CheckSandbox()
	if !boxed || kind == "" {
		return "without a sandbox, with the rights of the agent's user: keep to the repository."
	}
	writable := append([]string{"the repository"}, m.SandboxWrite...)
	text := "in a sandbox. Writable are " + strings.Join(writable, ", ") + ", and a private $HOME and $TMPDIR, which end with the work; everything else is read-only or hidden. "
	if image.Dir != "" {
		text = fmt.Sprintf("in a container of the image %s (%s), which is not the machine that the agent runs on. Everything can be written, but only what is in %s is kept. ", image.Name, image.ID, strings.Join(writable, ", "))
	}
	if m.Network == "off" {
		return text + "There is no network: work with what is installed and vendored."
	}
	return text + "The network is on."
}

// FindPrograms looks up what the first task is going to be told of this machine: on some
// the programs take a second to tell their versions, once a day.
func (a *App) FindPrograms(ctx context.Context) {
	for _, m := range a.Config.MCPServers {
		if a.isOwn(m.Name) && !a.Config.Sandbox.Container.Used() {
			a.programs(ctx, m, mcp.Image{})
		}
	}
}

// programs are those that commands find.
func (a *App) programs(ctx context.Context, m config.MCPServer, image mcp.Image) string {
	if image.Dir != "" {
		return list(machine.Named(image.Dir, cmp.Or(m.Env["PATH"], image.Path())))
	}
	a.lookedUp.Do(func() {
		file := ""
		if dir, err := os.UserCacheDir(); err == nil {
			file = filepath.Join(dir, "agent", "programs.json")
		}
		a.found = list(machine.Find(ctx, cmp.Or(m.Env["PATH"], os.Getenv("PATH")), file))
	})
	return a.found
}

func list(found []machine.Program) string {
	var all []string
	for _, p := range found {
		all = append(all, p.String())
	}
	return strings.Join(all, ", ")
}
