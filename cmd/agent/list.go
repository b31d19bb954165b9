package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/report"
)

func (a *commands) listCommand() *cobra.Command {
	state := ""
	cmd := &cobra.Command{
		Use: "list", Short: "Show all contexts, the newest first", Args: cobra.NoArgs,
		Example: `  agent list
  agent list --state paused
  agent list --json | jq -r 'select(.state=="failed").uuid'`,
		RunE: func(*cobra.Command, []string) error {
			if state != "" && !slices.Contains(report.States, state) {
				return cli.Usage(fmt.Errorf("no state is called %q: there are %s", state, strings.Join(report.States, " ")))
			}
			l, err := a.view(config.Offline())
			if err != nil {
				return err
			}
			return l.list(state)
		},
	}
	a.JSONFlag(cmd, "print one JSON object a line")
	cmd.Flags().StringVar(&state, "state", "", "only contexts in this state: "+strings.Join(report.States, " "))
	cli.CompleteFlag(cmd, "state", report.States)
	return cmd
}

func (l view) list(state string) error {
	code := 0
	l.KeepIndex()
	all, err := report.List(l.Store)
	if err != nil {
		return err
	}
	var shown []report.Listed
	for _, line := range all {
		code = cli.Worse(code, cli.ExitCode(line.Err))
		if state == "" || line.State == state {
			shown = append(shown, line)
		}
	}
	switch {
	case l.JSON:
		for _, line := range shown {
			if err := l.PrintLine(line); err != nil {
				return err
			}
		}
	case len(shown) == 0:
		word := ""
		if state != "" {
			word = i18n.State(l.Source.Lang, state) + " "
		}
		fmt.Fprintln(l.Err, l.Text("list.none", word))
	default:
		defer l.Page()()
		l.Printer().List(shown)
	}
	return cli.Quietly(code)
}
