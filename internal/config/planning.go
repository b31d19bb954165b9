package config

// Planning is the planning mode with its phases.
type Planning struct {
	Enabled         bool            `yaml:"enabled"`
	MaxSubtasks     int             `yaml:"max_subtasks" min:"1"`
	ContinueOnError bool            `yaml:"continue_on_error"`
	PromptsDir      string          `yaml:"prompts_dir"` // empty: the embedded ones
	LLMCallComments LLMCallComments `yaml:"llm_call_comments"`
	ProgressComment ProgressComment `yaml:"progress_comment"`
	PrePlanning     PrePlanning     `yaml:"pre_planning"`
	Reflection      Reflection      `yaml:"reflection"`
	Revision        struct {
		MaxRevisions int `yaml:"max_revisions"`
	} `yaml:"revision"`
	Verification Verification `yaml:"verification"`
	Replanning   Replanning   `yaml:"replanning"`
}

// LLMCallComments is the progress comment of a phase, of a task, or of each call.
type LLMCallComments struct {
	Enabled bool   `yaml:"enabled"`
	Mode    string `yaml:"mode" oneof:"phase|task|call"`
}

// ProgressComment bounds the history that a progress comment shows.
type ProgressComment struct {
	Enabled           bool `yaml:"enabled"`
	MaxHistoryEntries int  `yaml:"max_history_entries" min:"1"`
}

// PrePlanning is understanding and collecting before a plan is made.
type PrePlanning struct {
	Enabled       bool `yaml:"enabled"`
	Understanding struct {
		ConfidenceThreshold float64 `yaml:"confidence_threshold" max:"1"`
	} `yaml:"understanding"`
	Collection struct {
		Enabled           bool `yaml:"enabled"`
		MaxRetriesPerTool int  `yaml:"max_retries_per_tool"`
	} `yaml:"collection"`
	Assumption struct {
		Enabled             bool    `yaml:"enabled"`
		ConfidenceThreshold float64 `yaml:"confidence_threshold" max:"1"`
	} `yaml:"assumption"`
	Notification struct {
		NotifyOnStart                 bool `yaml:"notify_on_start"`
		NotifyOnUnderstandingComplete bool `yaml:"notify_on_understanding_complete"`
		NotifyOnCollectionComplete    bool `yaml:"notify_on_collection_complete"`
		NotifyOnAssumption            bool `yaml:"notify_on_assumption"`
	} `yaml:"notification"`
}

// Reflection looks back every TriggerInterval actions.
type Reflection struct {
	Enabled         bool `yaml:"enabled"`
	TriggerInterval int  `yaml:"trigger_interval" min:"1"`
}

// Verification checks the work, at most MaxRounds times.
type Verification struct {
	Enabled   bool `yaml:"enabled"`
	MaxRounds int  `yaml:"max_rounds" min:"1"`
}

// Replanning bounds how often and how deeply a plan is made anew.
type Replanning struct {
	Enabled     bool `yaml:"enabled"`
	EveryPhase  bool `yaml:"every_phase"` // ask after every phase, not only after errors
	LLMDecision struct {
		MinConfidenceThreshold    float64 `yaml:"min_confidence_threshold" max:"1"`
		UserConfirmationThreshold float64 `yaml:"user_confirmation_threshold" max:"1"`
	} `yaml:"llm_decision"`
	GoalUnderstanding struct {
		MaxClarificationRequests int `yaml:"max_clarification_requests"`
	} `yaml:"goal_understanding"`
	TaskDecomposition struct {
		MaxRedecompositionAttempts int `yaml:"max_redecomposition_attempts"`
	} `yaml:"task_decomposition"`
	ActionSequence struct {
		MaxRegenerationAttempts int `yaml:"max_regeneration_attempts"`
	} `yaml:"action_sequence"`
	Execution struct {
		MaxActionRetries  int `yaml:"max_action_retries"`
		MaxPartialReplans int `yaml:"max_partial_replans"`
	} `yaml:"execution"`
	Reflection struct {
		MaxPlanRevisions int `yaml:"max_plan_revisions"`
	} `yaml:"reflection"`
	Global struct {
		MaxTotalReplans       int  `yaml:"max_total_replans"`
		InfiniteLoopDetection bool `yaml:"infinite_loop_detection"`
		SameTriggerMaxCount   int  `yaml:"same_trigger_max_count" min:"1"`
	} `yaml:"global"`
}

func defaultPlanning() Planning {
	p := Planning{MaxSubtasks: 100}
	p.LLMCallComments = LLMCallComments{Enabled: true, Mode: "phase"}
	p.ProgressComment = ProgressComment{Enabled: true, MaxHistoryEntries: 100}
	p.PrePlanning.Enabled = true
	p.PrePlanning.Understanding.ConfidenceThreshold = 0.7
	p.PrePlanning.Collection.Enabled = true
	p.PrePlanning.Collection.MaxRetriesPerTool = 2
	p.PrePlanning.Assumption.Enabled = true
	p.PrePlanning.Assumption.ConfidenceThreshold = 0.5
	p.PrePlanning.Notification.NotifyOnStart = true
	p.PrePlanning.Notification.NotifyOnUnderstandingComplete = true
	p.PrePlanning.Notification.NotifyOnCollectionComplete = true
	p.Reflection = Reflection{Enabled: true, TriggerInterval: 2}
	p.Revision.MaxRevisions = 3
	p.Verification = Verification{Enabled: true, MaxRounds: 2}
	p.Replanning = defaultReplanning()
	return p
}

func defaultReplanning() Replanning {
	r := Replanning{Enabled: true}
	r.LLMDecision.MinConfidenceThreshold = 0.5
	r.LLMDecision.UserConfirmationThreshold = 0.3
	r.GoalUnderstanding.MaxClarificationRequests = 2
	r.TaskDecomposition.MaxRedecompositionAttempts = 3
	r.ActionSequence.MaxRegenerationAttempts = 3
	r.Execution.MaxActionRetries = 3
	r.Execution.MaxPartialReplans = 2
	r.Reflection.MaxPlanRevisions = 2
	r.Global.MaxTotalReplans = 10
	r.Global.InfiniteLoopDetection = true
	r.Global.SameTriggerMaxCount = 2
	return r
}
