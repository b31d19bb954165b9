package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/scratch"
	"agent/mcp"
)

func (d *doctor) checkServers() {
	dir, remove, err := scratch.Dir(scratch.Doctor)
	if err != nil {
		d.note("tool servers", Failed, err.Error(), "")
		return
	}
	defer remove()
	for _, m := range d.Config.MCPServers {
		d.checkServer(m, dir)
	}
	if len(d.Config.MCPServers) == 0 {
		d.note("tool servers", Warning, d.text("doctor.noservers"), "")
	}
}

// checkServer starts one tool server by itself and lists its tools.
func (d *doctor) checkServer(m config.MCPServer, workspace string) {
	check := "tool server " + m.Name
	ctx, cancel := d.within(time.Minute)
	defer cancel()
	pool := mcp.NewPool(app.ServerConfigs([]config.MCPServer{m}), mcp.Options{Version: d.Version})
	defer pool.Close()
	session := pool.Session(workspace)
	defer session.Close()
	start := time.Now()
	for _, s := range session.List(ctx) {
		var names []string
		for _, t := range s.Tools {
			names = append(names, t.Name)
		}
		switch {
		case s.Err != "":
			d.note(check, Failed, s.Err, d.text("doctor.todo.server", m.Name))
		case len(names) == 0:
			d.note(check, Warning, d.text("doctor.notools"), d.text("doctor.todo.allow"))
		default:
			d.ok(check, "doctor.tools", len(names), time.Since(start).Round(time.Millisecond), shorten(names))
		}
		d.checkAllowed(check, m, names)
	}
}

// checkAllowed finds names in `allow` that the server does not have.
func (d *doctor) checkAllowed(check string, m config.MCPServer, names []string) {
	for _, name := range m.Allow {
		if len(names) > 0 && !slices.Contains(names, name) {
			d.note(check, Warning, d.text("doctor.notallowed", name), d.text("doctor.todo.allow"))
		}
	}
}

// mostShown is how many names are listed in a finding.
const mostShown = 12

func shorten(names []string) string {
	if len(names) > mostShown {
		return strings.Join(names[:mostShown], ", ") + fmt.Sprintf(", … (+%d)", len(names)-mostShown)
	}
	return strings.Join(names, ", ")
}
