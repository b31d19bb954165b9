package mcp

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"

	"agent/internal/sandbox"
)

// policy is what the sandbox of a server lets through, and whether it has one.
// argv is its command line with the program's path.
func (c ServerConfig) policy(argv []string, o Options) (p sandbox.Policy, boxed bool) {
	if c.URL != "" || c.Sandbox != "auto" && c.Sandbox != "required" {
		return p, false
	}
	p.Root = c.local.Image.Dir
	p.Write = slices.Clone(c.Write)
	if c.workspace != "" {
		p.Write = append(p.Write, c.workspace)
	}
	if p.Root == "" {
		c.addToolchains(&p, o)
	}
	p.Read = slices.Concat(p.Read, c.Read, sandbox.ForCommand(argv, p.Home))
	if own, err := filepath.EvalSymlinks(o.Executable); err == nil {
		p.Read = append(p.Read, own) // it arranges the sandbox from within
	}
	p.Deny, p.Unnamed = o.Deny, o.Unnamed
	p.NoNetwork = c.Network == "off"
	p.Required = c.Sandbox == "required"
	p.Keep = slices.Sorted(maps.Keys(c.Env))
	return p, true
}

// addToolchains lets programs of the machine's toolchains be run. An image has its own.
func (c ServerConfig) addToolchains(p *sandbox.Policy, o Options) {
	if home := o.Getenv("HOME"); filepath.IsAbs(home) && home != "/" {
		p.Home = filepath.Clean(home)
	}
	for _, name := range toolchainVariables {
		if path := cmp.Or(c.Env[name], o.Getenv(name)); filepath.IsAbs(path) && path != "/" && (p.Home == "" || !within(p.Home, path)) {
			p.Read = append(p.Read, filepath.Clean(path))
		}
	}
}

// toolchainVariables name directories of toolchains.
var toolchainVariables = []string{"GOROOT", "JAVA_HOME", "RUSTUP_HOME", "M2_HOME", "GRADLE_HOME", "DOTNET_ROOT"}

// within tells whether path is dir or below it. Arguments are (path, dir).
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// CheckSandbox says which mechanisms keep a server in here, and as an error what
// is missing; ok is false for a server without a sandbox.
func (c ServerConfig) CheckSandbox() (kind string, lack error, ok bool) {
	p, boxed := c.policy(nil, Options{}.withDefaults())
	if !boxed {
		return "", nil, false
	}
	kind, lack = p.Check()
	return kind, lack, true
}
