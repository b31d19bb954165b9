package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/report"
)

// WrongArgs says what a command takes, and where that comes from.
func WrongArgs(cmd *cobra.Command, args []string, err error) error {
	_, takes, _ := strings.Cut(strings.TrimSuffix(cmd.Use, " [flags]"), " ")
	switch {
	case takes == "" && len(args) > 0 && !cmd.HasSubCommands():
		return Usage(fmt.Errorf("%s takes no arguments, not %q", name(cmd), args[0]))
	case len(args) == 0 && (strings.HasPrefix(strings.TrimPrefix(takes, "["), "CONTEXT") || strings.HasPrefix(takes, "TASK")):
		return Refused(fmt.Errorf("%s needs a %s; agent list shows them", name(cmd), strings.Fields(strings.TrimPrefix(strings.TrimSuffix(takes, "..."), "["))[0]))
	case len(args) > 2 && strings.HasPrefix(takes, "CONTEXT ["):
		return Usage(fmt.Errorf("%s takes %s, not %d arguments", name(cmd), takes, len(args)))
	case len(args) > 1 && (strings.HasPrefix(takes, "CONTEXT") || strings.HasPrefix(takes, "TASK")):
		return Usage(fmt.Errorf("%s takes one %s, not %d", name(cmd), strings.Fields(takes)[0], len(args)))
	}
	if cmd.HasSubCommands() && len(args) > 0 {
		err = meant(err, "", near(cmd, args[0]))
	}
	return Usage(err)
}

// near are the commands of a group whose names are like a word.
func near(group *cobra.Command, word string) []string {
	group.SuggestionsMinimumDistance = 2
	if len(word) < 4 {
		group.SuggestionsMinimumDistance = 1
	}
	return group.SuggestionsFor(word)
}

// withFlag names the flags that are like an unknown one.
func withFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	names := &cobra.Command{} // the library compares words with commands only
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	return meant(err, "--", near(names, unknown.GetSpecifiedName()))
}

// meant adds suggestions to an error, in the words of the library.
func meant(err error, prefix string, names []string) error {
	if len(names) == 0 {
		return err
	}
	return fmt.Errorf("%w\n\nDid you mean this?\n\t%s", err, prefix+strings.Join(names, "\n\t"+prefix))
}

// name is how a command is called without the program.
func name(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "agent ") }

// completions lets the shell complete contexts, and has help and completion
// refuse what they do not know.
func (e *Env) completions(root *cobra.Command) {
	for _, c := range root.Commands() {
		switch _, takes, _ := strings.Cut(c.Use, " "); {
		case c.Name() == "help":
			c.Args = helpTopic
		case c.Name() == "completion":
			c.RunE = func(*cobra.Command, []string) error {
				return Usage(errors.New("completion needs a shell: bash, zsh, fish or powershell"))
			}
		case strings.Contains(takes, "CONTEXT") || strings.Contains(takes, "TASK"):
			c.ValidArgsFunction = e.completeContexts
		}
	}
}

// helpTopic wants the name of a command. Without this, help about an unknown
// one is said to have succeeded.
func helpTopic(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	found, rest, err := cmd.Root().Find(args)
	if err != nil || found == cmd.Root() || len(rest) > 0 {
		if len(rest) == 0 {
			rest = args
		}
		return meant(fmt.Errorf("unknown command %q for \"agent help\"", strings.Join(args, " ")), "", near(found, rest[0]))
	}
	return nil
}

// mostCompleted bounds what is offered to a shell.
const mostCompleted = 200

// completeContexts offers the contexts, the newest first. A completion is no
// place for complaints: what cannot be read is not offered.
func (e *Env) completeContexts(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	cfg, err := e.LoadConfig(config.Offline())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	cfg.Cluster.NATS.URLs = nil // nobody waits for other machines at a key press
	store, err := app.OpenReadOnly(cfg, func(error) {})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, _ := report.List(store)
	return e.offers(all, args, toComplete), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func (e *Env) offers(listed []report.Listed, args []string, begin string) (all []string) {
	for _, i := range listed {
		if strings.HasPrefix(i.UUID, begin) && !slices.Contains(args, i.UUID) && len(all) < mostCompleted {
			all = append(all, cobra.CompletionWithDesc(i.UUID, plain(i18n.State(e.Lang, i.State)+" "+i.TaskKey)))
		}
	}
	return all
}

// plain keeps a description on its line.
func plain(s string) string { return strings.Join(strings.Fields(s), " ") }

// CompleteFlag offers the values of a flag to the shell.
func CompleteFlag(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag: a mistake in this program
	}
}

// usageErrors makes wrong arguments of every command exit with 2, also the name
// of a command that a group does not have.
func usageErrors(c *cobra.Command) {
	if c.HasParent() && c.HasSubCommands() && !c.Runnable() {
		c.Args, c.RunE = cobra.NoArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return WrongArgs(cmd, args, err)
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		usageErrors(sub)
	}
}
