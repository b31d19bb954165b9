package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"agent/eventlog/event"
	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/sanitize"
	"agent/internal/search"
	"agent/internal/term"
)

func (a *commands) searchCommand() *cobra.Command {
	o, task := search.Options{}, ""
	cmd := &cobra.Command{
		Use: "search TEXT", Short: "Find text in all logs, including archived ones", Args: cobra.ExactArgs(1),
		Long: `search prints one line for each event that contains the text: the beginning of the context's
uuid, the event's number, time and type, and the text around the match. With --regexp the
text is a regular expression (RE2), matched against the event's data as stored: JSON, with
"\n" for the end of a line. It exits with 1 if nothing matches.`,
		Example: `  agent search 'connection refused'
  agent search --type tool --since 7d 'exit status 1'
  agent search --regexp '(?i)todo|fixme' --task https://github.com/owner/repo/issues/12
  agent search --json token | jq -r .uuid | sort -u`,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.view(config.Offline())
			if err != nil {
				return err
			}
			return l.search(args[0], o, task)
		},
	}
	cmd.Flags().BoolVar(&o.Regexp, "regexp", false, "the text is a regular expression")
	cmd.Flags().StringVar(&task, "task", "", "only in this task (URL) or context")
	cmd.Flags().StringArrayVar(&o.Types, "type", nil, "only in events of this type, such as tool.replied, tool or *.failed; may be repeated")
	cli.CompleteFlag(cmd, "type", event.Types())
	cmd.Flags().StringVar(&o.Since, "since", "", "only events since then: a day in UTC (2026-11-27), a time in RFC 3339, or an age such as 36h or 7d")
	cmd.Flags().StringVar(&o.Until, "until", "", "only events until then, in the same forms")
	a.JSONFlag(cmd, "print one JSON object a line")
	return cmd
}

func (l view) search(text string, o search.Options, task string) error {
	m, err := search.New(text, o, l.Now)
	if err != nil {
		return cli.Usage(err)
	}
	list, err := m.Contexts(l.Store, task, l.Hosts)
	if err != nil {
		return err
	}
	defer l.Page()()
	code, found := 0, false
	show := func(h search.Hit) error {
		found = true
		if l.JSON {
			return l.PrintLine(h)
		}
		return l.showHit(h)
	}
	for info, err := range list {
		if err != nil {
			return err
		}
		err := errors.Join(m.In(l.Store, info, show), info.Err)
		if term.Of(l.Out).Gone() {
			return nil
		}
		if err != nil {
			fmt.Fprintf(l.Err, "agent: %s: %s\n", info.UUID, sanitize.Line(err.Error(), 500))
			code = cli.Worse(code, cli.ExitCode(err))
		}
	}
	if !found {
		code = cli.Worse(code, cli.ExitFailed)
	}
	return cli.Quietly(code)
}

func (l view) showHit(h search.Hit) error {
	screen := term.Of(l.Out)
	head := fmt.Sprintf("%s %5d  %s", h.UUID[:8], h.Seq, term.Time(h.Time))
	kind := fmt.Sprintf("%-19s", term.Line(h.Type, 24))
	room := 200
	if screen.Terminal {
		room = max(screen.Width-len(head)-3-term.Columns(kind), 10)
	}
	_, err := fmt.Fprintf(screen, "%s  %s %s\n", screen.Paint(term.Aux, head), screen.Paint(term.Name, kind), term.Line(h.Excerpt, room))
	return err
}
