package cli

import (
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// arrange puts the commands into their groups and lays out the help of all of them.
func arrange(root *cobra.Command, groups []Group) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.ID, Title: g.Title})
		for name := range strings.FieldsSeq(g.Commands) {
			if c, _, err := root.Find([]string{name}); err == nil && c != root {
				c.GroupID = g.ID
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

// addExamples gives one to the commands that come with the library.
func addExamples(c *cobra.Command) {
	switch c.CommandPath() {
	case "agent help":
		c.Example = "  agent help run"
	case "agent completion":
		c.Example = "  agent completion bash > ~/.local/share/bash-completion/completions/agent"
	case "agent completion bash", "agent completion zsh", "agent completion fish", "agent completion powershell":
		c.Example = "  " + c.CommandPath() + " --no-descriptions"
	}
	for _, sub := range c.Commands() {
		addExamples(sub)
	}
}
