package event

import "encoding/json"

// The shapes that a model's planning replies have, after they were normalised.
// Their JSON names are those of the documents that the program follows.

// Understanding is what the model takes the task to be.
type Understanding struct {
	TaskType     string      `json:"task_type"`
	Goal         string      `json:"primary_goal"`
	Deliverables []string    `json:"expected_deliverables"`
	Constraints  []string    `json:"constraints"`
	Scope        Scope       `json:"scope"`
	Confidence   float64     `json:"understanding_confidence"` // 0 to 1
	Ambiguities  []Ambiguity `json:"ambiguities"`
}

// Scope says what belongs to a task and what does not.
type Scope struct {
	In  []string `json:"in_scope"`
	Out []string `json:"out_of_scope"`
}

// Ambiguity is a point that the task leaves open, and how it was read.
type Ambiguity struct {
	Item            string   `json:"item"`
	Interpretations []string `json:"possible_interpretations"`
	Selected        string   `json:"selected_interpretation"`
	Reasoning       string   `json:"reasoning"`
}

// Needs is the information that must be known before a plan can be made.
type Needs struct {
	Required   []Need   `json:"required_information"`
	Order      []string `json:"collection_order"` // ids; those that are not named come last
	Skip       bool     `json:"skip_collection"`
	SkipReason string   `json:"skip_reason"`
}

// Need is one piece of information and how to get it.
type Need struct {
	ID          string `json:"id"`
	Category    string `json:"category"` // codebase | context | external
	Description string `json:"description"`
	Purpose     string `json:"purpose"`
	Method      Method `json:"collection_method"`
	Fallback    string `json:"fallback_strategy"`
	CanAssume   bool   `json:"can_assume"`
	Default     string `json:"default_assumption"`
}

// Method is a tool call that collects information.
type Method struct {
	Tool       string          `json:"tool"` // in any form that a reply may name a tool
	Parameters json.RawMessage `json:"parameters"`
}

// Assumption stands for information that could not be collected.
type Assumption struct {
	ID         string  `json:"info_id"`
	Value      string  `json:"assumed_value"`
	Reasoning  string  `json:"reasoning"`
	Confidence float64 `json:"confidence"` // 0 to 1
}

// Plan is a goal, its parts, and the actions that reach it.
type Plan struct {
	Goal          Goal          `json:"goal_understanding"`
	Decomposition Decomposition `json:"task_decomposition"`
	Actions       ActionPlan    `json:"action_plan"`
}

// Goal is what a plan is to reach, and how that is known.
type Goal struct {
	Objective   string   `json:"main_objective"`
	Criteria    []string `json:"success_criteria"`
	Constraints []string `json:"constraints"`
	Context     string   `json:"context_analysis"`
}

// Decomposition is the parts of a task.
type Decomposition struct {
	Reasoning string    `json:"reasoning"`
	Subtasks  []Subtask `json:"subtasks"`
}

// Subtask is one part of a task.
type Subtask struct {
	ID           string   `json:"id"`
	Description  string   `json:"description"`
	Dependencies []string `json:"dependencies"`
	Complexity   string   `json:"estimated_complexity"` // low | medium | high
	Tools        []string `json:"required_tools"`
}

// ActionPlan is actions in the order in which they are to be done.
type ActionPlan struct {
	Order   []string `json:"execution_order"`
	Actions []Action `json:"actions"`
}

// Action is one step of a plan. Within a plan its id is unique.
type Action struct {
	ID         string          `json:"task_id"`
	Type       string          `json:"action_type"`
	Tool       string          `json:"tool"` // empty if it needs none
	Parameters json.RawMessage `json:"parameters"`
	Purpose    string          `json:"purpose"`
	Expected   string          `json:"expected_outcome"`
	Fallback   string          `json:"fallback_strategy,omitempty"`
}

// Revision is what is left to do after a plan was changed.
type Revision struct {
	Reason  string     `json:"reason"`
	Changes []Change   `json:"changes"`
	Actions ActionPlan `json:"updated_action_plan"`
}

// Change is one change of a plan, in words.
type Change struct {
	Type    string `json:"type"` // add_action | remove_action | modify_action
	Details string `json:"details"`
}

// Reflection is what the model makes of the work so far.
type Reflection struct {
	Action         string   `json:"action_evaluated"`
	Status         string   `json:"status"` // success | failure | partial
	Evaluation     string   `json:"evaluation"`
	Issues         []string `json:"issues_identified"`
	RootCause      string   `json:"root_cause"`
	RevisionNeeded bool     `json:"plan_revision_needed"`
	Reasoning      string   `json:"reasoning"`
}

// Replan is whether, how and how deeply to plan again.
type Replan struct {
	Needed      bool     `json:"replan_needed"`
	Confidence  float64  `json:"confidence"` // 0 to 1
	Reasoning   string   `json:"reasoning"`
	Type        string   `json:"replan_type"`  // clarification_request | goal_revision | task_redecomposition | action_regeneration | partial_replan | full_replan | plan_revision | retry | none
	Target      string   `json:"target_phase"` // goal_understanding | task_decomposition | action_sequence | execution | reflection
	Level       int      `json:"replan_level"` // 1 retry to 5 goal
	Issues      []string `json:"issues_found"`
	Recommended []string `json:"recommended_actions"`
	Clarify     bool     `json:"clarification_needed"`
	Questions   []string `json:"clarification_questions"`
	ErrorClass  string   `json:"error_classification"` // transient | persistent | fatal
	Recovery    string   `json:"recovery_strategy"`
	Affected    []string `json:"affected_actions"`
	Result      string   `json:"evaluation_result"` // success | partial_success | failure
	Achieved    float64  `json:"achievement_rate"`  // 0 to 100
	Additional  []Action `json:"additional_actions"`
	Assume      []string `json:"assumptions_to_make"`
}

// Verification is whether the goal was reached, and what is still to be done.
type Verification struct {
	Passed       bool         `json:"verification_passed"`
	Issues       []string     `json:"issues_found"`
	Placeholders Placeholders `json:"placeholder_detected"`
	MoreNeeded   bool         `json:"additional_work_needed"`
	Additional   []Action     `json:"additional_actions"`
	Confidence   float64      `json:"completion_confidence"` // 0 to 1
}

// Placeholders is unfinished code that was found.
type Placeholders struct {
	Count     int      `json:"count"`
	Locations []string `json:"locations"`
}
