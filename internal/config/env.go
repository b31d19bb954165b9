package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"agent/internal/registry"
)

// readings turn variables that are not written like the values that they set.
// An empty result sets nothing.
var readings = map[string]func(text string) (string, error){
	"DEBUG": func(text string) (string, error) {
		on, err := truth(text)
		return map[bool]string{true: "debug"}[on], err
	},
	"FUNCTION_CALLING": func(text string) (string, error) {
		on, err := truth(text)
		return map[bool]string{true: "tools", false: "json"}[on], err
	},
	"LOGS": func(text string) (string, error) { // names a file, relative to the working directory
		return filepath.Abs(filepath.Dir(text))
	},
}

// environment overrides the file by the variables of the environment. Of
// forges of one kind they are about the first.
func (d *decoder) environment(c *Config) {
	visit(reflect.ValueOf(c).Elem(), "", func(path string, k child) {
		if k.env != "" && !strings.Contains(strings.Replace(path, "[0]", "", 1), "[") {
			d.setFrom(k.env, path, k.value)
		}
	})
	for _, f := range registry.Forges {
		name := f.Env("mcp_command")
		if v := d.override(name, "mcp_servers.command"); v != "" {
			d.serverCommand(c, f.Name, name, strings.Fields(v))
		}
	}
}

// serverCommand replaces the command of a server. It adds none: a server with a
// forge's token is the operator's own decision.
func (d *decoder) serverCommand(c *Config, server, variable string, argv []string) {
	i := slices.IndexFunc(c.MCPServers, func(s MCPServer) bool { return s.Name == server })
	if i < 0 {
		d.warn(0, "%s is ignored: no server in mcp_servers is called %s", variable, server)
		return
	}
	c.MCPServers[i].Command = argv
	d.from[fmt.Sprintf("mcp_servers[%d].command", i)] = variable
}

// setFrom sets a value from a variable, if that counts.
func (d *decoder) setFrom(name, path string, v reflect.Value) {
	text := d.override(name, path)
	if read := readings[name]; read != nil && text != "" {
		var err error
		if text, err = read(text); err != nil {
			d.fail(0, "%s: %s", name, err)
			return
		}
	}
	if text == "" {
		delete(d.from, path)
		return
	}
	before := written(v)
	if err := set(v, text); err != nil {
		d.fail(0, "%s: %s", name, err)
		return
	}
	if before != "" && before != written(v) && d.lines[path] > 0 {
		d.replaced[path] = name
	}
}

// override is the value of a variable, "" if it does not count.
func (d *decoder) override(name, path string) string {
	v := d.env(name)
	if v == "" {
		return ""
	}
	if !oneLine(v) {
		d.fail(0, "%s: holds a line break or control character", name)
		return ""
	}
	d.from[path] = name
	return v
}
