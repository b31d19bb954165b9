package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/metrics"
	"agent/internal/report"
)

func (a *commands) statusCommand() *cobra.Command {
	check, prometheus, maxAge := false, false, time.Duration(0)
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
It looks at the live contexts and the 1,000 that ended last, and knows what rounds and agent
verify found damaged of the others: rounds read each of those once a day.`,
		Example: `  agent status
  agent status --check
  agent status --check --max-age 2h
  agent status --json | jq .today
  agent status --prometheus > agent.prom.new && mv agent.prom.new /var/lib/node_exporter/agent.prom`,
		RunE: func(*cobra.Command, []string) error {
			l, err := a.view(config.Offline())
			if err != nil {
				return err
			}
			status, err := l.Status(maxAge)
			if err == nil && (!check || l.JSON) {
				err = l.Complete(status)
			}
			if err != nil {
				return err
			}
			if prometheus {
				return metrics.Write(l.Out, status, cli.Version())
			}
			return l.printStatus(status, check)
		},
	}
	a.JSONFlag(cmd, "print the report as one JSON object")
	cmd.Flags().BoolVar(&prometheus, "prometheus", false, "print the figures in Prometheus' text format, for its textfile collector")
	cmd.Flags().BoolVar(&check, "check", false, "one line, and an exit code for a supervisor")
	cmd.Flags().DurationVar(&maxAge, "max-age", 0, "how old the latest successful scan of a forge may be (default: three times the usual distance)")
	cmd.MarkFlagsMutuallyExclusive("prometheus", "check")
	cmd.MarkFlagsMutuallyExclusive("prometheus", "json")
	return cmd
}

func (l view) printStatus(r *report.Status, check bool) error {
	code := 0
	switch {
	case check && len(r.Problems) > 0:
		code = cli.ExitFailed
	case check && len(r.Damaged) > 0:
		code = contexts.ExitDamage
	}
	switch {
	case l.JSON:
		if err := l.PrintLine(r); err != nil {
			return err
		}
	case code != 0:
		l.Say("status.bad", strings.Join(slices.Concat(r.Problems, r.Attention), "; "))
	case check:
		l.Say("status.ok", strings.Join(append([]string{l.Text("status.at", r.Counts["running"], len(r.Waiting))}, r.Attention...), "; "))
	default:
		defer l.Page()()
		l.Printer().Status(r)
	}
	return cli.Quietly(code)
}
