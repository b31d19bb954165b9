package shapes

import (
	"encoding/json"
	"strings"

	"agent/eventlog/event"
)

var (
	reflection   = kind{[]string{"reflection"}, "evaluation", []string{"plan_revision_needed", "action_evaluated", "evaluation", "plan_revision"}}
	replan       = kind{[]string{"replan_decision", "replan"}, "replan_type", []string{"replan_needed", "replan_type"}}
	verification = kind{[]string{"verification", "verification_result"}, "verification_passed", []string{"verification_passed", "placeholder_detected", "additional_work_needed"}}
)

// statuses map what models call the result of an action.
var statuses = map[string]string{
	"success": "success", "succeeded": "success", "successful": "success", "completed": "success", "ok": "success",
	"failure": "failure", "failed": "failure", "error": "failure",
}

// Reflection reads an evaluation of the work so far. If the reply brings a
// usable plan, and does not say that no revision is needed, the plan is given
// too and a revision is needed. A status that is not known is partial.
func Reflection(reply string) (r event.Reflection, plan *event.Revision, comment, problem string) {
	s, problem := reflection.find(reply)
	if problem != "" {
		return event.Reflection{}, nil, "", problem
	}
	r = event.Reflection{
		Action:     s.id("action_evaluated", "action_id"),
		Status:     "partial",
		Evaluation: s.text("evaluation"),
		Issues:     s.list("issues_identified", "issues"),
		RootCause:  s.text("root_cause"),
		Reasoning:  s.text("reasoning"),
	}
	if known, ok := statuses[strings.ToLower(s.id("status"))]; ok {
		r.Status = known
	}
	r.RevisionNeeded, plan = revisionOf(s)
	comment = s.comment()
	out := replyOf("reflection", r, comment)
	if plan != nil {
		out["plan_revision"] = plan
	}
	if problem := check("reflection", out); problem != "" {
		return event.Reflection{}, nil, "", problem
	}
	return r, plan, comment, ""
}

// revisionOf says whether a reflection wants a revision, and gives the plan if it brings one.
func revisionOf(s scopes) (needed bool, plan *event.Revision) {
	raw := s.get("plan_revision")
	needed, known := s.flag("plan_revision_needed", "revision_needed")
	if !known {
		needed, known = flag(raw)
	}
	if known && !needed {
		return false, nil
	}
	if o, ok := asObject(raw); ok {
		s = append(scopes{o}, s...)
	}
	r, problem := revised(s)
	if problem != "" || check("revision", replyOf("plan_revision", r, "")) != "" {
		return needed, nil
	}
	return true, &r
}

var (
	replanTypes  = []string{"clarification_request", "goal_revision", "task_redecomposition", "action_regeneration", "partial_replan", "full_replan", "plan_revision", "retry", "none"}
	byLevel      = []string{"none", "retry", "partial_replan", "action_regeneration", "task_redecomposition", "goal_revision"}
	targets      = []string{"goal_understanding", "task_decomposition", "action_sequence", "execution", "reflection"}
	errorClasses = []string{"transient", "persistent", "fatal"}
	evaluations  = []string{"success", "partial_success", "failure"}
)

// Replan reads whether, how and how deeply to plan again. A type that is not
// known follows from the level if that is 1 to 5, and is none otherwise. If
// nothing is needed, the type is none. A reply that says neither whether nor how
// is a problem. The level is 0 and the other names are empty if the reply gives
// none that is known.
func Replan(reply string) (r event.Replan, problem string) {
	s, problem := replan.find(reply)
	if problem != "" {
		return event.Replan{}, problem
	}
	r = event.Replan{
		Confidence:  s.confidence("confidence"),
		Reasoning:   s.text("reasoning", "reason"),
		Target:      s.oneOf(targets, "target_phase"),
		Issues:      s.list("issues_found"),
		Recommended: s.list("recommended_actions"),
		Questions:   s.list("clarification_questions"),
		ErrorClass:  s.oneOf(errorClasses, "error_classification"),
		Recovery:    s.text("recovery_strategy"),
		Affected:    s.list("affected_actions"),
		Result:      s.oneOf(evaluations, "evaluation_result"),
		Achieved:    rate(s.get("achievement_rate")),
		Assume:      s.list("assumptions_to_make"),
	}
	r.Clarify, _ = s.flag("clarification_needed")
	if problem = depthOf(&r, s); problem != "" {
		return event.Replan{}, problem
	}
	if r.Additional, problem = additional(s); problem != "" {
		return event.Replan{}, problem
	}
	if problem := check("replanning", replyOf("replan_decision", r, s.comment())); problem != "" {
		return event.Replan{}, problem
	}
	return r, ""
}

