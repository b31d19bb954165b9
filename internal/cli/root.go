package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"agent/internal/i18n"
)

// Group is a heading under which help lists commands.
type Group struct {
	ID, Title string
	Commands  string // their names, with blanks between them
}

// Finish gives a tree of commands what all of them have in common: help in groups,
// completion, and errors of usage that exit with 2.
func (e *Env) Finish(root *cobra.Command, groups []Group) {
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetOut(stdout{e}) // now: the library's completion keeps it
	root.SetErr(e.Err)
	e.Flags(root.PersistentFlags())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return Usage(withFlag(cmd, err)) })
	root.InitDefaultHelpFlag() // now, or what follows --help is taken for its value
	root.InitDefaultVersionFlag()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	addExamples(root)
	arrange(root, groups)
	root.SetHelpFunc(e.help)
	e.completions(root)
	usageErrors(root)
}

// Execute runs one command line and gives the exit code.
func (e *Env) Execute(ctx context.Context, root *cobra.Command, args []string) int {
	result := e.watch()
	root.SetArgs(args)
	if completes(args) {
		translate(root, e.locale())
	}
	cmd, err := root.ExecuteContextC(ctx)
	err = result(err)
	if err != nil && !errors.Is(err, ErrQuiet) {
		e.Problem(strings.TrimRight(firstLines(err.Error(), e.locale()), "\n"))
		if hint := hintFor(cmd, err); hint != "" {
			fmt.Fprintln(e.Err, "  → "+i18n.Help(e.locale(), hint))
		}
	}
	return ExitCode(err)
}

// Signalled is why a command is to end early.
type Signalled struct{ os.Signal }

func (s Signalled) Error() string { return s.String() }

// Interrupted tells whether somebody pressed Ctrl-C.
func Interrupted(ctx context.Context) bool {
	var s Signalled
	return errors.As(context.Cause(ctx), &s) && s.Signal == syscall.SIGINT
}
