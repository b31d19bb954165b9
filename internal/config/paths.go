package config

import (
	"path/filepath"
	"reflect"
	"strings"
)

// xdg are the base directories and where they are if the variable is not set.
var xdg = map[string]string{
	"$XDG_STATE_HOME":  ".local/state",
	"$XDG_DATA_HOME":   ".local/share",
	"$XDG_CONFIG_HOME": ".config",
	"$XDG_CACHE_HOME":  ".cache",
}

// paths makes all paths absolute: ~ and $XDG_…_HOME are replaced, relative ones
// are taken from dir. The signal file stands with the contexts unless it is set.
func (d *decoder) paths(c *Config, dir string) {
	visit(reflect.ValueOf(c).Elem(), "", func(path string, k child) {
		switch to := k.value.Addr().Interface().(type) {
		case *string:
			if of := k.tag.Get("path"); of == "abs" || of == "repository" && !strings.Contains(*to, "://") {
				*to = d.absolute(*to, path, dir)
			}
		case *[]string:
			if k.tag.Get("path") == "abs" {
				for i := range *to {
					(*to)[i] = d.absolute((*to)[i], path, dir)
				}
			}
		}
	})
}

func (d *decoder) absolute(p, path, dir string) string {
	first, rest, _ := strings.Cut(p, "/")
	switch base, isXDG := xdg[first]; {
	case p == "" || filepath.IsAbs(p):
		return p
	case first == "~":
		p = filepath.Join(d.home(path), rest)
	case isXDG && filepath.IsAbs(d.env(first[1:])):
		p = filepath.Join(d.env(first[1:]), rest)
	case isXDG:
		p = filepath.Join(d.home(path), base, rest)
	case strings.HasPrefix(first, "~"):
		d.failAt(path, "only ~/ is understood, not the home of another user")
		return "/"
	default:
		p = filepath.Join(dir, p)
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		d.failAt(path, "the working directory is gone")
	}
	return abs
}

func (d *decoder) home(path string) string {
	home := d.env("HOME")
	if !filepath.IsAbs(home) {
		d.failAt(path, "needs a home directory, but HOME is not set: use an absolute path")
		return "/"
	}
	return home
}

// checkPlaces refuses contexts inside a working copy: the model could write there.
func (d *decoder) checkPlaces(c *Config) {
	if c.PauseResume.SignalFile == "" {
		c.PauseResume.SignalFile = filepath.Join(c.ContextsDir, "pause_signal")
	}
	if c.ContextsDir == "" {
		d.failAt("contexts_dir", "must not be empty")
		return
	}
	contexts := resolved(c.ContextsDir)
	if c.WorkspacesDir == "" {
		d.failAt("workspaces_dir", "must not be empty")
	} else if inside(contexts, resolved(c.WorkspacesDir)) {
		d.failAt("contexts_dir", "must not lie inside workspaces_dir")
	} else if inside(resolved(c.WorkspacesDir), contexts) {
		d.failAt("workspaces_dir", "must not lie inside contexts_dir")
	}
	d.checkCaches(c)
	d.checkContainer(c)
	for _, f := range c.Forges() {
		if f.Workspace != "" && inside(contexts, resolved(f.Workspace)) {
			d.failAt("contexts_dir", "must not lie inside the workspace of a forge")
		}
	}
}

// checkCaches keeps caches apart from everything that tools may write, or that must not be removed.
func (d *decoder) checkCaches(c *Config) {
	if c.CachesDir == "" {
		c.CachesDir = filepath.Join(filepath.Dir(c.WorkspacesDir), "caches")
	}
	caches := resolved(c.CachesDir)
	others := []string{c.ContextsDir, c.WorkspacesDir}
	for _, f := range c.Forges() {
		others = append(others, f.Workspace)
	}
	for _, dir := range others {
		if dir != "" && (inside(caches, resolved(dir)) || inside(resolved(dir), caches)) {
			d.failAt("caches_dir", "must be apart from contexts_dir, workspaces_dir and the workspaces of forges")
			return
		}
	}
}

// resolved follows the links of the part of a path that exists.
func resolved(p string) string {
	if r, err := filepath.EvalSymlinks(p); err == nil {
		return r
	}
	if parent := filepath.Dir(p); parent != p {
		return filepath.Join(resolved(parent), filepath.Base(p))
	}
	return p
}

func inside(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
