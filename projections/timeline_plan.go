package projections

import (
	"fmt"
	"strings"

	"agent/eventlog/event"
)

// describePlan says what an event of the planning mode means.
func describePlan(e event.Event) string {
	switch b := e.Body.(type) {
	case *event.PhaseEntered:
		return b.Phase
	case *event.UnderstandingMade:
		return fmt.Sprintf("%s, sure to %.2f: %s%s", b.Understanding.TaskType, b.Understanding.Confidence, firstLine(b.Understanding.Goal), fallback(b.Fallback))
	case *event.InformationPlanned:
		if b.Needs.Skip {
			return strings.TrimSpace("nothing to collect "+b.Needs.SkipReason) + fallback(b.Fallback)
		}
		return fmt.Sprintf("%d pieces of information", len(b.Needs.Required))
	case *event.InformationCollected:
		return fmt.Sprintf("%s %s after %d calls", b.ID, b.Status, b.Tries)
	case *event.AssumptionMade:
		return fmt.Sprintf("%s is assumed to be %s (%.2f)", b.Assumption.ID, firstLine(b.Assumption.Value), b.Assumption.Confidence)
	case *event.PlanMade:
		return actionList(b.Plan.Actions)
	case *event.PlanRevised:
		return "by " + b.Trigger + ": " + actionList(b.Revision.Actions) + fallback(b.Fallback)
	case *event.ActionStarted:
		return b.Action
	case *event.ActionFinished:
		return strings.TrimSpace(b.Action + ": " + b.Status + " " + b.Detail)
	case *event.ReflectionMade:
		return reflection(b)
	case *event.VerificationMade:
		return verification(b)
	case *event.ReplanDecided:
		return replan(b)
	}
	return ""
}

func fallback(yes bool) string {
	if yes {
		return " (the replies could not be used)"
	}
	return ""
}

func actionList(plan event.ActionPlan) string {
	ids := make([]string, 0, len(plan.Actions))
	for _, a := range plan.Actions {
		ids = append(ids, a.ID)
	}
	return fmt.Sprintf("%d actions: %s", len(ids), strings.Join(ids, ", "))
}

func reflection(b *event.ReflectionMade) string {
	if b.Fallback {
		return "no evaluation" + fallback(true)
	}
	text := b.Reflection.Status + ": " + firstLine(b.Reflection.Evaluation)
	switch {
	case b.Override != "":
		text += "; no revision because of " + b.Override
	case b.Reflection.RevisionNeeded:
		text += "; the plan is to be revised"
	}
	return text
}

func verification(b *event.VerificationMade) string {
	verdict := "did not pass"
	if b.Result.Passed {
		verdict = "passed"
	}
	return fmt.Sprintf("round %d %s, %d issues, %d more actions%s", b.Round, verdict, len(b.Result.Issues), len(b.Result.Additional), fallback(b.Fallback))
}

func replan(b *event.ReplanDecided) string {
	if b.Fallback {
		return "after " + b.Phase + ": no decision" + fallback(true)
	}
	text := fmt.Sprintf("after %s: %s, sure to %.2f", b.Phase, b.Decision.Type, b.Decision.Confidence)
	switch {
	case b.Executed && b.Override != "":
		text += "; people are asked instead because of " + b.Override
	case b.Override != "":
		text += "; not carried out because of " + b.Override
	case b.Executed:
		text += "; carried out"
	}
	return text
}
