package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/report"
	"agent/internal/sanitize"
)

func (a *cli) listCommand() *cobra.Command {
	asJSON, state := false, ""
	cmd := &cobra.Command{
		Use: "list", Short: "Show all contexts, the newest first", Args: cobra.NoArgs,
		Example: `  agent list
  agent list --state paused
  agent list --json | jq -r 'select(.state=="failed").uuid'`,
		RunE: func(*cobra.Command, []string) error {
			if state != "" && !slices.Contains(report.States, state) {
				return usageError{fmt.Errorf("no state is called %q: there are %s", state, strings.Join(report.States, " "))}
			}
			store, err := a.openStore(true)
			if err != nil {
				return err
			}
			return a.list(store, asJSON, state)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	cmd.Flags().StringVar(&state, "state", "", "only contexts in this state: "+strings.Join(report.States, " "))
	completeFlag(cmd, "state", report.States)
	return cmd
}

func (a *cli) list(store *contexts.Store, asJSON bool, state string) error {
	out := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	code := 0
	all, err := report.List(store)
	if err != nil {
		return err
	}
	if !asJSON && isTerminal(a.out) && len(all) > 0 {
		fmt.Fprintln(out, "CONTEXT\tSTATE\tLAST EVENT\tTASK\tTITLE")
	}
	shown := 0
	for _, line := range all {
		code = worse(code, exitCode(line.Err))
		switch {
		case state != "" && line.State != state:
			continue
		case asJSON:
			if err := a.printLine(line); err != nil {
				return err
			}
		default:
			printListed(out, line)
		}
		shown++
	}
	if shown == 0 && !asJSON {
		fmt.Fprintln(a.err, "no "+strings.TrimSpace(state+" contexts"))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return quietly(code)
}

func printListed(out io.Writer, l report.Listed) {
	state := l.State
	if l.Waits != "" {
		state += " (" + l.Waits + ")"
	}
	if l.Partial {
		state += " (partial)"
	}
	title := sanitize.Line(l.Title, 60)
	if l.Work != "" {
		title += " [work: " + sanitize.Line(l.Work, 120) + "]"
	}
	fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", l.UUID[:min(8, len(l.UUID))], state,
		l.UpdatedAt.Local().Format("2006-01-02 15:04"), sanitize.Line(l.TaskKey, 80), title)
}
