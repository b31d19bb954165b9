package tell

import (
	"strings"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/projections"
)

// Status answers who asked how far the work is. own is the ending that the log leads to,
// nil if there is none.
func Status(s *projections.State, own *projections.Ending) *event.CommentRequested {
	state := string(s.Status)
	if s.Status == projections.Completed && s.Last.Partial {
		state = "partial"
	}
	lines := []string{i18n.Text(s.Lang, "board.status", i18n.Text(s.Lang, i18n.ID("status.is."+state)))}
	if reason, detail := Reason(s, s.Lang, own); reason != "" {
		lines = append(lines, i18n.Text(s.Lang, "reason", runnable(s, reason)))
		if detail = codeOrNothing(detail); detail != "" {
			lines = append(lines, detail)
		}
	}
	lines = append(lines, workStatus(s)...)
	lines = append(lines, i18n.Text(s.Lang, "told.used", strings.Join(spent(s), " · ")))
	for _, more := range []string{nextStep(s), format.Paragraphs([]string{requestLine(s)})} {
		if more != "" {
			lines = append(lines, more)
		}
	}
	return Comment(s, projections.StatusComment, "📊 "+strings.Join(lines, "\n- "))
}

// workStatus is the phase and how many steps of the plan are done.
func workStatus(s *projections.State) (lines []string) {
	p := &s.Planning
	if !s.Planned() || p.Phase == "" {
		return nil
	}
	lines = append(lines, i18n.Text(s.Lang, "board.phase", stageName(s, projections.Stage(p.Phase))))
	if n := len(p.Actions); n > 0 {
		lines = append(lines, i18n.Text(s.Lang, "told.steps", p.Count("success"), n, p.Count("failed")))
	}
	return lines
}

// spent is what the work has used, with the limits that people can raise.
func spent(s *projections.State) []string {
	l, u := s.Config.Limits, s.Usage
	of := func(id i18n.ID, limit string, used, most float64) string {
		text := i18n.Text(s.Lang, id, format.Number(used))
		if most > 0 {
			text += i18n.Text(s.Lang, "told.of", format.Number(most+s.Grants[limit]))
		}
		return text
	}
	parts := []string{of("told.tokens", "tokens", float64(u.Tokens()), float64(l.MaxTokens))}
	if u.CostUSD > 0 || l.MaxCostUSD > 0 {
		parts = append(parts, of("told.cost", "cost", u.CostUSD, l.MaxCostUSD))
	}
	parts = append(parts, of("told.minutes", "minutes", float64(int(u.Active.Minutes())), float64(l.MaxMinutes)))
	return append(parts, i18n.Text(s.Lang, "told.calls", u.LLMBegun, u.ToolCalls))
}

// nextStep is what the agent does next, or how people begin another attempt.
func nextStep(s *projections.State) string {
	switch {
	case s.Status.Ended():
		return i18n.Text(s.Lang, "told.retry", address(s)+"retry")
	case s.Planned():
		i := s.Planning.Current
		if i < 0 {
			i = s.Planning.Next()
		}
		if i < 0 || i >= len(s.Planning.Actions) {
			return ""
		}
		return i18n.Text(s.Lang, "told.next", line(s, s.Planning.Actions[i].Purpose, noteLine))
	case s.Status != projections.Running:
		return ""
	}
	if latest := s.Progress.Latest(""); latest != nil {
		return i18n.Text(s.Lang, "told.latest", line(s, latest.Text, noteLine))
	}
	return ""
}

// requestLine names the pull or merge request.
func requestLine(s *projections.State) string {
	if s.Publishing.Opened == nil || s.Publishing.Opened.URL == "" {
		return ""
	}
	return i18n.Text(s.Lang, "change", s.Publishing.Opened.URL)
}

// address is what stands before a command, in a form that the forge takes.
func address(s *projections.State) string {
	if s.Config.Commands.Slash {
		return "/"
	}
	return "agent "
}

// runnable names the context in what people are to run.
func runnable(s *projections.State, text string) string {
	return strings.ReplaceAll(text, "`agent resume`", "`agent resume "+format.ShortID(s.Created.UUID)+"`")
}
