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

// withCaches is the configuration of a server whose sandbox lets it write its workspace's caches.
func (c ServerConfig) withCaches(ctx context.Context) ServerConfig {
	if _, boxed := c.policy(nil, Options{}.withDefaults()); !boxed || c.caches == nil {
		return c
	}
	if open := c.caches(ctx); open.Dir != "" {
		c.Write, c.cacheEnv = append(slices.Clone(c.Write), open.Dir), open.Env
	}
	return c
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
		if dir := getenv(name); filepath.IsAbs(dir) {
			all[name] = dir // programs of the toolchain look for the rest of it there
		}
	}
	maps.Copy(all, settings(getenv, secret))
	maps.Copy(all, c.cacheEnv)
	maps.Copy(all, c.Env)
	env := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+all[name])
	}
	return env
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
