package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Option changes what [Load] does.
type Option func(*options)

type options struct {
	override []func(*Config)
	offline  bool
}

// Override changes the configuration after the environment and before
// validation: that is where flags go. Relative paths that it sets are relative
// to the working directory.
func Override(f func(*Config)) Option {
	return func(o *options) { o.override = append(o.override, f) }
}

// Offline is for commands that speak to no forge and no model: secrets may be
// missing, nothing is warned of, everything else is checked all the same.
func Offline() Option { return func(o *options) { o.offline = true } }

// Load reads, overrides, resolves and validates. An empty path means the usual
// places (see the package), and no file there means the defaults. env is
// os.Getenv outside of tests. The error, if any, is an *[Error].
func Load(path string, env func(string) string, opts ...Option) (*Config, []Warning, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	given := path
	path, found := find(path, env)
	d := &decoder{env: env, lines: map[string]int{}, from: map[string]string{}, replaced: map[string]string{}}
	c := Default()
	dir := ""
	if found {
		d.file = printable(path)
		raw, open, err := read(path, d.file, given == "")
		if err != nil {
			return nil, nil, err
		}
		dir = filepath.Dir(path)
		if !d.parse(raw, c, dir, o.offline) { // whatever else was said would not be true
			return nil, nil, &Error{d.located(d.problems)}
		}
		if open {
			d.warnLiterals()
		}
	}
	d.finish(c, dir, o)
	if len(d.problems) > 0 {
		d.noFile(path, o)
		return nil, d.located(d.warnings), &Error{d.located(d.problems)}
	}
	return c, d.located(d.warnings), nil
}

// noFile says where no file was found. Without a variable that configures something beside the
// model, the other problems come from that alone, and are left out.
func (d *decoder) noFile(path string, o options) {
	if d.file == "" {
		configured := slices.ContainsFunc(slices.Collect(maps.Keys(d.from)), func(path string) bool { return !strings.HasPrefix(path, "llm.") })
		if !configured && !o.offline && filepath.IsAbs(path) {
			d.problems = nil
		}
		d.fail(-1, "there is no configuration file: --config and $CONFIG_FILE are not set, and %s does not exist; agent init writes one", printable(path))
	}
}

// printable is a whole path in one line.
func printable(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if oneLine(path) {
		return path
	}
	return strconv.Quote(path)
}

// finish is everything after the file: environment, flags, paths, checks.
func (d *decoder) finish(c *Config, dir string, o options) {
	c.inserted, c.replaced = d.inserted, d.replaced
	c.fillForges(func(kind string) bool { return d.lines[kind] == 0 })
	d.environment(c)
	d.paths(c, dir)
	fillSandbox(c.MCPServers)
	fillRequired(c.MCPServers, func(path string) bool { return d.lines[path] != 0 })
	before := map[string]string{}
	if len(o.override) > 0 {
		before = c.values()
	}
	for _, f := range o.override {
		f(c)
	}
	d.paths(c, "")
	if len(o.override) > 0 {
		c.sources.flags = c.changedBy(before)
	}
	c.sources.file, c.sources.lines, c.sources.from = d.file, d.lines, d.from
	d.intervals(c)
	if !o.offline {
		d.secretCommands(c)
		d.reportMissing(c)
		d.checkSecrets(c)
		d.checkScopes(c)
	}
	d.validate(c)
	if o.offline {
		d.warnings = nil // they are about what such a command does not do
	}
}

// parse reads YAML into c, and tells whether it was YAML at all.
func (d *decoder) parse(raw []byte, c *Config, dir string, offline bool) bool {
	dec := yaml.NewDecoder(strings.NewReader(string(raw)))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return true
	case err != nil:
		d.syntax(raw, err)
		return false
	}
	if root := doc.Content[0]; root.Tag != "!!null" {
		d.envFile(root, dir, offline)
		d.value(root, reflect.ValueOf(c).Elem(), "")
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		d.fail(more.Line, "more than one document (---), or rubbish after the first")
	}
	return true
}

// reportMissing turns missing variables into problems, where their values are used. Whoever has to set some
// hears at once of those that may be empty, too: a server may want them.
func (d *decoder) reportMissing(c *Config) {
	before := len(d.problems)
	for _, m := range d.missing {
		if d.from[m.path] == "" && d.used(c, m.path) {
			text := fmt.Sprintf("%s: the environment variable %s is not set (or empty)", shown(m.path), m.name)
			d.problems = append(d.problems, lined{m.line, text, m.name})
		}
	}
	if len(d.problems) == before {
		return
	}
	for _, m := range d.optional {
		if d.from[m.path] == "" && d.used(c, m.path) {
			text := fmt.Sprintf("%s: the environment variable %s is not set (or empty), which this configuration allows", shown(m.path), m.name)
			d.warnings = append(d.warnings, lined{m.line, text, m.name})
		}
	}
}

// used tells whether a path belongs to a section that is in use.
func (d *decoder) used(c *Config, path string) bool {
	parts := strings.Split(plain(path), ".")
	switch {
	case c.ForgeSections[parts[0]] != nil:
		return c.uses(parts[0])
	case parts[0] == "llm" && len(parts) > 2 && parts[1] != "prices":
		return c.LLM.Uses(parts[1])
	}
	return true
}

// failAt reports a problem of a path: with its line, or with the variable that set it.
func (d *decoder) failAt(path, format string, args ...any) {
	if slices.ContainsFunc(d.missing, func(m missing) bool { return m.path == path || strings.HasPrefix(m.path, path+"[") }) {
		return // what is wrong with the rest of it comes from that
	}
	text := shown(path) + ": " + fmt.Sprintf(format, args...)
	if name := d.from[path]; name != "" {
		text = name + ": " + fmt.Sprintf(format, args...)
		d.fail(0, "%s", text)
		return
	}
	d.fail(d.lineOf(path), "%s", text)
}

// lineOf is the line of a path or of the nearest section around it.
func (d *decoder) lineOf(path string) int {
	for path != "" {
		if line := d.lines[path]; line > 0 {
			return line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}

// maxProblems bounds what is reported of a file that is not a configuration at all.
const maxProblems = 100

// located sorts by line and adds the file's name. What the file lacks comes last where a key is
// unknown: that may be why.
func (d *decoder) located(all []lined) []Problem {
	unknown := slices.ContainsFunc(all, func(l lined) bool { return strings.HasPrefix(l.text, "unknown key ") })
	place := func(l lined) int {
		if unknown && l.line == 0 {
			return math.MaxInt
		}
		return l.line
	}
	slices.SortStableFunc(all, func(a, b lined) int { return cmp.Compare(place(a), place(b)) })
	out := make([]Problem, 0, len(all))
	for i, l := range all {
		if i == maxProblems {
			return append(out, Problem{Where: cmp.Or(d.file, "config"), Text: fmt.Sprintf("and %d more", len(all)-i)})
		}
		where := "config"
		switch {
		case l.line > 0:
			where = fmt.Sprintf("%s:%d", d.file, l.line)
		case l.line == wholeFile:
			where = d.file
		}
		if p := (Problem{where, l.text, l.variable}); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
