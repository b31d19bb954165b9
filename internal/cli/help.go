package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
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
	root.SetHelpFunc(help)
}

// help describes a command in the library's layout. It is not changed by a template: one that is
// executed makes the program a third larger (docs/adr/0023-pages-without-templates.md).
func help(c *cobra.Command, _ []string) {
	about := strings.TrimRight(cmp.Or(c.Long, c.Short), " \n")
	paragraphs := strings.Split(about+"\n\n"+c.UsageString(), "\n\n")
	for i, p := range paragraphs {
		if title, flags, ok := strings.Cut(p, "Flags:\n"); ok && (title == "" || title == "Global ") {
			paragraphs[i] = title + "Flags:\n" + alignFlags(flags)
		}
	}
	fmt.Fprint(c.OutOrStdout(), strings.Join(paragraphs, "\n\n"))
}

// alignFlags removes the values that a switch may be given from a list of flags.
func alignFlags(list string) string {
	const gap = "   "
	var names, usages []string
	longest := 0
	for line := range strings.Lines(strings.ReplaceAll(list, "[=true|false]", "")) {
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
