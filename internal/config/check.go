package config

import (
	"net/http"
	"slices"
	"strings"

	"agent/internal/lazyregexp"
	"agent/internal/registry"
	"agent/llm"
)

var (
	serverName = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)
	headerName = lazyregexp.New(`^[A-Za-z0-9-]+$`)
)

// otherProvider tells whether the section of another provider stands than that
// of the one in use, which nobody chose: what is missing there is not the trouble.
func (d *decoder) otherProvider(c *Config) bool {
	chosen := d.lines["llm.provider"] > 0 || d.from["llm.provider"] != ""
	inUse := c.LLM.Provider
	if chosen || d.lines["llm."+inUse] > 0 || inUse != registry.Providers[0].Name { // flags may have chosen as well
		return false
	}
	for _, name := range registry.ProviderNames() {
		if line := d.lines["llm."+name]; line > 0 {
			d.fail(line, "llm.%s is set but llm.provider is %s: set provider: %s", name, inUse, name)
			return true
		}
	}
	return false
}

// checkVia wants the tool server through which tasks or comments come.
func (d *decoder) checkVia(c *Config, f Forge, path string) {
	there := slices.ContainsFunc(c.MCPServers, func(s MCPServer) bool { return s.Name == f.Kind })
	for key, via := range map[string]string{"tasks_via": f.TasksVia, "comments_via": f.CommentsVia} {
		if via == "mcp" && !there {
			d.failAt(path+"."+key, "mcp needs an entry of mcp_servers with the name %q", f.Kind)
		}
	}
	if f.TasksVia == "mcp" && len(f.Projects) == 0 {
		d.failAt(path+".tasks_via", "mcp needs the list of %s", f.Driver.ProjectsKey)
	}
}

// checkModel checks the provider in use, and that money can be counted if it is limited.
func (d *decoder) checkModel(c *Config) {
	for _, p := range append([]Provider{c.LLM.Active()}, c.LLM.Others()...) {
		if p.Driver.Name != "" { // else said by its oneof
			d.checkProvider(c, p)
		}
	}
}

func (d *decoder) checkProvider(c *Config, p Provider) {
	section := "llm." + p.Name
	if bad := BadURL(p.URL, c.AllowHTTP); bad != "" {
		d.failAt(p.Driver.URLPath(), "%s", bad)
	}
	if strings.TrimSpace(p.Model) == "" || !oneLine(p.Model) {
		d.failAt(section+".model", "must name a model")
	}
	_, priced := c.LLM.Prices[p.Model]
	if _, listed := llm.PriceOf(p.Model); !priced && !listed && (c.Limits.MaxCostUSD > 0 || c.Limits.MaxCostUSDPerDay > 0) {
		d.failAt("limits", "a cost limit needs the price of the model in use in llm.prices")
	}
}

func (d *decoder) checkServers(c *Config) {
	seen := map[string]bool{}
	for i, s := range c.MCPServers {
		path := forgePath("mcp_servers", i)
		switch {
		case !serverName.MatchString(s.Name) || strings.Contains(s.Name, "__"):
			d.failAt(path+".mcp_server_name", "must consist of letters, digits, _ and -, without __")
		case strings.EqualFold(s.Name, "history"):
			d.failAt(path+".mcp_server_name", "is that of a built-in server")
		case seen[strings.ToLower(s.Name)]:
			d.failAt(path+".mcp_server_name", "is used twice")
		}
		seen[strings.ToLower(s.Name)] = true
		d.checkTransport(c, s, path)
	}
}

func (d *decoder) checkTransport(c *Config, s MCPServer, path string) {
	switch {
	case (len(s.Command) > 0) == (s.URL != ""):
		d.failAt(path, "needs either a command or a url")
	case s.URL != "":
		if bad := BadURL(s.URL, c.AllowHTTP); bad != "" {
			d.failAt(path+".url", "%s", bad)
		}
	case s.Command[0] == "":
		d.failAt(path+".command", "its first word must name a program")
	}
	if len(s.Headers) > 0 && s.URL == "" {
		d.failAt(path+".headers", "are for servers with a url")
	}
	for name, value := range s.Headers {
		if !headerName.MatchString(name) || !oneLine(value) || http.CanonicalHeaderKey(name) == "Host" {
			d.failAt(path+".headers", "a header must be a name and one line of text")
		}
	}
	for name, value := range s.Env {
		if !varName.MatchString(name) || strings.ContainsRune(value, 0) {
			d.failAt(path+".env", "a variable must have a name of letters, digits and _")
		}
	}
}

