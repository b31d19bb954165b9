package projections

import (
	"agent/eventlog/event"
	"agent/internal/lazyregexp"
)

// planFile is the name of the planning history of a context.
func planFile(uuid string) string { return "planning/" + uuid + ".jsonl" }

// historyHead begins every line of a planning history.
type historyHead struct {
	Type      string `json:"type"` // plan | revision | reflection | verification | replan_decision
	Timestamp string `json:"timestamp"`
	IssueID   string `json:"issue_id"` // the number alone, as text
	TaskUUID  string `json:"task_uuid"`
}

type planLine struct {
	historyHead
	Plan event.Plan `json:"plan"`
}

type revisionLine struct {
	historyHead
	Reason  string           `json:"reason"`
	Changes []event.Change   `json:"changes"`
	Updated event.ActionPlan `json:"updated_plan"`
}

type reflectionLine struct {
	historyHead
	Evaluation event.Reflection `json:"evaluation"`
}

type verificationLine struct {
	historyHead
	Result event.Verification `json:"verification_result"`
}

type replanLine struct {
	historyHead
	Phase      string       `json:"phase"`
	Decision   event.Replan `json:"llm_decision"`
	Confidence float64      `json:"confidence"`
	Executed   bool         `json:"executed"`
	Override   *string      `json:"override_reason"`
	Counts     replanCounts `json:"replan_counts"`
}

type replanCounts struct {
	Goal          int `json:"goal_understanding"`
	Decomposition int `json:"task_decomposition"`
	Sequence      int `json:"action_sequence"`
	Retry         int `json:"execution_retry"`
	Partial       int `json:"execution_partial"`
	Reflection    int `json:"reflection"`
	Total         int `json:"total"`
}

func (n Counts) line() replanCounts {
	return replanCounts{n.Clarifications, n.Decompositions, n.Regenerations, n.Retries, n.Partial, n.Reflected, n.Total}
}

// plan gives the line of the planning history that an event adds, if it does.
func (f *Files) plan(s *State, e event.Event) []FileChange {
	head := func(kind string) historyHead {
		return historyHead{kind, stamp(e.Time), digits.FindString(s.Created.TaskKey), s.Created.UUID}
	}
	var line any
	switch b := e.Body.(type) {
	case *event.PlanMade:
		line = planLine{head("plan"), b.Plan}
	case *event.PlanRevised:
		line = revisionLine{head("revision"), b.Revision.Reason, b.Revision.Changes, b.Revision.Actions}
	case *event.ReflectionMade:
		line = reflectionLine{head("reflection"), b.Reflection}
	case *event.VerificationMade:
		line = verificationLine{head("verification"), b.Result}
	case *event.ReplanDecided:
		line = replanLine{head("replan_decision"), b.Phase, b.Decision, b.Decision.Confidence, b.Executed, orNil(b.Override), s.Planning.Counts.line()}
	default:
		return nil
	}
	data := jsonLine(line)
	f.plans = append(f.plans, data...)
	return []FileChange{{Name: planFile(s.Created.UUID), Data: data}}
}

// digits finds the number at the end of a task key.
var digits = lazyregexp.New(`[0-9]+$`)

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// planningState is the part of task_state.json about the plan.
type planningState struct {
	Enabled       bool           `json:"enabled"`
	Phase         string         `json:"current_phase"`
	Done          int            `json:"action_counter"`
	Revisions     int            `json:"revision_counter"`
	Calls         int            `json:"llm_call_count"`
	Comment       *string        `json:"progress_comment_id"`
	Total         int            `json:"total_actions"`
	PrePlanning   *preResult     `json:"pre_planning_result"`
	PreState      prePlanning    `json:"pre_planning_state"`
	Rounds        int            `json:"verification_rounds"`
	Verified      bool           `json:"verified"`
	Replans       replanCounts   `json:"replan_counts"`
	Actions       []actionStatus `json:"actions"`
	Environment   *string        `json:"selected_environment"`         // these two stand in the documents' form of the
	EnvironmentUp bool           `json:"default_environment_prepared"` // file; there is no environment to choose here
}

type preResult struct {
	Understanding *event.Understanding `json:"request_understanding"`
}

type prePlanning struct {
	Phase         string               `json:"current_subphase"`
	Understanding *event.Understanding `json:"understanding_result"`
	Needs         *event.Needs         `json:"collection_plan"`
	Results       []foundLine          `json:"collection_results"`
	Assumptions   []event.Assumption   `json:"assumptions"`
	Gaps          []string             `json:"information_gaps"`
}

type foundLine struct {
	ID      string `json:"info_id"`
	Status  string `json:"status"`
	Summary string `json:"summary"`
	Tries   int    `json:"tool_calls_used"`
}

type actionStatus struct {
	ID     string `json:"task_id"`
	Status string `json:"status"` // pending | success | failed
}

func planningOf(s *State) *planningState {
	if !s.Planned() {
		return nil
	}
	p := &s.Planning
	out := &planningState{Enabled: true, Phase: Stage(p.Phase), Done: p.Count("success"), Revisions: p.Counts.Revisions, Calls: s.Usage.LLMCalls,
		Comment: orNil(s.Progress.Comment()), Total: len(p.Actions), Rounds: p.Rounds, Verified: p.Verified, Replans: p.Counts.line(),
		Actions: []actionStatus{}, PreState: p.pre()}
	if p.Understanding != nil {
		out.PrePlanning = &preResult{p.Understanding}
	}
	for _, a := range p.Actions {
		status := a.Status
		if status == "" {
			status = "pending"
		}
		out.Actions = append(out.Actions, actionStatus{a.ID, status})
	}
	return out
}

func (p *Planning) pre() prePlanning {
	pre := prePlanning{Phase: p.Sub, Understanding: p.Understanding, Needs: p.Needs, Results: []foundLine{}, Assumptions: []event.Assumption{}, Gaps: []string{}}
	if p.Needs == nil {
		return pre
	}
	for _, n := range p.Needs.Required {
		f := p.Found[n.ID]
		switch {
		case f == nil:
			continue
		case f.Assumption != nil:
			pre.Assumptions = append(pre.Assumptions, *f.Assumption)
		case f.Status == "gap":
			pre.Gaps = append(pre.Gaps, n.ID)
		}
		pre.Results = append(pre.Results, foundLine{n.ID, f.Status, f.Summary, f.Tries})
	}
	return pre
}
