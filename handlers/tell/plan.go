package tell

import (
	"slices"
	"strings"
	"unicode/utf8"

	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

// planRoom is how many characters the checklist may take where other things stand beside it.
const planRoom = 20000

// taskBody is the one comment that shows everything: where the work stands,
// the plan, and what was said.
func taskBody(s *projections.State, now Moment) string {
	head := []string{i18n.Text(s.Lang, "board.head"), strings.Join(standing(s, now), "\n"), latestWords(s)}
	if s.Config.Planning.Checklist && len(s.Planning.Actions) > 0 {
		head = append(head, sanitize.Cut(checklistBody(s, now), planRoom, i18n.Text(s.Lang, "cut")))
	}
	body := format.Paragraphs(head)
	dropped := 0
	for _, n := range s.Progress.Dropped {
		dropped += n
	}
	return format.Paragraphs([]string{body, folded(s, "board.history", s.Progress.Notes, dropped, MaxComment-utf8.RuneCountInString(body))})
}

// standing is the list of facts at the head.
func standing(s *projections.State, now Moment) []string {
	p := &s.Planning
	lines := []string{"UUID: " + format.Code(s.Created.UUID),
		i18n.Text(s.Lang, "board.phase", chain(s, now)),
		i18n.Text(s.Lang, "board.status", i18n.Text(s.Lang, i18n.ID("status.is."+now.Status)))}
	if n := len(p.Actions); n > 0 {
		lines = append(lines, i18n.Text(s.Lang, "board.actions", p.Count("success"), n))
	}
	lines = append(lines, i18n.Text(s.Lang, "board.calls", s.Usage.LLMCalls, s.Usage.ToolCalls),
		i18n.Text(s.Lang, "board.start", format.Clock(s.Started)), i18n.Text(s.Lang, "board.update", format.Clock(s.Now)))
	if u := p.Understanding; u != nil && u.Goal != "" {
		lines = append(lines, i18n.Text(s.Lang, "board.goal", line(s, u.Goal, noteLine)))
	}
	switch {
	case p.Rounds > 0 && p.Verified:
		lines = append(lines, i18n.Text(s.Lang, "board.verified"))
	case p.Rounds > 0:
		lines = append(lines, i18n.Text(s.Lang, "board.unverified", p.Rounds))
	}
	for i, l := range lines {
		lines[i] = "- " + l
	}
	return lines
}

// chain shows the stages in their order: those that are over, and where the work is.
func chain(s *projections.State, now Moment) string {
	current := projections.Stage(s.Planning.Phase)
	var shown []string
	for _, stage := range projections.Stages {
		if stage != current && !expected(s, stage) {
			continue
		}
		mark := ""
		switch {
		case stage == current && now.Status == string(projections.Running):
			mark = " ▶️"
		case !s.Progress.Entered[stage], stage == projections.Verification && !s.Planning.Verified, stage == projections.Execution && s.Planning.Next() >= 0:
		default:
			mark = " ✅"
		}
		shown = append(shown, stageName(s, stage)+mark)
	}
	end := stageName(s, "complete")
	if now.Status == string(projections.Completed) {
		end += " ✅"
	}
	return strings.Join(append(shown, end), " → ")
}

// expected reports whether the configuration makes a stage part of every task.
func expected(s *projections.State, stage string) bool {
	c := s.Config.Planning
	switch stage {
	case projections.PrePlanning:
		return c.Understand || c.Collect
	case projections.Reflection:
		return c.ReflectEvery > 0
	case projections.Verification:
		return c.VerifyRounds > 0
	}
	return stage == projections.PlanPhase || stage == projections.Execution
}

func latestWords(s *projections.State) string {
	for _, n := range slices.Backward(s.Progress.Notes) {
		if n.Kind == projections.NoteReply && n.Text != "" {
			text := sanitize.Cut(words(s, n.Text), longestNote, i18n.Text(s.Lang, "cut"))
			return i18n.Text(s.Lang, "board.latest", n.Call) + "\n\n" + text
		}
	}
	return ""
}

// checklistBody is the plan as a list. It is rendered from the actions alone, so
// that work which a verification adds stands in it once, and open.
func checklistBody(s *projections.State, now Moment) string {
	p := &s.Planning
	if len(p.Actions) == 0 {
		return ""
	}
	lines := make([]string, 0, len(p.Actions))
	for i := range p.Actions {
		lines = append(lines, actionLine(s, &p.Actions[i], p.Current == i && now.Status == string(projections.Running)))
	}
	goal := ""
	if p.Plan != nil && p.Plan.Goal.Objective != "" {
		goal = i18n.Text(s.Lang, "board.goal", line(s, p.Plan.Goal.Objective, noteLine))
	}
	return format.Paragraphs([]string{i18n.Text(s.Lang, "checklist.head"), goal, strings.Join(lines, "\n"), counted(s)})
}

func actionLine(s *projections.State, a *projections.Action, current bool) string {
	box, mark := "- [ ] ", ""
	switch {
	case a.Status == "success":
		box = "- [x] "
	case a.Status == "failed":
		mark = " ❌"
	case current:
		mark = " ▶️"
	}
	text := a.Purpose
	for _, other := range []string{a.Expected, a.Tool, a.Type} {
		if strings.TrimSpace(text) == "" {
			text = other
		}
	}
	if a.Added {
		mark = " " + i18n.Text(s.Lang, "checklist.added") + mark
	}
	return box + "**" + line(s, a.ID, 80) + "**: " + line(s, text, 200) + mark
}

// counted is the foot of the checklist. It never says that all is done unless it is.
func counted(s *projections.State) string {
	p := &s.Planning
	done, failed, all := p.Count("success"), p.Count("failed"), len(p.Actions)
	count := i18n.Text(s.Lang, "checklist.count", done, all, 100*done/all)
	if failed > 0 {
		count = i18n.Text(s.Lang, "checklist.failed", done, all, 100*done/all, failed)
	}
	switch {
	case done == all && !s.PlanIncomplete():
		count += "\n\n" + i18n.Text(s.Lang, "checklist.all")
	case p.Verified && p.Next() < 0:
		count += "\n\n" + i18n.Text(s.Lang, "checklist.verified")
	case p.Rounds > 0 && !p.Verified && p.Next() < 0:
		count += "\n\n" + i18n.Text(s.Lang, "checklist.unverified")
	}
	return count
}
