package sandbox

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Environ is the environment of a program inside, made of the one it would have
// outside: its home and temporary directory are its own, and toolchains are found
// where they are. Variables named in Keep stay as they are.
func (p Policy) Environ(env []string) []string {
	changes := map[string]string{
		"HOME":                p.home(),
		"TMPDIR":              p.tmp(),
		"GIT_CONFIG_NOSYSTEM": "1", // git would stop at a file that it may not read
		"GOFLAGS":             strings.TrimSpace(lookUp(env, "GOFLAGS") + " -modcacherw"),
	}
	if p.Home != "" {
		p.addToolchains(changes, env)
	}
	for _, name := range p.Keep {
		delete(changes, name)
	}
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, changed := changes[name]
		return changed || name == Variable
	})
	for name, value := range changes {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// goProxy is the go command's own default (https://go.dev/ref/mod#environment-variables).
const goProxy = "https://proxy.golang.org,direct"

// addToolchains tells programs where the real home has what they look for. A module
// cache that may be read serves as a proxy: it stays unchanged, and others can still be downloaded.
func (p Policy) addToolchains(changes map[string]string, env []string) {
	for name, dir := range map[string]string{"RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv"} {
		if dir = filepath.Join(p.Home, dir); exists(dir) {
			changes[name] = dir
		}
	}
	downloads := filepath.Join(p.Home, "go/pkg/mod/cache/download")
	named := slices.ContainsFunc(p.Read, func(tree string) bool { return within(downloads, tree) })
	if !named || !exists(downloads) {
		return
	}
	changes["GOPROXY"] = "file://" + downloads + "," + cmp.Or(lookUp(env, "GOPROXY"), goProxy)
}

// lookUp returns the value of a variable.
func lookUp(env []string, name string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