// depthOf reads whether and how to plan again.
func depthOf(r *event.Replan, s scopes) (problem string) {
	if level := whole(s.get("replan_level"), 100); level < len(byLevel) {
		r.Level = level
	}
	var known bool
	r.Needed, known = s.flag("replan_needed")
	r.Type = s.oneOf(replanTypes, "replan_type")
	switch {
	case !known && r.Type == "":
		return `Your reply does not say whether to plan again. Give "replan_needed" as true or false.`
	case !known:
		r.Needed = r.Type != "none"
	case !r.Needed:
		r.Type = "none"
	case r.Type == "":
		r.Type = byLevel[r.Level]
	}
	return ""
}

// rate is a percentage, also if it is given as a fraction.
func rate(raw json.RawMessage) float64 {
	v, _ := number(raw)
	if v > 0 && v <= 1 {
		v *= 100
	}
	return min(max(v, 0), 100)
}

func additional(s scopes) ([]event.Action, string) {
	list, problem := actions(s.get("additional_actions"))
	unique(list, "action", func(a *event.Action) *string { return &a.ID })
	return list, problem
}

// Verification reads the verdict on the result. Without an own word on it, more
// work is needed if there are additional actions. A reply that does not say
// whether the result passed is a problem, unless more work is needed: then it did not.
func Verification(reply string) (v event.Verification, comment, problem string) {
	s, problem := verification.find(reply)
	if problem != "" {
		return event.Verification{}, "", problem
	}
	v = event.Verification{
		Issues:       s.list("issues_found", "issues"),
		Placeholders: placeholders(s.get("placeholder_detected")),
		Confidence:   s.confidence("completion_confidence", "confidence"),
	}
	if v.Additional, problem = additional(s); problem != "" {
		return event.Verification{}, "", problem
	}
	var known bool
	if v.MoreNeeded, known = s.flag("additional_work_needed"); !known {
		v.MoreNeeded = len(v.Additional) > 0
	}
	if v.Passed, known = s.flag("verification_passed", "passed"); !known && !v.MoreNeeded {
		return event.Verification{}, "", `Your reply does not say whether the result passed. Give "verification_passed" as true or false.`
	}
	comment = s.comment()
	if problem := check("verification", struct {
		event.Verification
		Comment string `json:"comment"`
	}{v, comment}); problem != "" {
		return event.Verification{}, "", problem
	}
	return v, comment, ""
}

// placeholders takes a number, a flag, or a list of locations in the place of
// the object. The count is at least that of the locations.
func placeholders(raw json.RawMessage) event.Placeholders {
	if o, ok := asObject(raw); ok {
		p := event.Placeholders{Count: whole(scopes{o}.get("count"), 1e6), Locations: scopes{o}.list("locations")}
		p.Count = max(p.Count, len(p.Locations))
		return p
	}
	if found, known := flag(raw); known && found {
		return event.Placeholders{Count: 1, Locations: []string{}}
	} else if known {
		return event.Placeholders{Locations: []string{}}
	}
	if _, ok := number(raw); ok {
		return event.Placeholders{Count: whole(raw, 1e6), Locations: []string{}}
	}
	locations := list(raw)
	return event.Placeholders{Count: len(locations), Locations: locations}
}
