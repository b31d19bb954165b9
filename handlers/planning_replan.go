package handlers

import (
	"slices"
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/handlers/tell"
	"agent/projections"
)

// decidedAfter is the phase that a replan decision is about.
func decidedAfter(s *projections.State) string {
	p := &s.Planning
	switch {
	case p.Review != "":
		return p.Review
	case p.Trouble != nil && p.Trouble.Action < 0:
		return projections.Verification
	}
	return projections.Execution
}

// decide applies the limits to what the model wishes. Nothing here is reset by a
// new plan, so no sequence of decisions goes on for ever.
func decide(s *projections.State, d event.Replan) *event.ReplanDecided {
	c := s.Config.Planning.Replan
	made := &event.ReplanDecided{Phase: decidedAfter(s), Decision: d}
	kind := d.Type
	switch {
	case !d.Needed && !d.Clarify && len(d.Additional) == 0:
		return made
	case d.Clarify && len(d.Questions) > 0:
		kind = clarify
	case !d.Needed || kind == "none" || kind == "":
		kind = "additional_actions"
	}
	if d.Confidence < c.AskConfidence {
		made.Override = "confidence"
		return made
	}
	if d.Confidence < c.MinConfidence && kind != clarify {
		kind, made.Override = clarify, "confidence"
	}
	if limit := replanLimit(s, d.Target, kind); limit != "" {
		made.Override = limit
		return made
	}
	if kind == clarify {
		made.Questions = questionsOf(s, d)
	}
	made.Executed, made.Carried = true, kind
	return made
}

const clarify = "clarification_request"

// replanLimit names the limit that forbids one more replan of a kind, if one does.
func replanLimit(s *projections.State, target, kind string) string {
	c, n := s.Config.Planning.Replan, s.Planning.Counts
	for _, l := range []struct {
		name      string
		kinds     []string
		used, max int
	}{
		{"max_clarification_requests", []string{clarify}, n.Clarifications, c.MaxClarifications},
		{"max_redecomposition_attempts", []string{"task_redecomposition", "goal_revision", "full_replan"}, n.Decompositions, c.MaxDecompositions},
		{"max_regeneration_attempts", []string{"action_regeneration"}, n.Regenerations, c.MaxRegenerations},
		{"max_action_retries", []string{"retry"}, retriesOf(s), c.MaxRetries},
		{"max_partial_replans", []string{"partial_replan"}, n.Partial, c.MaxPartial},
		{"max_revisions", []string{"plan_revision"}, n.Revisions, s.Config.Planning.MaxRevisions},
	} {
		if slices.Contains(l.kinds, kind) && l.used >= l.max {
			return l.name
		}
	}
	switch {
	case n.Total >= c.MaxTotal:
		return "max_total_replans"
	case c.SameTrigger > 0 && n.Triggers[target+":"+kind] >= c.SameTrigger:
		return "same_trigger_max_count"
	}
	return ""
}

func retriesOf(s *projections.State) int {
	p := &s.Planning
	if t := p.Trouble; t != nil && t.Action >= 0 && t.Action < len(p.Actions) {
		return p.Actions[t.Action].Retries
	}
	return 0
}

// questionsOf are the model's questions, or else its reasons put as one.
func questionsOf(s *projections.State, d event.Replan) []string {
	var out []string
	for _, q := range d.Questions {
		if strings.TrimSpace(q) != "" {
			out = append(out, q)
		}
	}
	if len(out) == 0 {
		out = append(out, tell.ConfirmQuestion(s, d))
	}
	return out
}

// askPeople puts the questions of a replan decision on the task, and waits.
func askPeople(s *projections.State) Effect {
	asked := s.Planning.Seq
	switch {
	case !s.Done(projections.CommentClarification, asked):
		if e := lastProgress(s, string(projections.Awaiting), asked); e != nil {
			return e
		}
		return Act{Intent: tell.Questions(s)}
	case !s.Done(projections.LabelsAwaiting, asked):
		return Act{Intent: awaitLabels(s)}
	}
	until := s.Now.Add(time.Duration(tell.PatienceHours(s)) * time.Hour)
	return Record{&event.ContextAwaiting{Reason: projections.Clarification, Until: event.Until{Kind: "comment", Time: until}}}
}
