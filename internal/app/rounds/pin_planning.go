package rounds

import (
	"agent/eventlog/event"
	"agent/internal/config"
)

// planning is the planning mode as decisions see it. Whatever is switched off
// has the limit 0.
func (s *Rounds) planning() event.Planning {
	c := s.Config.Planning
	p := event.Planning{Enabled: c.Enabled, MaxActions: c.MaxSubtasks, ContinueOnError: c.ContinueOnError, Comments: "off",
		Checklist: c.ProgressComment.Enabled, MaxHistory: c.ProgressComment.MaxHistoryEntries, MaxRevisions: c.Revision.MaxRevisions,
		Replan: replans(c.Replanning), Prompts: s.PlanningPrompts, ApprovalActions: c.ApprovalActions}
	if c.Approval != "never" {
		p.Approval = c.Approval
	}
	if c.LLMCallComments.Enabled {
		p.Comments = c.LLMCallComments.Mode
	}
	if pre := c.PrePlanning; pre.Enabled {
		p.Understand, p.MinUnderstood = true, pre.Understanding.ConfidenceThreshold
		p.Collect, p.MaxRetries = pre.Collection.Enabled, pre.Collection.MaxRetriesPerTool
		p.Assume, p.MinAssumed = pre.Assumption.Enabled, pre.Assumption.ConfidenceThreshold
		n := pre.Notification
		p.Notify = event.Notify{Start: n.NotifyOnStart, Understanding: n.NotifyOnUnderstandingComplete,
			Collection: n.NotifyOnCollectionComplete, Assumption: n.NotifyOnAssumption}
	}
	if c.Reflection.Enabled {
		p.ReflectEvery = c.Reflection.TriggerInterval
	}
	if c.Verification.Enabled {
		p.VerifyRounds = c.Verification.MaxRounds
	}
	return p
}

func replans(c config.Replanning) event.Replans {
	r := event.Replans{Enabled: c.Enabled, EveryPhase: c.EveryPhase,
		MinConfidence: c.LLMDecision.MinConfidenceThreshold, AskConfidence: c.LLMDecision.UserConfirmationThreshold,
		MaxClarifications: c.GoalUnderstanding.MaxClarificationRequests, MaxDecompositions: c.TaskDecomposition.MaxRedecompositionAttempts,
		MaxRegenerations: c.ActionSequence.MaxRegenerationAttempts, MaxRetries: c.Execution.MaxActionRetries,
		MaxPartial: c.Execution.MaxPartialReplans, MaxReflected: c.Reflection.MaxPlanRevisions, MaxTotal: c.Global.MaxTotalReplans}
	if c.Global.InfiniteLoopDetection {
		r.SameTrigger = c.Global.SameTriggerMaxCount
	}
	return r
}
