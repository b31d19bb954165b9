package mcp

import (
	"context"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// passed are the variables that a server gets from our environment.
var passed = []string{
	"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL",
	"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
}

const workspaceVariable = "{workspace}"

// ownExecutable is the first word of a command that means this executable.
const ownExecutable = "agent"

// perWorkspace reports whether a server is started once per workspace.
func (c ServerConfig) perWorkspace() bool {
	has := func(s string) bool { return strings.Contains(s, workspaceVariable) }
	return slices.ContainsFunc(c.Command, has) || slices.ContainsFunc(slices.Collect(maps.Values(c.Env)), has)
}

// in returns the configuration with {workspace} replaced.
func (c ServerConfig) in(workspace string) ServerConfig {
	c.workspace = workspace
	c.Command = slices.Clone(c.Command)
	for i, word := range c.Command {
		c.Command[i] = strings.ReplaceAll(word, workspaceVariable, workspace)
	}
	c.Env = maps.Clone(c.Env)
	for name, value := range c.Env {
		c.Env[name] = strings.ReplaceAll(value, workspaceVariable, workspace)
	}
	return c
}

// builtIn reports whether this is the server for working copies that the program brings.
func (c ServerConfig) builtIn() bool {
	return len(c.Command) > 2 && c.Command[0] == ownExecutable && c.Command[1] == "mcp" && c.Command[2] == "workspace"
}

// openLocal is what the server gets beside its workspace. Only the built-in server runs in an image:
// others need what the machine has.
func (c ServerConfig) openLocal(ctx context.Context) (local Local, err error) {
	if _, boxed := c.policy(nil, Options{}.withDefaults()); !boxed || c.opened == nil {
		return local, nil
	}
	if local, err = c.opened(ctx); !c.builtIn() {
		local.Image, err = Image{}, nil
	}
	return local, err
}

// withLocal is the configuration of a server with what it gets beside its workspace.
func (c ServerConfig) withLocal(ctx context.Context) (ServerConfig, error) {
	local, err := c.openLocal(ctx)
	if c.local = local; local.Caches != "" {
		c.Write = append(slices.Clone(c.Write), local.Caches)
	}
	return c, err
}

// environment builds a server's environment, sorted.
func (c ServerConfig) environment(getenv func(string) string, secret func(string) bool) []string {
	all := make(map[string]string)
	for _, name := range passed {
		if value := getenv(name); value != "" {
			all[name] = value
		}
	}
	for _, name := range toolchainVariables {
		if dir := getenv(name); filepath.IsAbs(dir) && c.local.Image.Dir == "" {
			all[name] = dir // programs of the toolchain look for the rest of it there
		}
	}
	c.local.Image.addTo(all)
	maps.Copy(all, settings(getenv, secret))
	maps.Copy(all, c.local.Env)
	maps.Copy(all, c.Env)
	env := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+all[name])
	}
	return env
}

// imagePath is where programs are in an image that does not say it.
const imagePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Path is the PATH inside.
func (i Image) Path() string {
	env := map[string]string{}
	i.addTo(env)
	return env["PATH"]
}

// addTo sets the image's variables: what the machine has for its own programs does not count inside.
func (i Image) addTo(env map[string]string) {
	if i.Dir == "" {
		return
	}
	env["PATH"] = imagePath
	for _, entry := range i.Env {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "HOME" && name != "TMPDIR" {
			env[name] = value
		}
	}
}

// findCommand looks a command up in the PATH of its own environment.
func findCommand(name string, env []string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return exec.LookPath(name)
	}
	for _, entry := range env {
		path, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(found) {
				return found, nil
			}
		}
	}
	return "", exec.ErrNotFound
}
