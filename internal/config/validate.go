package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// most bounds every number that has no bound of its own.
const most = 1e12

func forgePath(source string, i int) string { return fmt.Sprintf("%s[%d]", source, i) }

// intervals sets the waits of each forge: a loopback host needs none.
func (d *decoder) intervals(c *Config) {
	for _, source := range []string{"github", "gitlab"} {
		for i := range *c.section(source) {
			f := &(*c.section(source))[i]
			f.AdoptWaitSeconds = c.AdoptWaitSeconds
			if !Loopback(f.APIURL) {
				continue
			}
			if d.lines["adopt_wait_seconds"] == 0 {
				f.AdoptWaitSeconds = 0
			}
			if d.lines[forgePath(source, i)+".write_interval_ms"] == 0 {
				f.WriteIntervalMS = 0
			}
		}
	}
	if base := &c.LLM.LMStudio.BaseURL; strings.Count(*base, "/") == 2 || strings.Count(*base, "/") == 3 && strings.HasSuffix(*base, "/") {
		*base = strings.TrimSuffix(*base, "/") + "/v1" // its API has no other root, and people leave it out
	}
}

func (d *decoder) validate(c *Config) {
	d.ranges(c, reflect.ValueOf(c).Elem(), "")
	if len(c.TaskSource) == 0 {
		d.failAt("task_source", "must name github or gitlab")
	}
	for i, s := range c.TaskSource {
		if slices.Contains(c.TaskSource[:i], s) {
			d.failAt("task_source", "names %s twice", quoteKey(s))
		}
	}
	d.checkPlaces(c)
	d.checkModel(c)
	d.checkServers(c)
	for _, source := range c.TaskSource {
		d.checkForges(c, source)
	}
	if p := c.ChangeRequests.BranchPrefix; !branchPrefix.MatchString(p) || strings.Contains(p, "..") || strings.Contains(p, "//") {
		d.failAt("change_requests.branch_prefix", "is not the beginning of a branch name")
	}
	for _, p := range c.ChangeRequests.ProtectedPaths {
		if p == "" || !oneLine(p) || strings.HasPrefix(p, "/") {
			d.failAt("change_requests.protected_paths", "each must be a path below the repository, on one line")
		}
	}
	if b := c.ChangeRequests.Base; b != "" && (!branchPrefix.MatchString(b) || strings.Contains(b, "..") || strings.HasSuffix(b, "/")) {
		d.failAt("change_requests.base", "is not the name of a branch")
	}
}

// checkSetup wants commands for projects that can be.
func (d *decoder) checkSetup(f Forge, path string) {
	for name, commands := range f.SetupCommands {
		if !ValidProject(f.Kind, name) {
			d.failAt(path+".setup_commands", "each key must be the name of a project")
		}
		for _, argv := range commands {
			if len(argv) == 0 || argv[0] == "" || strings.ContainsRune(strings.Join(argv, ""), 0) {
				d.failAt(path+".setup_commands", "each command must be a list of arguments that begins with a program, like [npm, ci]")
			}
		}
	}
}

var branchPrefix = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,63}$`)

// ranges checks the min, max and oneof tags of everything that is in use.
func (d *decoder) ranges(c *Config, v reflect.Value, path string) {
	if path != "" && !d.used(c, path+".") {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for key, i := range fields(v.Type()) {
			d.bounded(v.Field(i), v.Type().Field(i).Tag, join(path, key))
			d.ranges(c, v.Field(i), join(path, key))
		}
	case reflect.Slice:
		for i := range v.Len() {
			d.ranges(c, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			d.ranges(c, v.MapIndex(k), join(path, k.String()))
		}
	}
}

func (d *decoder) bounded(v reflect.Value, tag reflect.StructTag, path string) {
	switch v.Kind() {
	case reflect.Int:
		d.inRange(float64(v.Int()), tag, path)
	case reflect.Float64:
		d.inRange(v.Float(), tag, path)
	case reflect.String:
		d.oneOf(v.String(), tag.Get("oneof"), path)
	case reflect.Slice:
		if list, ok := v.Interface().(Strings); ok {
			for _, s := range list {
				d.oneOf(s, tag.Get("oneof"), path)
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

func (d *decoder) oneOf(s, allowed, path string) {
	words := strings.Split(allowed, "|")
	if allowed == "" || slices.Contains(words, s) {
		return
	}
	text := "must be one of " + strings.Join(words, ", ")
	if near := closest(s, words); near != "" { // of our own words, never the value
		text += fmt.Sprintf(": did you mean %q?", near)
	}
	d.failAt(path, "%s", text)
}
