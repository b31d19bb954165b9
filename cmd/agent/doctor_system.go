package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"agent/contexts"
	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/fsx"
)

// checkDisk wants the room that a run wants.
func (d *doctor) checkDisk() {
	for _, dir := range []string{d.App.Config.ContextsDir, d.App.Config.WorkspacesDir} {
		fsys, err := fsx.OpenOS(existing(dir))
		if err != nil {
			d.note("disk", bad, err.Error(), d.text("doctor.todo.contexts", dir))
			continue
		}
		bytes, inodes, err := fsys.Free()
		_ = fsys.Close() // it was only looked at
		switch {
		case err != nil:
			d.note("disk", bad, err.Error(), "")
		case bytes < contexts.MinBytes || inodes < contexts.MinInodes:
			d.note("disk", bad, d.text("doctor.room", dir, bytes>>20, inodes), d.text("doctor.todo.room", contexts.MinBytes>>20, contexts.MinInodes))
		default:
			d.ok("disk", "doctor.room", dir, bytes>>20, inodes)
		}
	}
}

// existing is the nearest directory above a path that is there.
func existing(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return dir
		}
		dir = parent
	}
}

// oldestGit takes settings from its environment, which keeps tokens out of arguments.
var oldestGit = [2]int{2, 31}

var gitVersion = regexp.MustCompile(`(\d+)\.(\d+)`)

func (d *doctor) checkGit() {
	ctx, cancel := d.within(30 * time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "--version").Output()
	if err != nil {
		d.note("git", bad, d.text("doctor.nogit", err), d.text("doctor.todo.git", oldestGit[0], oldestGit[1]))
		return
	}
	line := strings.TrimSpace(string(out))
	m := gitVersion.FindStringSubmatch(line)
	if m == nil {
		d.note("git", warning, line, d.text("doctor.todo.git", oldestGit[0], oldestGit[1]))
		return
	}
	major, _ := strconv.Atoi(m[1]) // digits, by the expression
	minor, _ := strconv.Atoi(m[2])
	if slices.Compare([]int{major, minor}, oldestGit[:]) < 0 {
		d.note("git", bad, line, d.text("doctor.todo.git", oldestGit[0], oldestGit[1]))
		return
	}
	d.note("git", good, line, "")
}

// sandboxed says how the commands of a server are kept in, or why they are not.
func sandboxed(m config.MCPServer) (kind string, err error) {
	kind, err, _ = app.ServerConfig(m).CheckSandbox()
	return kind, err
}

func (d *doctor) checkSandbox() {
	for _, m := range d.App.Config.MCPServers {
		if len(m.Command) == 0 {
			continue
		}
		kind, err := sandboxed(m)
		switch {
		case m.Sandbox == "off":
			d.note("sandbox", warning, d.text("doctor.sandbox.off", m.Name), "")
		case err != nil && m.Sandbox == "required":
			d.note("sandbox", bad, d.text("doctor.sandbox.none", m.Name, err), d.text("doctor.todo.sandbox.required"))
		case err != nil:
			d.note("sandbox", warning, d.text("doctor.sandbox.none", m.Name, err), d.text("doctor.todo.sandbox"))
		default:
			d.ok("sandbox", "doctor.sandbox", m.Name, kind)
		}
	}
}

// checkTrifecta warns where untrusted text, secrets and contact with the outside
// meet: whoever writes the text can then have the secrets sent away.
func (d *doctor) checkTrifecta() {
	accept := d.App.Config.NewCommentHandling.Accept
	open := len(d.public) > 0 && (accept == "any" || accept == "auto")
	secrets, outside := d.secretServers(), d.outsideServers()
	switch {
	case !open:
		d.ok("trifecta", "doctor.trifecta.closed", accept)
	case len(secrets) == 0 || len(outside) == 0:
		d.ok("trifecta", "doctor.trifecta.apart")
	default:
		d.note("trifecta", warning, d.text("doctor.trifecta", strings.Join(d.public, ", "), accept, strings.Join(secrets, ", "), strings.Join(outside, ", ")),
			d.text("doctor.todo.trifecta"))
	}
}

// secretServers are the tool servers that hold secrets or can reach ours: a
// command without a sandbox can read what this user can read.
func (d *doctor) secretServers() (names []string) {
	known := d.App.Config.Secrets()
	for _, m := range d.App.Config.MCPServers {
		holds := slices.ContainsFunc(values(m), func(v string) bool {
			return slices.ContainsFunc(known, func(s string) bool { return strings.Contains(v, s) })
		})
		if _, err := sandboxed(m); holds || len(m.Command) > 0 && (err != nil || m.Sandbox == "off") {
			names = append(names, m.Name)
		}
	}
	return names
}

func values(m config.MCPServer) (all []string) {
	for _, group := range []map[string]string{m.Env, m.Headers} {
		for _, v := range group {
			all = append(all, v)
		}
	}
	return all
}

// outsideServers are the tool servers through which something can leave: those
// elsewhere, and commands whose sandbox does not take the network from them.
func (d *doctor) outsideServers() (names []string) {
	for _, m := range d.App.Config.MCPServers {
		if _, err := sandboxed(m); m.URL != "" || err != nil || m.Sandbox == "off" || m.Network != "off" {
			names = append(names, m.Name)
		}
	}
	return names
}

func (d *doctor) checkServers() {
	dir, err := os.MkdirTemp("", "agent-doctor-")
	if err != nil {
		d.note("mcp", bad, err.Error(), "")
		return
	}
	defer os.RemoveAll(dir)
	for _, m := range d.App.Config.MCPServers {
		d.checkServer(m, dir)
	}
	if len(d.App.Config.MCPServers) == 0 {
		d.note("mcp", warning, d.text("doctor.noservers"), "")
	}
}

// shownTools is how many names of tools are shown.
const shownTools = 12

func shorten(names []string) string {
	if len(names) > shownTools {
		return strings.Join(names[:shownTools], ", ") + fmt.Sprintf(", … (+%d)", len(names)-shownTools)
	}
	return strings.Join(names, ", ")
}
