package viewer

import (
	"strings"

	"agent/eventlog/event"
	"agent/internal/i18n"
)

func (s speaker) mark(b event.Body) string {
	switch b := b.(type) {
	case *event.MessageAdded:
		return s.say("ev.message.added", s.word("message.", string(b.Purpose)), max(b.Content.Size, int64(len(b.Content.Inline))))
	case *event.SummaryAdded:
		return with(s.say("ev.summary.added", b.From, b.To), beginningOf(b.Text))
	case *event.LLMAdapted:
		if b.Tool != "" {
			return s.say("ev.adapted.tool", b.Tool)
		}
		return s.say("ev.llm.adapted", b.Step)
	case *event.LLMSwitched:
		return s.say("ev.llm.switched", b.Model, b.Provider, s.word("failure.", b.Reason))
	case *event.ContextResumed:
		return s.say("row.resumed")
	case *event.Unknown:
		return with(s.say("row.unknown"), string(b.Data))
	}
	return ""
}

// plan says what an event of the planning mode means.
func (s speaker) plan(b event.Body) string {
	switch b := b.(type) {
	case *event.PhaseEntered:
		return i18n.Phase(s.lang, b.Phase)
	case *event.UnderstandingMade:
		return s.also(with(s.say("ev.understanding.made", b.Understanding.Confidence), line(b.Understanding.Goal)), s.when(b.Fallback, "ev.unused"))
	case *event.InformationPlanned:
		text := s.say("ev.information.planned", len(b.Needs.Required))
		if b.Needs.Skip {
			text = with(s.say("ev.information.none"), b.Needs.SkipReason)
		}
		return s.also(text, s.when(b.Fallback, "ev.unused"))
	case *event.InformationCollected:
		return s.say("ev.information.collected", b.ID, s.word("ev.info.", b.Status), b.Tries)
	case *event.AssumptionMade:
		return s.say("ev.assumption.made", b.Assumption.ID, line(b.Assumption.Value), b.Assumption.Confidence)
	case *event.PlanMade:
		return s.actions(b.Plan.Actions)
	case *event.PlanRevised:
		return s.also(with(s.say("ev.plan.revised", s.word("trigger.", b.Trigger)), s.actions(b.Revision.Actions)), s.when(b.Fallback, "ev.unused"))
	case *event.ActionStarted:
		return s.say("ev.action.started", b.Action)
	case *event.ActionFinished:
		return strings.TrimSpace(b.Action + ": " + s.word("page.action.", b.Status) + " " + b.Detail)
	case *event.ReflectionMade:
		if b.Fallback {
			return s.also(s.say("ev.reflection.none"), s.say("ev.unused"))
		}
		return s.also(with(s.word("ev.reflection.", b.Reflection.Status), line(b.Reflection.Evaluation)),
			s.when(b.Override != "", "ev.reflection.not"), s.when(b.Override == "" && b.Reflection.RevisionNeeded, "ev.reflection.revise"))
	case *event.VerificationMade:
		id := i18n.ID("ev.verification.not")
		if b.Result.Passed {
			id = "ev.verification.passed"
		}
		return s.also(s.say(id, b.Round, len(b.Result.Issues), len(b.Result.Additional)), s.when(b.Fallback, "ev.unused"))
	case *event.ReplanDecided:
		return s.replan(b)
	}
	return ""
}

func line(text string) string { return beginningOf(event.T(text)) }

// actions names the actions of a plan.
func (s speaker) actions(plan event.ActionPlan) string {
	var ids []string
	for _, a := range plan.Actions {
		ids = append(ids, a.ID)
	}
	switch list := strings.Join(ids, ", "); len(ids) {
	case 0:
		return s.say("ev.plan.none")
	case 1:
		return s.say("ev.plan.one", list)
	default:
		return s.say("ev.plan.many", len(ids), list)
	}
}

func (s speaker) replan(b *event.ReplanDecided) string {
	phase := i18n.Phase(s.lang, b.Phase)
	if b.Fallback {
		return s.also(s.say("ev.replan.undecided", phase), s.say("ev.unused"))
	}
	text := s.say("ev.replan.decided", phase, s.word("trigger.", b.Decision.Type), b.Decision.Confidence)
	switch {
	case b.Executed && b.Override != "":
		return s.also(text, s.say("ev.replan.asked"))
	case b.Override != "":
		return s.also(text, s.say("ev.replan.not"))
	case b.Executed:
		return s.also(text, s.say("ev.replan.done"))
	}
	return text
}
