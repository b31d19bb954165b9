package main

import (
	"errors"

	"github.com/spf13/cobra"

	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/report"
)

func (a *commands) whyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "why TASK", Short: "Say why a task was taken, left, paused or ended", Args: cobra.ExactArgs(1),
		Long: `why tells from the logs and from what the rounds saw why a task was picked up, skipped
or ignored, what it waits for, how it ended, what went wrong last, and which comments were
not taken as input. TASK is a URL, or the uuid of a context or the beginning of one.`,
		Example: `  agent why https://github.com/owner/repo/issues/12
  agent why 3f2a --json`,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.view(config.Offline())
			if err != nil {
				return err
			}
			why, err := l.Why(args[0], l.Hosts...)
			if err != nil {
				return err
			}
			if l.JSON {
				return errors.Join(l.PrintLine(why), cli.Quietly(codeOfWhy(why)))
			}
			defer l.Page()()
			l.Printer().Why(why)
			return cli.Quietly(codeOfWhy(why))
		},
	}
	a.JSONFlag(cmd, "print the report as one JSON object")
	return cmd
}

// codeOfWhy is 1 if there is nothing to tell, and 65 if a log is damaged.
func codeOfWhy(r *report.Why) int {
	if r.Seen == nil && len(r.Contexts) == 0 {
		return cli.ExitFailed
	}
	return cli.CodeOf(r.Errors)
}
