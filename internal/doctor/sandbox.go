package doctor

import (
	"slices"
	"strings"

	"agent/internal/app"
	"agent/internal/config"
)

func (d *doctor) checkSandbox() {
	for _, m := range d.Config.MCPServers {
		if len(m.Command) == 0 {
			continue
		}
		kind, err := sandboxOf(m)
		switch {
		case m.Sandbox == "off":
			d.note("sandbox", Warning, d.text("doctor.sandbox.off", m.Name), "")
		case err != nil && m.Sandbox == "required":
			d.note("sandbox", Failed, d.text("doctor.sandbox.none", m.Name, err), d.text("doctor.todo.sandbox.required"))
		case err != nil:
			d.note("sandbox", Warning, d.text("doctor.sandbox.none", m.Name, err), d.text("doctor.todo.sandbox"))
		default:
			d.ok("sandbox", "doctor.sandbox", m.Name, kind)
		}
	}
}

// sandboxOf says how the commands of a server are confined, or why they are not.
func sandboxOf(m config.MCPServer) (kind string, err error) {
	kind, err, _ = app.ServerConfig(m).CheckSandbox()
	return kind, err
}

// checkInjection warns if untrusted text, secrets and a way out meet: whoever
// writes the text can then have the secrets sent away.
func (d *doctor) checkInjection() {
	const check = "prompt injection"
	accept := d.Config.NewCommentHandling.Accept
	untrusted := len(d.public) > 0 && (accept == "any" || accept == "auto")
	secrets, ways := d.serversWithSecrets(), d.serversWithNetwork()
	switch {
	case !untrusted:
		d.ok(check, "doctor.injection.closed", accept)
	case len(secrets) == 0 || len(ways) == 0:
		d.ok(check, "doctor.injection.apart")
	default:
		d.note(check, Warning, d.text("doctor.injection", strings.Join(d.public, ", "), accept, strings.Join(secrets, ", "), strings.Join(ways, ", ")),
			d.text("doctor.todo.injection"))
	}
}

// serversWithSecrets are the tool servers that hold secrets or can reach ours: a
// command without a sandbox can read what this user can read.
func (d *doctor) serversWithSecrets() (names []string) {
	secrets := d.Config.Secrets()
	for _, m := range d.Config.MCPServers {
		holds := slices.ContainsFunc(settings(m), func(v string) bool {
			return slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(v, s) })
		})
		if _, err := sandboxOf(m); holds || len(m.Command) > 0 && (err != nil || m.Sandbox == "off") {
			names = append(names, m.Name)
		}
	}
	return names
}

// settings are the values that a server is given.
func settings(m config.MCPServer) (all []string) {
	for _, group := range []map[string]string{m.Env, m.Headers} {
		for _, v := range group {
			all = append(all, v)
		}
	}
	return all
}

// serversWithNetwork are the tool servers through which data can leave: remote
// ones, and commands whose sandbox does not take the network from them.
func (d *doctor) serversWithNetwork() (names []string) {
	for _, m := range d.Config.MCPServers {
		if _, err := sandboxOf(m); m.URL != "" || err != nil || m.Sandbox == "off" || m.Network != "off" {
			names = append(names, m.Name)
		}
	}
	return names
}
