package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"agent/internal/lazyregexp"
	"agent/internal/registry"
)

// most bounds every number that has no bound of its own.
const most = 1e12

func forgePath(source string, i int) string { return fmt.Sprintf("%s[%d]", source, i) }

// intervals sets the waits of each forge: this machine needs none. It also names directories.
func (d *decoder) intervals(c *Config) {
	for kind, section := range c.ForgeSections {
		for i := range *section {
			f := &(*section)[i]
			f.AdoptWaitSeconds = c.AdoptWaitSeconds
			if f.Driver.Local {
				f.Name = cmp.Or(f.Name, filepath.Base(f.Directory))
			}
			if !f.Near() {
				continue
			}
			if d.lines["adopt_wait_seconds"] == 0 {
				f.AdoptWaitSeconds = 0
			}
			if d.lines[forgePath(kind, i)+".write_interval_ms"] == 0 {
				f.WriteIntervalMS = 0
			}
		}
	}
	for _, p := range c.LLM.Sections {
		if p.Driver.FixURL != nil {
			p.URL = p.Driver.FixURL(p.URL)
		}
	}
}

func (d *decoder) validate(c *Config) {
	visit(reflect.ValueOf(c).Elem(), "", func(path string, k child) {
		if d.used(c, path) {
			d.bounded(k.value, k.tag, path)
		}
	})
	if len(c.TaskSource) == 0 {
		d.failAt("task_source", "must name at least one of %s", strings.Join(registry.ForgeNames(), ", "))
	}
	for i, s := range c.TaskSource {
		if slices.Contains(c.TaskSource[:i], s) {
			d.failAt("task_source", "names %s twice", quoteKey(s))
		}
	}
	d.checkPlaces(c)
	d.checkModel(c)
	d.checkServers(c)
	d.checkTelemetry(c)
	d.checkWebhooks(c)
	d.checkCluster(c)
	d.checkNotify(c)
	for _, source := range c.TaskSource {
		d.checkForges(c, source)
	}
	if c.Planning.Approval != "never" && !c.Planning.Enabled {
		d.failAt("planning.approval", "needs planning.enabled: without a plan there is nothing to approve")
	}
	if c.Planning.Approval != "never" && !c.Commands.Enabled {
		d.failAt("planning.approval", "needs commands.enabled: people approve by commands in comments")
	}
	if p := c.ChangeRequests.BranchPrefix; !branchPrefix.MatchString(p) || strings.Contains(p, "..") || strings.Contains(p, "//") {
		d.failAt("change_requests.branch_prefix", "is not the beginning of a branch name")
	}
	for i, p := range c.ChangeRequests.ProtectedPaths {
		if p == "" || !oneLine(p) || strings.HasPrefix(p, "/") {
			d.failAt("change_requests.protected_paths", "each must be a path below the repository, on one line")
		} else if !doublestar.ValidatePattern(p) {
			d.failAt(fmt.Sprintf("change_requests.protected_paths[%d]", i), "is no valid pattern: a [ or { is not closed")
		}
	}
	if b := c.ChangeRequests.Base; b != "" && (!branchPrefix.MatchString(b) || strings.Contains(b, "..") || strings.HasSuffix(b, "/")) {
		d.failAt("change_requests.base", "is not the name of a branch")
	}
}

// checkSetup wants commands for projects that can be.
func (d *decoder) checkSetup(f Forge, path string) {
	for name, commands := range f.SetupCommands {
		if !f.Driver.ValidProject(name) {
			d.failAt(path+".setup_commands", "each key must be the name of a project")
		}
		for _, argv := range commands {
			if len(argv) == 0 || argv[0] == "" || strings.ContainsRune(strings.Join(argv, ""), 0) {
				d.failAt(path+".setup_commands", "each command must be a list of arguments that begins with a program, like [npm, ci]")
			}
		}
	}
}

var branchPrefix = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,63}$`)

// bounded checks the min, max and oneof tags of a key.
func (d *decoder) bounded(v reflect.Value, tag reflect.StructTag, path string) {
	switch v.Kind() {
	case reflect.Int:
		d.inRange(float64(v.Int()), tag, path)
	case reflect.Float64:
		d.inRange(v.Float(), tag, path)
	case reflect.String:
		d.oneOf(v.String(), oneOf(tag), path)
	case reflect.Slice:
		if list, ok := v.Interface().(Strings); ok {
			for _, s := range list {
				d.oneOf(s, oneOf(tag), path)
			}
		}
	}
}

func (d *decoder) inRange(n float64, tag reflect.StructTag, path string) {
	low, high := 0.0, float64(most)
	if s := tag.Get("min"); s != "" {
		low, _ = strconv.ParseFloat(s, 64)
	}
	if s := tag.Get("max"); s != "" {
		high, _ = strconv.ParseFloat(s, 64)
	}
	if !(n >= low && n <= high) { // written so that NaN fails
		d.failAt(path, "must be between %s and %s", number(low), number(high))
	}
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (d *decoder) oneOf(s string, words []string, path string) {
	if words == nil || slices.Contains(words, s) {
		return
	}
	text := "must be one of " + strings.Join(words, ", ")
	if near := closest(s, words); near != "" { // of our own words, never the value
		text += fmt.Sprintf(": did you mean %q?", near)
	}
	d.failAt(path, "%s", text)
}
