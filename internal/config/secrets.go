package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// checkSecrets refuses empty and broken secrets of what is in use.
func (d *decoder) checkSecrets(c *Config) {
	for _, source := range c.TaskSource {
		for i, f := range c.Section(source) {
			if f.Driver.Local {
				continue
			}
			if f.App.ID != 0 {
				d.checkApp(f, forgePath(source, i)+".app")
				continue
			}
			d.checkSecret(f.Token, forgePath(source, i)+".personal_access_token", f.Driver.TokenEnv())
		}
	}
	if d.otherProvider(c) {
		return
	}
	for _, p := range append([]Provider{c.LLM.Active()}, c.LLM.Others()...) {
		if p.Driver.Key && (p.APIKey != "" || !Loopback(p.URL)) {
			d.checkSecret(p.APIKey, "llm."+p.Name+".api_key", p.Driver.KeyEnv())
		}
	}
}

// checkApp wants all that an App needs, and no token beside it.
func (d *decoder) checkApp(f Forge, path string) {
	switch {
	case f.App.ID < 0 || f.App.InstallationID <= 0 || f.App.KeyFile == "":
		d.failAt(path, "needs id, key_file and installation_id")
	case f.Token != "" || len(f.TokenCommand) > 0:
		d.failAt(path, "stands beside personal_access_token or token_command: keep one of them")
	}
}

func (d *decoder) checkSecret(s, path, variable string) {
	switch {
	case s == "" && slices.ContainsFunc(d.missing, func(m missing) bool { return m.path == path }):
		// said already, with the variable's name
	case s == "" && slices.Contains(d.unprinted, path): // said already, with what is wrong with the command
	case s == "":
		d.failAt(path, "must not be empty: set it, or the environment variable %s", variable)
	case !oneLine(s) || strings.TrimSpace(s) != s:
		d.failAt(path, "must be one line without spaces around it")
	}
}

// Secrets are all configured secret values: tokens, keys, header values, and the
// values of servers' env that came from ${…} or whose name looks like a secret, and
// those of the file of variables with such a name.
func (c *Config) Secrets() []string {
	set := map[string]bool{}
	walk(reflect.ValueOf(*c), "", func(path, value string) {
		if secretPath(path) && !addressPath(path) {
			set[value] = true
			if _, token, ok := strings.Cut(value, " "); ok && strings.Contains(path, ".headers.") {
				set[token] = true // "Bearer x": x alone is a secret too
			}
		}
	})
	for _, v := range c.inserted {
		if !filepath.IsAbs(v) { // PATH, HOME and the like would be cut out of every message
			set[v] = true
		}
	}
	noteSecrets(c.Notify, set)
	delete(set, "")
	return slices.Sorted(maps.Keys(set))
}

// Hash is the hex SHA-256 of the effective configuration without its secrets.
func (c *Config) Hash() string {
	h := sha256.New()
	walk(reflect.ValueOf(*c), "", func(path, value string) {
		if !secretPath(path) && !slices.Contains(c.inserted, value) {
			fmt.Fprintf(h, "%q=%q\n", path, value)
		}
	})
	return hex.EncodeToString(h.Sum(nil))
}

// String keeps secrets out of messages that print a whole configuration.
func (c Config) String() string { return "config " + c.Hash() }

// Format is for verbs that would go around String.
func (c Config) Format(f fmt.State, _ rune) { io.WriteString(f, c.String()) }

// walk visits every value in a fixed order.
func walk(v reflect.Value, path string, visit func(path, value string)) {
	switch v.Kind() {
	case reflect.Struct:
		for c := range children(v) {
			walk(c.value, join(path, c.key), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case reflect.Map:
		for _, key := range sortedKeys(v) {
			walk(v.MapIndex(reflect.ValueOf(key)), join(path, key), visit)
		}
	default:
		visit(path, fmt.Sprint(v.Interface()))
	}
}