func (d *decoder) checkForges(c *Config, source string) {
	all := c.Section(source)
	if len(all) == 0 && c.ForgeSections[source] != nil {
		d.failAt(source, "is in task_source but has no entry")
	}
	for i, f := range all {
		path := forgePath(source, i)
		if f.Driver.Local {
			d.checkDirectory(f, path, all[:i])
		} else if bad := BadURL(f.APIURL, c.AllowHTTP); bad != "" {
			d.failAt(path+".api_url", "%s", bad)
		}
		d.checkNames(f, path)
		d.checkVia(c, f, path)
		d.checkLabels(f, path)
		d.checkSetup(f, path)
		if !f.Driver.Local && slices.ContainsFunc(all[:i], func(g Forge) bool { return strings.TrimRight(g.APIURL, "/") == strings.TrimRight(f.APIURL, "/") }) {
			d.failAt(path+".api_url", "is used twice")
		}
	}
}

// checkDirectory wants a directory with a name that no other has.
func (d *decoder) checkDirectory(f Forge, path string, before Forges) {
	switch {
	case f.Directory == "":
		d.failAt(path+".directory", "must not be empty")
	case !f.Driver.ValidProject(f.Name):
		d.failAt(path+".name", "must consist of letters, digits, . _ and -; without it the name of the directory must")
	case slices.ContainsFunc(before, func(g Forge) bool { return strings.EqualFold(g.Name, f.Name) }):
		d.failAt(path+".name", "is used twice: give one of the directories another name")
	case slices.ContainsFunc(before, func(g Forge) bool { return g.Directory == f.Directory }):
		d.failAt(path+".directory", "is used twice")
	}
	if bad := BadURL(f.Repository, true); strings.Contains(f.Repository, "://") && bad != "" {
		d.failAt(path+".repository", "%s", bad)
	}
}

// checkNames wants names of projects and logins that can be.
func (d *decoder) checkNames(f Forge, path string) {
	for _, name := range f.Projects {
		if !f.Driver.ValidProject(name) {
			d.failAt(path+"."+f.Driver.ProjectsKey, "each must be written as %s", f.Driver.ProjectForm)
		}
	}
	for key, name := range map[string]string{"owner": f.Owner, "bot_name": f.BotName, "assignee": f.Assignee} {
		if strings.ContainsAny(name, " \t\"") || !oneLine(name) {
			d.failAt(path+"."+key, "must be a single name")
		}
	}
}

// Scoped reports whether the section says where tasks are looked for.
func (f Forge) Scoped() bool {
	return f.Driver.Local || len(f.Projects) > 0 || f.Driver.Searches && f.Owner != "" // a directory is but one place
}

// checkScopes wants to know where tasks are looked for.
func (d *decoder) checkScopes(c *Config) {
	for _, source := range c.TaskSource {
		for i, f := range c.Section(source) {
			switch path := forgePath(source, i); {
			case d.lacks(path + "."): // it was said already
			case f.Scoped():
			case f.Driver.Searches:
				d.failAt(path, "needs %s or owner", f.Driver.ProjectsKey)
			default:
				d.failAt(path, "needs %s", f.Driver.ProjectsKey)
			}
		}
	}
}

// lacks reports whether a variable is missing for a value below a path.
func (d *decoder) lacks(path string) bool {
	return slices.ContainsFunc(d.missing, func(m missing) bool { return strings.HasPrefix(m.path, path) })
}

// checkLabels keeps the states of a task apart.
func (d *decoder) checkLabels(f Forge, path string) {
	labels := []struct{ key, label string }{
		{"bot_label", f.BotLabel}, {"processing_label", f.ProcessingLabel}, {"done_label", f.DoneLabel},
		{"paused_label", f.PausedLabel}, {"stopped_label", f.StoppedLabel}, {"failed_label", f.FailedLabel},
		{"awaiting_label", f.AwaitingLabel},
	}
	seen := map[string]bool{}
	for _, l := range labels {
		name := strings.ToLower(strings.TrimSpace(l.label))
		switch at := path + "." + l.key; {
		case l.label == "" && l.key == "failed_label":
			continue
		case name == "" || !oneLine(l.label) || name != strings.ToLower(l.label):
			d.failAt(at, "must be one line without spaces around it, and not empty")
		case strings.ContainsAny(name, f.Driver.LabelForbids):
			d.failAt(at, "must not hold any of these characters: %s", f.Driver.LabelForbids)
		case seen[name]:
			d.failAt(at, "is the same as another label")
		}
		seen[name] = true
	}
}
