package main

import (
	"github.com/spf13/cobra"

	"agent/internal/config"
)

func (a *cli) statusCommand() *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use: "status [--check]", Short: "Show how things stand", Args: cobra.NoArgs,
		Long: `status shows the contexts that did not end, what the paused ones wait for, today's
spending, and when each forge was scanned last. With --check it prints one line and exits
with 1 if something is wrong: no forge was scanned for 3 intervals of the loop (5 minutes
at least) while no context was being worked on, a context is damaged, one waits for
a model server that does not answer, or one is paused until a person acts and nobody asked
for that pause.`,
		Example: `  agent status
  agent status --check || systemctl restart agent
  agent status --json | jq .today`,
		RunE: func(*cobra.Command, []string) error {
			l, err := a.view(config.Offline())
			if err != nil {
				return err
			}
			status, err := l.Status()
			if err != nil {
				return err
			}
			return l.printStatus(status, check)
		},
	}
	a.jsonFlag(cmd, "print the report as one JSON object")
	cmd.Flags().BoolVar(&check, "check", false, "one line, and exit 1 if something is wrong")
	return cmd
}
