package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"agent/internal/i18n"
	"agent/internal/term"
)

// arrange puts the commands into their groups.
func arrange(root *cobra.Command, groups []Group) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.ID, Title: g.Title})
		for name := range strings.FieldsSeq(g.Commands) {
			if c, _, err := root.Find([]string{name}); err == nil && c != root {
				c.GroupID = g.ID
			}
		}
	}
}

// help describes a command in the library's layout. It is not changed by a template: one that is
// executed makes the program a third larger (docs/adr/0023-pages-without-templates.md).
func (e *Env) help(c *cobra.Command, _ []string) {
	lang := e.locale()
	translate(c.Root(), lang)
	fmt.Fprint(c.OutOrStdout(), strings.TrimRight(cmp.Or(c.Long, c.Short), " \n")+"\n\n"+layOut(c.UsageString(), lang))
}

// layOut aligns the flags of the library's usage, and puts its titles into a language.
func layOut(usage string, lang i18n.Lang) string {
	paragraphs := strings.Split(usage, "\n\n")
	for i, p := range paragraphs {
		if title, flags, _ := strings.Cut(p, "\n"); title == "Flags:" || title == "Global Flags:" {
			paragraphs[i] = title + "\n" + alignFlags(flags, lang)
		}
	}
	return firstLines(strings.Join(paragraphs, "\n\n"), lang)
}

// alignFlags removes the values that a switch may be given from a list of flags, and puts the
// library's word for a default into a language.
func alignFlags(list string, lang i18n.Lang) string {
	const gap = "   "
	var names, usages []string
	longest := 0
	for line := range strings.Lines(strings.ReplaceAll(list, "[=true|false]", "")) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		name, usage, _ := strings.Cut(line[indent:], gap)
		names, usages = append(names, line[:indent]+name), append(usages, defaultIn(strings.TrimLeft(usage, " "), lang))
		longest = max(longest, indent+term.Columns(name))
	}
	var b strings.Builder
	for i, name := range names {
		b.WriteString(name + strings.Repeat(" ", longest-term.Columns(name)) + gap + usages[i])
	}
	return b.String()
}

// defaultIn puts the default that the library adds to a usage into a language.
func defaultIn(usage string, lang i18n.Lang) string {
	text, value, ok := strings.Cut(usage, " (default ")
	if !ok || lang == i18n.En {
		return usage
	}
	line := strings.TrimSuffix(value, "\n")
	return text + i18n.Help(lang, "(default "+line) + value[len(line):]
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
