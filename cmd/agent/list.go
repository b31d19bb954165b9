package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/term"
	"agent/internal/viewer"
)

func (a *cli) listCommand() *cobra.Command {
	state := ""
	cmd := &cobra.Command{
		Use: "list", Short: "Show all contexts, the newest first", Args: cobra.NoArgs,
		Example: `  agent list
  agent list --state paused
  agent list --json | jq -r 'select(.state=="failed").uuid'`,
		RunE: func(*cobra.Command, []string) error {
			if state != "" && !slices.Contains(report.States, state) {
				return usageError{fmt.Errorf("no state is called %q: there are %s", state, strings.Join(report.States, " "))}
			}
			l, err := a.view(config.Offline())
			if err != nil {
				return err
			}
			return l.list(state)
		},
	}
	a.jsonFlag(cmd, "print one JSON object a line")
	cmd.Flags().StringVar(&state, "state", "", "only contexts in this state: "+strings.Join(report.States, " "))
	completeFlag(cmd, "state", report.States)
	return cmd
}

func (l *view) list(state string) error {
	code := 0
	all, err := report.List(l.Store)
	if err != nil {
		return err
	}
	var shown []report.Listed
	for _, line := range all {
		code = worse(code, exitCode(line.Err))
		if state == "" || line.State == state {
			shown = append(shown, line)
		}
	}
	switch {
	case l.asJSON:
		for _, line := range shown {
			if err := l.printLine(line); err != nil {
				return err
			}
		}
	case len(shown) == 0:
		word := ""
		if state != "" {
			word = i18n.State(l.lang, state) + " "
		}
		fmt.Fprintln(l.err, l.text("list.none", word))
	default:
		l.printList(shown)
	}
	return quietly(code)
}

// printList shows on a terminal headings, ages, and colours, and what changed on a
// line of its own: a link must not be cut.
func (l *view) printList(shown []report.Listed) {
	defer l.page()()
	screen := term.Of(l.out)
	t := &table{left: true, flex: []int{3, 4}}
	if screen.Terminal {
		t.row(l.text("list.context"), l.text("list.state"), l.text("list.age"), l.text("list.task"), l.text("list.title"))
	}
	for _, line := range shown {
		when, title := minute(line.UpdatedAt), sanitize.Line(line.Title, 60)
		if line.Work != "" {
			title += " [" + l.text("list.work", sanitize.Line(line.Work, 120)) + "]"
		}
		if screen.Terminal && !line.UpdatedAt.IsZero() {
			when = report.Age(l.Now.Sub(line.UpdatedAt))
		} else if line.Change != "" {
			title += " [" + l.text("list.change", sanitize.Line(line.Change, 300)) + "]"
		}
		t.row(line.UUID[:min(8, len(line.UUID))], l.stateOf(line), when, sanitize.Line(line.TaskKey, 80), title)
		if screen.Terminal && line.Change != "" {
			t.under(l.link(line.Change, screen.Width-10))
		}
	}
	t.color = func(row, column int) term.Color {
		switch {
		case screen.Terminal && row == 0:
			return term.Aux
		case column == 1:
			return viewer.StateColor(shown[row-len(t.rows)+len(shown)].State)
		}
		return ""
	}
	t.print(screen)
}

// link is an address as it is, and cut if it is none.
func (l *view) link(s string, width int) string {
	if strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") {
		return sanitize.Line(s, 300)
	}
	return term.Line(s, width)
}

// stateOf is the state of a context in words, and what it waits for.
func (l *view) stateOf(line report.Listed) string {
	state := i18n.State(l.lang, line.State)
	if line.Waits != "" {
		state += " (" + i18n.Until(l.lang, line.Waits) + ")"
	}
	if line.Partial {
		state += " (" + i18n.State(l.lang, "partial") + ")"
	}
	return state
}
