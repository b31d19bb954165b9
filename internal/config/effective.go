package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Setting is one effective value, and where it comes from.
type Setting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"` // null for a secret
	Secret bool   `json:"secret,omitempty"`
	Set    bool   `json:"set"`            // it is not empty
	Source string `json:"source"`         // default | file | environment | flag
	Line   int    `json:"line,omitempty"` // of the file
	Env    string `json:"variable,omitempty"`
}

// sources say where values come from; see [decoder].
type sources struct {
	file  string
	lines map[string]int
	from  map[string]string
	flags map[string]bool // paths that [Override] changed
}

// File is the file that was read, "" if there was none.
func (c *Config) File() string { return c.sources.file }

// Effective gives every value of what is in use, in the order of the table. A
// secret has no value.
func (c *Config) Effective() (all []Setting) {
	visit(reflect.ValueOf(c).Elem(), "", func(path string, k child) {
		switch {
		case !c.inUse(path):
		case k.value.Kind() == reflect.Map:
			for _, key := range sortedKeys(k.value) {
				all = append(all, c.setting(join(path, key), k.value.MapIndex(reflect.ValueOf(key))))
			}
		default:
			all = append(all, c.setting(path, k.value))
		}
	})
	return all
}

func (c *Config) setting(path string, v reflect.Value) Setting {
	s := Setting{Key: shownWhole(path), Secret: secretPath(path), Set: !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0), Source: "default"}
	if !s.Secret {
		s.Value = v.Interface()
	}
	switch {
	case c.sources.flags[path]:
		s.Source = "flag"
	case c.sources.from[path] != "":
		s.Source, s.Env = "environment", c.sources.from[path]
	case c.sources.lines[path] > 0:
		s.Source, s.Line = "file", c.sources.lines[path]
	}
	return s
}

// inUse tells whether a path belongs to a forge or a provider in use, or to neither.
func (c *Config) inUse(path string) bool {
	d := decoder{}
	return d.used(c, path)
}

// shownWhole is shown with the keys of people's own choice.
func shownWhole(path string) string { return strings.ReplaceAll(path, "[0]", "") }

// values are all values as text, by path, to see what changes them.
func (c *Config) values() map[string]string {
	all := map[string]string{}
	walk(reflect.ValueOf(*c), "", func(path, value string) { all[path] = value })
	return all
}

// changedBy notes the paths whose values differ from before.
func (c *Config) changedBy(before map[string]string) map[string]bool {
	changed := map[string]bool{}
	after := c.values()
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if before[path] != after[path] {
			changed[path] = true
		}
	}
	return changed
}

// Text is a value as YAML has it.
func (s Setting) Text() string {
	if s.Value == nil {
		return ""
	}
	return written(reflect.ValueOf(s.Value))
}

// Choose gives the settings of the given keys and sections, all without any.
func Choose(all []Setting, keys []string, changed bool) (some []Setting) {
	for _, s := range all {
		fits := len(keys) == 0
		for _, key := range keys {
			fits = fits || s.Key == key || strings.HasPrefix(s.Key, key+".") || strings.HasPrefix(s.Key, key+"[")
		}
		if fits && (!changed || s.Source != "default") {
			some = append(some, s)
		}
	}
	return some
}
