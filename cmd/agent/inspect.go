package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/sanitize"
	"agent/projections"
)

func (a *cli) inspectCommand() *cobra.Command {
	asJSON, full := false, false
	cmd := &cobra.Command{
		Use: "inspect CONTEXT", Short: "Show what happened in a context, and why", Args: cobra.ExactArgs(1),
		Long: `inspect prints one line for each event of a context's log. It never writes, also not
to a damaged log: it shows what can be read around the damage and exits with 65.`,
		Example: `  agent inspect 3f2a
  agent inspect 3f2a --full
  agent inspect 3f2a --json | jq 'select(.type=="tool.requested").data'`,
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.openStore(true)
			if err != nil {
				return err
			}
			uuid, err := store.Newest(args[0], a.hosts...)
			if err != nil {
				return err
			}
			return a.inspect(store, uuid, asJSON, full)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the log's lines; control and invisible characters as \\u escapes")
	cmd.Flags().BoolVar(&full, "full", false, "do not shorten lines")
	return cmd
}

// lineWidth is how many characters of an event are shown without --full.
const lineWidth = 160

func (a *cli) inspect(store *contexts.Store, uuid string, asJSON, full bool) error {
	width := lineWidth
	if full {
		width = 1 << 20
	}
	code := 0
	for line, err := range store.Lines(uuid) {
		switch {
		case err != nil:
			fmt.Fprintln(a.err, "agent: "+sanitize.Terminal(err.Error()))
			code = worse(code, exitCode(err))
		case line.Err != nil:
			fmt.Fprintf(a.err, "agent: %s\n", sanitize.Terminal(line.Err.Error()))
			if !contexts.IsTorn(line.Err) {
				code = worse(code, contexts.ExitDamage)
			}
		}
		if line.Record.Line == nil {
			continue // nothing that can be read
		}
		if asJSON {
			fmt.Fprintf(a.out, "%s\n", sanitize.JSON(line.Record.Line)) // a pipe may end in a terminal, too
		} else {
			a.printEvent(store, uuid, line, width)
		}
	}
	if err := store.Check(uuid); err != nil && code == 0 { // such as events missing at the end
		fmt.Fprintln(a.err, "agent: "+sanitize.Terminal(err.Error()))
		code = exitCode(err)
	}
	return quietly(code)
}

func (a *cli) printEvent(store *contexts.Store, uuid string, line contexts.Line, width int) {
	r := line.Record
	text := string(r.Data)
	if ev, err := event.Decode(r); err == nil {
		event.Fetch(ev.Body, func(hash string) ([]byte, error) { return store.Blob(uuid, hash) })
		text = projections.Describe(ev)
	}
	cause := ""
	if r.Cause > 0 {
		cause = fmt.Sprintf("←%d", r.Cause)
	}
	fmt.Fprintf(a.out, "%5d %-5s %s  %-19s %s\n", r.Seq, cause, r.When().Local().Format("15:04:05.000"), r.Type, sanitize.Line(text, width))
}
