package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/search"
)

func (a *commands) statsCommand() *cobra.Command {
	by, since := "repo", ""
	cmd := &cobra.Command{
		Use: "stats", Short: "Count runs, outcomes, tokens, money and time", Args: cobra.NoArgs,
		Long: `stats adds up all logs: contexts begun and how they ended, model calls, tokens, money, and
the time in which the agent worked. A damaged log counts up to its damage. What each call
of one context took: agent inspect CONTEXT --costs.`,
		Example: `  agent stats
  agent stats --by day --since 7d
  agent stats --by task                      # the dearest first; or context
  agent stats --by model --since 2026-11-01 --json`,
		RunE: func(*cobra.Command, []string) error {
			l, err := a.view(config.Offline())
			if err != nil {
				return err
			}
			from, err := search.ParseMoment(since, l.Now)
			if err != nil {
				return cli.Usage(fmt.Errorf("--since %w", err))
			}
			if !slices.Contains(report.StatsBy, by) {
				return cli.Usage(errors.New("--by is one of " + strings.Join(report.StatsBy, ", ")))
			}
			stats := l.Stats(by, from)
			for _, err := range stats.Errors {
				fmt.Fprintln(l.Err, "agent: "+sanitize.Terminal(err.Error()))
			}
			code := cli.CodeOf(stats.Errors)
			if l.JSON {
				return errors.Join(l.PrintLine(stats), cli.Quietly(code))
			}
			defer l.Page()()
			l.Printer().Stats(stats)
			return cli.Quietly(code)
		},
	}
	a.JSONFlag(cmd, "print the numbers as one JSON object")
	cmd.Flags().StringVar(&by, "by", by, "one of "+strings.Join(report.StatsBy, ", "))
	cli.CompleteFlag(cmd, "by", report.StatsBy)
	cmd.Flags().StringVar(&since, "since", "", "leave out what is older: 24h, 7d, or a day (UTC) such as 2026-11-27")
	return cmd
}
