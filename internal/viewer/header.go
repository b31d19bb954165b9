package viewer

import (
	"fmt"
	"strings"
	"time"

	"agent/contexts"
	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/internal/term"
)

// Header says what a context is about: title, task, state, what it took, its change.
func Header(s term.Screen, lang i18n.Lang, info contexts.Info) {
	fmt.Fprintln(s, s.Paint(term.Head, term.Line(info.Title, s.Width)))
	state := i18n.State(lang, info.State)
	if info.Waits != "" {
		state += " (" + i18n.Until(lang, info.Waits) + ")"
	}
	fmt.Fprintln(s, term.Line(info.Address(), s.Width-term.Columns(state)-2)+"  "+s.Paint(StateColor(info.State), state))
	var parts []string
	if !info.Created.IsZero() {
		parts = append(parts, info.Created.Local().Format("2006-01-02 15:04"), max(info.Updated.Sub(info.Created), 0).Round(time.Second).String())
	}
	if info.LLMCalls > 0 {
		parts = append(parts, i18n.Text(lang, "inspect.calls", info.LLMCalls, info.ToolCalls), i18n.Text(lang, "inspect.tokens", info.Tokens))
	}
	if info.CostUSD > 0 {
		parts = append(parts, format.Number(info.CostUSD)+" USD")
	}
	fmt.Fprintln(s, s.Paint(term.Aux, term.Line(strings.Join(parts, " · "), s.Width)))
	if info.Change != "" {
		fmt.Fprintln(s, term.Line(info.Change, full))
	}
	if info.Work != "" {
		fmt.Fprintln(s, term.Line(i18n.Text(lang, "inspect.work", info.Work), s.Width))
	}
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
