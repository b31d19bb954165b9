package history

import (
	"fmt"
	"strings"

	"agent/eventlog/event"
	"agent/projections"
)

// plan is what a log tells of its plan and of what became of it (seeds/002 §10.8).
type plan struct {
	state    *projections.State // of the plan alone
	goal     event.Plan         // the latest that was made
	verdicts []*event.VerificationMade
	lessons  []string // why the plan was changed
}

func (p *plan) apply(e event.Event) {
	if p.state == nil {
		p.state = projections.NewState()
	}
	p.state.ApplyPlan(e)
	switch b := e.Body.(type) {
	case *event.PlanMade:
		p.goal = b.Plan
	case *event.PlanRevised:
		p.lessons = append(p.lessons, b.Revision.Reason)
	case *event.VerificationMade:
		p.verdicts = append(p.verdicts, b)
	}
}

func (p *plan) made() bool { return p.state != nil && len(p.state.Planning.Actions) > 0 }

// details tell the whole of the plan; "" if there was none.
func (p *plan) details(r Rules) string {
	if !p.made() {
		return ""
	}
	var parts []string
	if r.Plans {
		parts = append(parts, p.summary(true), p.execution(r))
	}
	if r.Verifications {
		parts = append(parts, p.verification(true))
	}
	if r.Plans {
		parts = append(parts, p.recommendations(r))
	}
	return join(parts)
}

// outline tells the plan in a few lines.
func (p *plan) outline(r Rules) string {
	if !p.made() {
		return ""
	}
	var parts []string
	if r.Plans {
		parts = append(parts, p.summary(false))
	}
	if r.Verifications {
		parts = append(parts, p.verification(false))
	}
	return join(parts)
}

func (p *plan) summary(whole bool) string {
	now := &p.state.Planning
	lines := []string{"Previous Plan Summary", "- Goal: " + oneLine(p.goal.Goal.Objective, 500)}
	if whole {
		for _, t := range p.goal.Decomposition.Subtasks {
			lines = append(lines, "- Subtask "+t.ID+": "+oneLine(t.Description, 300))
		}
	}
	return strings.Join(append(lines, fmt.Sprintf("- Completion Status: %d of %d actions succeeded, %d failed",
		now.Count("success"), len(now.Actions), now.Count("failed"))), "\n")
}

func (p *plan) execution(r Rules) string {
	lines := []string{"Execution History"}
	for _, a := range p.state.Planning.Actions {
		switch {
		case a.Status == "success" && r.Patterns:
			lines = append(lines, "- Successful action "+a.ID+": "+told(a))
		case a.Status == "failed":
			lines = append(lines, "- Failed action "+a.ID+": "+told(a))
		}
	}
	return section(lines)
}

func told(a projections.Action) string {
	text := oneLine(a.Purpose, 200)
	if a.Tool != "" {
		text += " (" + a.Tool + ")"
	}
	if a.Status == "failed" {
		text += ": " + oneLine(a.Detail, 300)
	}
	return text
}

// verification adds up all rounds: what an earlier one found and the last one
// did not is resolved.
func (p *plan) verification(whole bool) string {
	lines := []string{"Verification History"}
	for _, v := range p.verdicts {
		passed := "passed"
		if !v.Result.Passed {
			passed = "not passed"
		}
		lines = append(lines, fmt.Sprintf("- Round %d: %s", v.Round, passed))
		for _, issue := range v.Result.Issues {
			if whole {
				lines = append(lines, fmt.Sprintf("  - Found%s: %s", p.resolved(v), oneLine(issue, 300)))
			}
		}
	}
	return section(lines)
}

func (p *plan) resolved(v *event.VerificationMade) string {
	if last := p.verdicts[len(p.verdicts)-1]; v != last && last.Result.Passed {
		return " and resolved"
	}
	return ""
}

// recommendations say how to use the plan: one that was not finished can go on,
// any other one is something to learn from.
func (p *plan) recommendations(r Rules) string {
	lines := []string{"Recommendations for Current Processing"}
	for _, a := range p.state.Planning.Actions {
		if a.Status == "" {
			lines = append(lines, "- Not done yet, to be continued if it still fits the request: "+a.ID+": "+oneLine(a.Purpose, 200))
		}
	}
	if p.state.Planning.Count("failed") > 0 {
		lines = append(lines, "- Find another way for what failed.")
	}
	for _, reason := range p.lessons {
		if r.Reflections && reason != "" {
			lines = append(lines, "- The plan was revised because: "+oneLine(reason, 300))
		}
	}
	return section(lines)
}

// section is a heading with its lines, "" if it has none.
func section(lines []string) string {
	if len(lines) < 2 {
		return ""
	}
	return strings.Join(lines, "\n")
}

func join(parts []string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "\n")
}

// oneLine gives a text without line ends, in at most so many bytes or little more.
func oneLine(s string, most int) string {
	return strings.Join(strings.Fields(event.Shorten(strings.Join(strings.Fields(s), " "), most)), " ")
}
