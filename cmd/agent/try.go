package main

import (
	"github.com/spf13/cobra"

	"agent/internal/try"
)

func (a *commands) tryCommand() *cobra.Command {
	y := &try.CommandLine{Env: a.Env}
	cmd := &cobra.Command{
		Use:   "try [TEXT]",
		Short: "Work on the directory you are in, without a forge",
		Long: `try works in a copy of the repository of the current directory, with files that are not
committed or not tracked, and without those that git ignores. A directory without git works,
too. Comments go to the terminal, where you can answer. At the end you see the diff and are
asked whether to apply it; without a terminal nothing is asked.

The model is that of the configuration. Without one it is that of the environment
(OPENAI_API_KEY, ANTHROPIC_API_KEY and the like), or of Ollama or LM Studio on this machine.

Exit codes: 0 completed, and applied as asked; 1 anything else; 2 usage; 78 configuration;
130 Ctrl-C. With --json the last line is one object: state, patch, files, tokens, cost_usd,
evidence, uuid.

--resume goes on with a try, or with a fork of one. If it has ended, --apply, --branch and
--patch take its change without asking the model.`,
		Example: `  agent try "fix the failing test"
  agent try --file TASK.md --branch fix-test
  agent try --json --patch fix.patch < problem.txt
  agent try --resume 3f2a
  agent try --resume 3f2a --apply`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return y.Run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&y.File, "file", "", "read the task from this file")
	f.BoolVar(&y.Use.Apply, "apply", false, "apply the change to the directory, unless its files were changed meanwhile")
	f.StringVar(&y.Use.Branch, "branch", "", "make a branch with the change on top of the latest commit")
	f.StringVar(&y.Use.Patch, "patch", "", "write the change to this file")
	f.StringVar(&y.Resume, "resume", "", "go on with a try that was interrupted or waits: the uuid of its context, or its beginning")
	a.JSONFlag(cmd, "print one JSON object at the end")
	return cmd
}
