package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/config"
	"agent/internal/metrics"
	"agent/internal/report"
)

func (a *cli) statusCommand() *cobra.Command {
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
			if err == nil && (!check || l.asJSON) {
				err = l.SpentToday(status)
			}
			if err != nil {
				return err
			}
			if prometheus {
				return metrics.Write(l.out, status, version())
			}
			return l.printStatus(status, check)
		},
	}
	a.jsonFlag(cmd, "print the report as one JSON object")
	cmd.Flags().BoolVar(&prometheus, "prometheus", false, "print the figures in Prometheus' text format, for its textfile collector")
	cmd.Flags().BoolVar(&check, "check", false, "one line, and an exit code for a supervisor")
	cmd.Flags().DurationVar(&maxAge, "max-age", 0, "how old the latest successful scan of a forge may be (default: three times the usual distance)")
	cmd.MarkFlagsMutuallyExclusive("prometheus", "check")
	cmd.MarkFlagsMutuallyExclusive("prometheus", "json")
	return cmd
}

func (l *view) printStatus(r *report.Status, check bool) error {
	code := 0
	switch {
	case check && len(r.Problems) > 0:
		code = exitFailed
	case check && len(r.Damaged) > 0:
		code = contexts.ExitDamage
	}
	switch {
	case l.asJSON:
		if err := l.printLine(r); err != nil {
			return err
		}
	case code != 0:
		l.say("status.bad", strings.Join(slices.Concat(r.Problems, r.Attention), "; "))
	case check:
		l.say("status.ok", strings.Join(append([]string{l.text("status.at", r.Counts["running"], len(r.Waiting))}, r.Attention...), "; "))
	default:
		defer l.page()()
		l.printer().Status(r)
	}
	return quietly(code)
}
