package viewer

import (
	"fmt"

	"agent/contexts"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/term"
	"agent/internal/watch"
)

// Header says what a context is about: title, task, state, what it took, its change. hint is a
// command that shows more, which is not cut.
func Header(s term.Screen, lang i18n.Lang, info contexts.Info, hint string) {
	fmt.Fprintln(s, s.Paint(term.Head, term.Line(info.Title, s.Width)))
	state := i18n.Standing(lang, info.State, info.Waits, info.Partial)
	fmt.Fprintln(s, term.Line(info.Address(), s.Width-term.Columns(state)-2)+"  "+s.Paint(StateColor(info.State), state))
	var parts []string
	if !info.Created.IsZero() {
		parts = append(parts, term.Minute(info.Created), i18n.Text(lang, "inspect.took", watch.Duration(info.Updated.Sub(info.Created))))
	}
	calls := info.Calls()
	if calls.All > 0 {
		parts = append(parts, report.Calls(lang, calls), i18n.Text(lang, "calls.tools", info.ToolCalls),
			i18n.Text(lang, "inspect.tokens", i18n.Tokens(info.Tokens, info.Estimated)), i18n.Money(lang, info.CostUSD))
	}
	for _, line := range wrap(parts, s.Width) {
		fmt.Fprintln(s, s.Paint(term.Aux, line))
	}
	if hint != "" {
		fmt.Fprintln(s, s.Paint(term.Aux, term.Line(hint, full)))
	}
	if info.Fork != "" {
		fmt.Fprintln(s, term.Line(i18n.Text(lang, "fork.of", info.Fork, info.ForkSeq), s.Width))
	}
	if info.Change != "" {
		fmt.Fprintln(s, term.Line(info.Change, full))
	}
	if info.Work != "" {
		fmt.Fprintln(s, term.Line(i18n.Text(lang, "inspect.work", info.Work), s.Width))
	}
}

// wrap joins parts to lines of at most so many columns.
func wrap(parts []string, width int) (lines []string) {
	line := ""
	for _, part := range parts {
		switch {
		case line == "":
			line = part
		case term.Columns(line+" · "+part) > width:
			lines = append(lines, term.Line(line, width))
			line = part
		default:
			line += " · " + part
		}
	}
	return append(lines, term.Line(line, width))
}

// StateColor is the colour of a state.
func StateColor(state string) term.Color {
	switch state {
	case contexts.StateCompleted:
		return term.Good
	case contexts.StateFailed, contexts.StateDamaged:
		return term.Bad
	case contexts.StatePaused, contexts.StateAwaiting, "interrupted":
		return term.Waits
	}
	return ""
}
