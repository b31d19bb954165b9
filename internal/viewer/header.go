package viewer

import (
	"fmt"
	"time"

	"agent/contexts"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/term"
)

// Header says what a context is about: title, task, state, what it took, its change.
func Header(s term.Screen, lang i18n.Lang, info contexts.Info) {
	fmt.Fprintln(s, s.Paint(term.Head, term.Line(info.Title, s.Width)))
	state := i18n.Standing(lang, info.State, info.Waits, info.Partial)
	fmt.Fprintln(s, term.Line(info.Address(), s.Width-term.Columns(state)-2)+"  "+s.Paint(StateColor(info.State), state))
	var parts []string
	if !info.Created.IsZero() {
		parts = append(parts, term.Minute(info.Created), max(info.Updated.Sub(info.Created), 0).Round(time.Second).String())
	}
	calls := info.Calls()
	if calls.All > 0 {
		parts = append(parts, report.Calls(lang, calls), i18n.Text(lang, "calls.tools", info.ToolCalls),
			i18n.Text(lang, "inspect.tokens", i18n.Tokens(info.Tokens, info.Estimated)), i18n.Money(lang, info.CostUSD))
	}
	for _, line := range wrap(parts, s.Width) {
		fmt.Fprintln(s, s.Paint(term.Aux, line))
	}
	if calls.All > 0 {
		fmt.Fprintln(s, s.Paint(term.Aux, term.Line(i18n.Text(lang, "costs.more", info.UUID[:min(8, len(info.UUID))]), s.Width)))
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
