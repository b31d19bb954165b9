package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the log's lines as they are")
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
			a.printRaw(line.Record.Line)
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

// printRaw prints a line of the log; on a terminal nothing in it may act on the terminal.
func (a *cli) printRaw(line []byte) {
	text := string(line)
	if isTerminal(a.out) {
		text = plainJSON(line)
	}
	fmt.Fprintln(a.out, text)
}

// plainJSON writes every character of JSON as an escape that a terminal would
// not show, or would obey.
func plainJSON(data []byte) string {
	var b strings.Builder
	for _, r := range string(data) {
		switch {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
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
