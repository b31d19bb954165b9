package main

import (
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groups are the headings under which help lists the commands.
var groups = []struct {
	id, title string
	commands  string
}{
	{"work", "Work:", "run loop try fork pause resume stop"},
	{"look", "See what happened:", "list status why inspect ui diff files restore search export stats replay"},
	{"store", "Look after the contexts:", "verify repair rebuild gc forget"},
	{"setup", "Set up:", "init config doctor demo mcp docs version completion help"},
}

// arrange puts the commands into their groups and lays out the help of all of them.
func arrange(root *cobra.Command) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for name := range strings.FieldsSeq(g.commands) {
			if c, _, err := root.Find([]string{name}); err == nil && c != root {
				c.GroupID = g.id
			}
		}
	}
	registerUsages()
	template := strings.ReplaceAll(root.UsageTemplate(), ".LocalFlags.FlagUsages", "usagesOf .LocalFlags")
	root.SetUsageTemplate(strings.ReplaceAll(template, ".InheritedFlags.FlagUsages", "usagesOf .InheritedFlags"))
}

// registerUsages does it once: the library keeps such functions in a global map.
var registerUsages = sync.OnceFunc(func() { cobra.AddTemplateFunc("usagesOf", usagesOf) })

// usagesOf describes flags without the values that a switch may be given.
func usagesOf(flags *pflag.FlagSet) string {
	const gap = "   "
	var names, usages []string
	longest := 0
	for line := range strings.Lines(strings.ReplaceAll(flags.FlagUsages(), "[=true|false]", "")) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		name, usage, _ := strings.Cut(line[indent:], gap)
		names, usages = append(names, line[:indent]+name), append(usages, strings.TrimLeft(usage, " "))
		longest = max(longest, indent+len(name))
	}
	var b strings.Builder
	for i, name := range names {
		b.WriteString(name + strings.Repeat(" ", longest-len(name)) + gap + usages[i])
	}
	return b.String()
}
