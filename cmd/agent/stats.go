package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/search"
	"agent/internal/term"
)

func (a *cli) statsCommand() *cobra.Command {
	by, since := "repo", ""
	cmd := &cobra.Command{
		Use: "stats", Short: "Count runs, outcomes, tokens, money and time", Args: cobra.NoArgs,
		Long: `stats adds up all logs: contexts begun and how they ended, model calls, tokens, money, and
the time in which the agent worked. A damaged log counts up to its damage.`,
		Example: `  agent stats
  agent stats --by day --since 7d
  agent stats --by model --since 2026-11-01 --json`,
		RunE: func(*cobra.Command, []string) error {
			l, err := a.view(config.Offline())
			if err != nil {
				return err
			}
			from, err := search.ParseMoment(since, l.Now)
			if err != nil {
				return usageError{fmt.Errorf("--since %w", err)}
			}
			if !slices.Contains(report.StatsBy, by) {
				return usageError{errors.New("--by is repo, model or day")}
			}
			stats := l.Stats(by, from)
			for _, err := range stats.Errors {
				fmt.Fprintln(l.err, "agent: "+sanitize.Terminal(err.Error()))
			}
			code := codeOf(stats.Errors)
			if l.asJSON {
				return errors.Join(l.printLine(stats), quietly(code))
			}
			l.showStats(stats)
			return quietly(code)
		},
	}
	a.jsonFlag(cmd, "print the numbers as one JSON object")
	cmd.Flags().StringVar(&by, "by", by, "repo, model or day")
	completeFlag(cmd, "by", report.StatsBy)
	cmd.Flags().StringVar(&since, "since", "", "leave out what is older: 24h, 7d, or a day (UTC) such as 2026-11-27")
	return cmd
}

const barWidth = 20

func (l *view) showStats(r *report.Stats) {
	defer l.page()()
	t := table{flex: []int{0}}
	t.row(l.text(i18n.ID("stats.by."+r.By)), l.text("stats.runs"), l.text("stats.completed"), l.text("stats.stopped"), l.text("stats.failed"),
		l.text("stats.calls"), l.text("stats.tools"), l.text("stats.tokens"), l.text("stats.cached"), "USD", l.text("stats.active"), "")
	largest := 0
	for _, s := range r.Rows {
		largest = max(largest, s.Prompt+s.Completion)
	}
	for _, s := range r.Rows {
		t.row(append(cells(s.Key, s), bar(float64(s.Prompt+s.Completion), float64(largest), barWidth))...)
	}
	t.row(append(cells(l.text("stats.total"), r.Total), "")...)
	screen := term.Of(l.out)
	t.color = func(row, _ int) term.Color {
		if row == 0 && screen.Terminal {
			return term.Aux
		}
		return ""
	}
	t.print(screen)
}

func cells(name string, l report.StatsRow) []string {
	n := strconv.Itoa
	return []string{name, n(l.Runs), n(l.Completed), n(l.Stopped), n(l.Failed), n(l.Calls), n(l.Tools), n(l.Prompt + l.Completion), share(l.Cached, l.Prompt),
		fmt.Sprintf("%.2f", l.CostUSD), report.Age(time.Duration(l.Active * float64(time.Second)))}
}

// share is how many of all, in per cent.
func share(some, all int) string {
	if all <= 0 {
		return "-"
	}
	return strconv.Itoa(some*100/all) + " %"
}
