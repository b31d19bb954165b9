package config

// Planning is the planning mode with its phases.
type Planning struct {
	// Make a plan first, then work in phases.
	Enabled bool `yaml:"enabled" env:"PLANNING_ENABLED"`
	// Actions that may start in one context, repeated ones included.
	MaxSubtasks int `yaml:"max_subtasks" default:"100" min:"1"`
	// Go on after an action has failed for good: no limit leaves another try, or the
	// model says that the error lasts. Otherwise that ends the task as failed.
	ContinueOnError bool `yaml:"continue_on_error"`
	// Directory with `planning.txt`, `action.txt` and so on that replace built-in prompts.
	PromptsDir string `yaml:"prompts_dir" path:"abs"`
	// Whether people approve a plan before it is carried out, see docs/approval.md. `always`; `auto`: plans of public projects, plans that mean to touch `change_requests.protected_paths`, and those with more than `approval_actions` actions.
	Approval string `yaml:"approval" default:"never" oneof:"never|always|auto"`
	// Actions of a plan that `auto` lets pass. Also how many a change of an approved plan may add, without new files or commands, before it needs another approval.
	ApprovalActions int             `yaml:"approval_actions" default:"10" min:"0"`
	LLMCallComments LLMCallComments `yaml:"llm_call_comments"`
	ProgressComment ProgressComment `yaml:"progress_comment"`
	PrePlanning     PrePlanning     `yaml:"pre_planning"`
	Reflection      Reflection      `yaml:"reflection"`
	Revision        struct {
		// Revisions of a plan.
		MaxRevisions int `yaml:"max_revisions" default:"3"`
	} `yaml:"revision"`
	Verification Verification `yaml:"verification"`
	Replanning   Replanning   `yaml:"replanning"`
}

// LLMCallComments is the progress comment of a phase, of a task, or of each call.
type LLMCallComments struct {
	// Report the result of each model call on the task.
	Enabled bool `yaml:"enabled" default:"true"`
	// `phase`: one comment per phase, edited in place. `task`: one for the whole task, with the plan in it. `call`: a new one per call, or per ten seconds.
	Mode string `yaml:"mode" default:"task" oneof:"phase|task|call"`
}

// ProgressComment bounds the history that a progress comment shows.
type ProgressComment struct {
	// Keep the plan up to date as a checklist: in its own comment, or in mode `task` as part of the one comment.
	Enabled bool `yaml:"enabled" default:"true"`
	// Calls and errors listed in progress comments. Older ones are only counted.
	MaxHistoryEntries int `yaml:"max_history_entries" default:"100" min:"1"`
}

// PrePlanning is understanding and collecting before a plan is made.
type PrePlanning struct {
	// Understand the task and collect information before planning.
	Enabled       bool `yaml:"enabled" default:"true"`
	Understanding struct {
		// Confidence at which the task counts as understood.
		ConfidenceThreshold float64 `yaml:"confidence_threshold" default:"0.7" max:"1"`
	} `yaml:"understanding"`
	Collection struct {
		// Collect information with tools.
		Enabled bool `yaml:"enabled" default:"true"`
		// Retries of a failed tool call.
		MaxRetriesPerTool int `yaml:"max_retries_per_tool" default:"2"`
	} `yaml:"collection"`
	Assumption struct {
		// Make assumptions about what could not be found.
		Enabled bool `yaml:"enabled" default:"true"`
		// Least confidence of an assumption.
		ConfidenceThreshold float64 `yaml:"confidence_threshold" default:"0.5" max:"1"`
	} `yaml:"assumption"`
	Notification struct {
		// Say on the task that the work starts.
		NotifyOnStart bool `yaml:"notify_on_start" default:"true"`
		// Say how the task was understood.
		NotifyOnUnderstandingComplete bool `yaml:"notify_on_understanding_complete" default:"true"`
		// Say what was collected.
		NotifyOnCollectionComplete bool `yaml:"notify_on_collection_complete" default:"true"`
		// Say what is assumed.
		NotifyOnAssumption bool `yaml:"notify_on_assumption"`
	} `yaml:"notification"`
}

// Reflection reviews the work every TriggerInterval actions.
type Reflection struct {
	// Review the work between actions.
	Enabled bool `yaml:"enabled" default:"true"`
	// Actions between two reviews.
	TriggerInterval int `yaml:"trigger_interval" default:"2" min:"1"`
}

// Verification checks the work, at most MaxRounds times.
type Verification struct {
	// Verify the result.
	Enabled bool `yaml:"enabled" default:"true"`
	// Rounds of verification.
	MaxRounds int `yaml:"max_rounds" default:"2" min:"1"`
}

// Replanning bounds how often and how deeply a plan is replaced.
type Replanning struct {
	// Ask the model after an error whether to plan again.
	Enabled bool `yaml:"enabled" default:"true"`
	// Ask after every phase, not only after errors.
	EveryPhase  bool `yaml:"every_phase"`
	LLMDecision struct {
		// Below this confidence a person is asked first.
		MinConfidenceThreshold float64 `yaml:"min_confidence_threshold" default:"0.5" max:"1"`
		// Below this confidence the decision is not carried out.
		UserConfirmationThreshold float64 `yaml:"user_confirmation_threshold" default:"0.3" max:"1"`
	} `yaml:"llm_decision"`
	GoalUnderstanding struct {
		// Questions to the author about the goal.
		MaxClarificationRequests int `yaml:"max_clarification_requests" default:"2"`
	} `yaml:"goal_understanding"`
	TaskDecomposition struct {
		// Times the task is broken down again.
		MaxRedecompositionAttempts int `yaml:"max_redecomposition_attempts" default:"3"`
	} `yaml:"task_decomposition"`
	ActionSequence struct {
		// Times the list of actions is made again.
		MaxRegenerationAttempts int `yaml:"max_regeneration_attempts" default:"3"`
	} `yaml:"action_sequence"`
	Execution struct {
		// Retries of a failed action.
		MaxActionRetries int `yaml:"max_action_retries" default:"3"`
		// Times part of the plan is replaced after failed actions.
		MaxPartialReplans int `yaml:"max_partial_replans" default:"2"`
	} `yaml:"execution"`
	Reflection struct {
		// Times the plan is revised after a review.
		MaxPlanRevisions int `yaml:"max_plan_revisions" default:"2"`
	} `yaml:"reflection"`
	Global struct {
		// Replans per context, of any kind.
		MaxTotalReplans int `yaml:"max_total_replans" default:"10"`
		// Stop planning again when the same trigger keeps coming back.
		InfiniteLoopDetection bool `yaml:"infinite_loop_detection" default:"true"`
		// How often the same trigger may come back.
		SameTriggerMaxCount int `yaml:"same_trigger_max_count" default:"2" min:"1"`
	} `yaml:"global"`
}
