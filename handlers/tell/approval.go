package tell

import (
	"fmt"
	"strings"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

// answersRoom is how many characters the head of a plan and the ways to answer take at
// most. They are never cut.
const answersRoom = 3000

// longestCommand is how many characters of a command people see before they approve it.
const longestCommand = 2000

// Plan shows what is left to do of the plan, what it means to touch, and how to approve
// it. Each version is a comment of its own, with a hash of its own.
func Plan(s *projections.State) *event.CommentRequested {
	p, hash := &s.Planning, s.PlanHash()
	text := func(id i18n.ID, args ...any) string { return i18n.Text(s.Lang, id, args...) }
	goal := ""
	if p.Plan != nil && p.Plan.Goal.Objective != "" {
		goal = text("board.goal", line(s, p.Plan.Goal.Objective, longestNote))
	}
	var open []projections.Action
	var steps []string
	for _, a := range p.Actions {
		if a.Status == "" {
			open = append(open, a)
			steps = append(steps, planStep(s, len(open), &a))
		}
	}
	if len(steps) == 0 {
		steps = []string{text("approve.nothing")}
	}
	r := s.Reach(open)
	plan := format.Paragraphs([]string{goal, text("approve.steps") + "\n\n" + strings.Join(steps, "\n"),
		text("approve.files") + "\n\n" + reachList(s, r.Files), text("approve.commands") + "\n\n" + reachList(s, r.Commands)})
	if r.Free {
		plan += "\n\n" + text("approve.free")
	}
	body := format.Paragraphs([]string{text("approve.head", p.Posts+1, hash) + mention(s), answers(s, hash),
		sanitize.Cut(plan, MaxComment-answersRoom, text("approve.cut"))})
	c := Comment(s, projections.PlanComment, body)
	c.Plan = hash
	return c
}

// planStep is an action on one line.
func planStep(s *projections.State, n int, a *projections.Action) string {
	purpose := a.Purpose
	for _, other := range []string{a.Expected, a.Type} {
		if strings.TrimSpace(purpose) == "" {
			purpose = other
		}
	}
	tool := ""
	if a.Tool != "" {
		tool = " (" + format.Code(a.Tool) + ")"
	}
	return fmt.Sprintf("%d. **%s**: %s%s", n, line(s, a.ID, 80), line(s, purpose, longestNote), tool)
}

// reachList shows files or commands, each whole as far as people can be expected to read it.
func reachList(s *projections.State, items []string) string {
	if len(items) == 0 {
		return i18n.Text(s.Lang, "approve.none")
	}
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = "- " + codeSpan(format.First(format.OneLine(sanitize.Terminal(item)), longestCommand))
	}
	return strings.Join(lines, "\n")
}

// codeSpan is a code span that its text cannot end.
func codeSpan(text string) string {
	mark := "`"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	if len(mark) > 1 {
		text = " " + text + " "
	}
	return mark + text + mark
}

// answers says how to answer a plan, in the forms that the forge takes.
func answers(s *projections.State, hash string) string {
	text := func(id i18n.ID, args ...any) string { return i18n.Text(s.Lang, id, args...) }
	operator := "`agent resume " + format.ShortID(s.Created.UUID) + "`"
	if commandsOff(s) {
		ways := "- " + text("approve.revise.only")
		if s.Config.Commands.Reactions {
			ways = "- " + text("approve.thumb.only") + "\n" + ways
		}
		return format.Paragraphs([]string{text("approve.who"), ways, text("approve.foot.only", operator)})
	}
	address := address(s)
	approve := text("approve.how", address, hash)
	if s.Config.Commands.Reactions {
		approve += text("approve.thumb")
	}
	return format.Paragraphs([]string{text("approve.who"),
		"- " + approve + "\n- " + text("approve.revise", address) + "\n- " + text("approve.stop", address),
		text("approve.foot", operator)})
}
