package main

import (
	"time"

	"github.com/spf13/cobra"

	"agent/internal/config"
)

func (a *cli) statusCommand() *cobra.Command {
	check, maxAge := false, time.Duration(0)
	cmd := &cobra.Command{
		Use: "status [--check]", Short: "Show how things stand", Args: cobra.NoArgs,
		Long: `status shows the contexts that did not end, what the paused ones wait for, today's
spending, and when each forge was scanned last.

With --check it prints one line, and its exit code is for a supervisor:
  0   the agent works. A task that waits for its people is no fault of it.
  1   it does not: a forge was not scanned for three times the usual distance of scans
      (5 minutes at least, or --max-age), the model server does not answer or refuses the
      key, or tasks are left on a forge that is not configured any more.
  65  it works, but a context is damaged. A restart does not help; agent verify and
      agent repair do.
It looks at the live contexts and the 1,000 that ended last; agent verify looks at all.`,
		Example: `  agent status
  agent status --check
  agent status --check --max-age 2h
  agent status --json | jq .today`,
		RunE: func(*cobra.Command, []string) error {
			l, err := a.view(config.Offline())
			if err != nil {
				return err
			}
			status, err := l.Status(maxAge)
			if err != nil {
				return err
			}
			return l.printStatus(status, check)
		},
	}
	a.jsonFlag(cmd, "print the report as one JSON object")
	cmd.Flags().BoolVar(&check, "check", false, "one line, and an exit code for a supervisor")
	cmd.Flags().DurationVar(&maxAge, "max-age", 0, "how old the latest successful scan of a forge may be (default: three times the usual distance)")
	return cmd
}
