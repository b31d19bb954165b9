package history

import (
	"fmt"
	"strings"

	"agent/eventlog/event"
)

// plan is what a log tells of its latest plan and of what became of it.
type plan struct {
	made     *event.Plan
	purposes map[string]string // of actions, by id
	finished []*event.ActionFinished
	verdicts []*event.VerificationMade
}

func (p *plan) apply(e event.Event) {
	switch b := e.Body.(type) {
	case *event.PlanMade:
		p.made, p.purposes = &b.Plan, map[string]string{}
		p.name(b.Plan.Actions)
	case *event.PlanRevised:
		p.name(b.Revision.Actions)
	case *event.ActionFinished:
		p.finished = append(p.finished, b)
	case *event.VerificationMade:
		p.verdicts = append(p.verdicts, b)
	}
}

func (p *plan) name(actions event.ActionPlan) {
	for _, a := range actions.Actions {
		if p.purposes != nil {
			p.purposes[a.ID] = a.Purpose
		}
	}
}

// details tell the plan by its subtasks and actions, and what verifications
// found; "" if there was none.
func (p *plan) details(r Rules) string {
	lines := []string{p.outline(r)}
	if r.Plans && p.made != nil {
		for _, t := range p.made.Decomposition.Subtasks {
			lines = append(lines, "- subtask "+t.ID+": "+oneLine(t.Description, 300))
		}
		for _, a := range p.finished {
			if a.Status != "success" || r.Patterns {
				lines = append(lines, fmt.Sprintf("- action %s, %s: %s %s", a.Action, a.Status, oneLine(p.purposes[a.Action], 200), oneLine(a.Detail, 300)))
			}
		}
	}
	if r.Verifications {
		for _, v := range p.verdicts {
			for _, issue := range v.Result.Issues {
				lines = append(lines, fmt.Sprintf("- found in round %d: %s", v.Round, oneLine(issue, 300)))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// outline tells the plan in a few lines.
func (p *plan) outline(r Rules) string {
	var lines []string
	if r.Plans && p.made != nil {
		n := map[string]int{}
		for _, a := range p.finished {
			n[a.Status]++
		}
		lines = append(lines, "Plan of that run: "+oneLine(p.made.Goal.Objective, 500),
			fmt.Sprintf("Subtasks: %d. Actions: %d succeeded, %d failed.", len(p.made.Decomposition.Subtasks), n["success"], n["failed"]))
	}
	if r.Verifications {
		for _, v := range p.verdicts {
			passed := "passed"
			if !v.Result.Passed {
				passed = "not passed"
			}
			lines = append(lines, fmt.Sprintf("Verification, round %d: %s", v.Round, passed))
		}
	}
	return strings.Join(lines, "\n")
}

// oneLine gives a text without line ends, in at most so many bytes or little more.
func oneLine(s string, most int) string {
	return strings.Join(strings.Fields(event.Shorten(strings.Join(strings.Fields(s), " "), most)), " ")
}
