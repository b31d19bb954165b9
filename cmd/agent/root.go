package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/internal/term"
)

// cli is what commands share.
type cli struct {
	config     string    // --config
	contexts   string    // --contexts
	signalFile string    // the pause signal, if it stands
	hosts      []string  // of the configured forges, once the configuration is loaded
	lang       i18n.Lang // of what is printed, once the configuration is loaded
	getenv     func(string) string
	out, err   io.Writer
	asJSON     bool // --json, of the commands that have it
}

// jsonFlag gives a command --json.
func (a *cli) jsonFlag(cmd *cobra.Command, usage string) {
	cmd.Flags().BoolVar(&a.asJSON, "json", false, usage)
}

// page puts what follows behind a pager, where there is a terminal. Whoever calls
// it calls end.
func (a *cli) page() (end func()) {
	if a.asJSON {
		return func() {}
	}
	a.out, end = term.Of(a.out).Page()
	return end
}

// pageLong is page for a command that shows what it finds while it works.
func (a *cli) pageLong() (end func()) {
	if a.asJSON {
		return func() {}
	}
	a.out, end = term.Of(a.out).PageLong()
	return end
}

// tell prints an answer: a line of JSON for programs, or a text for people.
// Nothing in it acts on a terminal.
func (a *cli) tell(answer any, id i18n.ID, args ...any) {
	if a.asJSON {
		_ = a.printLine(answer) // the next line fails as well
		return
	}
	a.say(id, args...)
}

// say prints one line; nothing in it acts on the terminal.
func (a *cli) say(id i18n.ID, args ...any) {
	fmt.Fprintln(a.out, sanitize.Terminal(a.text(id, args...)))
}

// paint prints one line in a colour.
func (a *cli) paint(color term.Color, line string) {
	s := term.Of(a.out)
	fmt.Fprintln(s, s.Paint(color, sanitize.Terminal(line)))
}

// execute runs one command line and gives the exit code.
func execute(ctx context.Context, args []string, getenv func(string) string, out, errOut io.Writer) int {
	a := &cli{getenv: getenv, out: out, err: errOut}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, errQuiet) {
		fmt.Fprintln(errOut, "agent: "+sanitize.Terminal(err.Error()))
		if hint := hintOf(err); hint != "" {
			fmt.Fprintln(errOut, "  → "+hint)
		}
	}
	return exitCode(err)
}

func (a *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "agent",
		Short: "A coding agent whose log is the product",
		Long: `agent picks up labelled issues, talks to a model and to MCP tool servers, and
reports back. Every step is an event in an append-only log, so that a run survives
kill -9, can be replayed, and shows what happened and why.

Exit codes: 0 done or nothing to do; 1 a task failed or a replay differs; 2 usage;
65 damaged data; 69 written by a newer release; 74 input or output failed; 75 later;
78 configuration or machine; 130 Ctrl-C.`,
		Example: `  agent demo                                       see the whole thing work, on your machine alone
  agent run                                        work on what is labelled, then end (for cron)
  agent run https://github.com/owner/repo/issues/12
  agent loop                                       the same, every 30 seconds
  agent list                                       what there is
  agent inspect 3f2a                               what happened, and why`,
		SilenceUsage: true, SilenceErrors: true, Version: version(),
	}
	a.globalFlags(root.PersistentFlags())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(a.runCommand(), a.loopCommand(), a.tryCommand(), a.forkCommand(), a.listCommand(), a.inspectCommand(), a.uiCommand(), a.diffCommand(), a.filesCommand(), a.restoreCommand(), a.replayCommand(),
		a.verifyCommand(), a.repairCommand(), a.rebuildCommand(), a.pauseCommand(), a.resumeCommand(), a.stopCommand(),
		a.gcCommand(), a.searchCommand(), a.exportCommand(), a.forgetCommand(), a.statusCommand(), a.whyCommand(), a.statsCommand(), a.doctorCommand(), a.initCommand(), a.configCommand(),
		a.mcpCommand(), a.demoCommand(), a.versionCommand(), a.docsCommand())
	root.InitDefaultHelpFlag() // now, or what follows --help is taken for its value
	root.InitDefaultVersionFlag()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	addExamples(root)
	arrange(root)
	a.completions(root)
	usageErrors(root)
	return root
}

func (a *cli) globalFlags(flags *pflag.FlagSet) {
	flags.StringVar(&a.config, "config", "", "configuration file (default $CONFIG_FILE, then ~/.config/agent/config.yaml)")
	flags.StringVar(&a.contexts, "contexts", "", "directory of the contexts (default: contexts_dir of the configuration)")
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

// usageErrors makes wrong arguments of every command exit with 2, also the name
// of a command that a group does not have.
func usageErrors(c *cobra.Command) {
	if c.HasParent() && c.HasSubCommands() && !c.Runnable() {
		c.Args, c.RunE = cobra.NoArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return wrongArgs(cmd, args, err)
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		usageErrors(sub)
	}
}

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// errQuiet ends a command whose own output said everything.
var errQuiet = errors.New("said already")

// codeError carries an exit code for a command that has said what is wrong.
type codeError struct {
	code int
	error
}

func (c codeError) Unwrap() error { return c.error }

// quietly ends with a code and without another word.
func quietly(code int) error {
	if code == 0 {
		return nil
	}
	return codeError{code, errQuiet}
}

func isTerminal(w io.Writer) bool { return term.Of(w).Terminal }
