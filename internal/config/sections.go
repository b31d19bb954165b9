package config

// NewCommentHandling is about comments that arrive while a task is open.
type NewCommentHandling struct {
	Enabled            bool   `yaml:"enabled"`
	ExcludeBotComments bool   `yaml:"exclude_bot_comments"`
	Accept             string `yaml:"accept" oneof:"auto|any|author|trusted"`
	PeriodicCheck      struct {
		Enabled  bool `yaml:"enabled"`
		Interval int  `yaml:"interval" min:"1"` // actions between two looks
	} `yaml:"periodic_check"`
	Limits struct {
		MaxComments int `yaml:"max_comments" min:"1" max:"10000"`
	} `yaml:"limits"`
	NotificationFormat struct {
		Language    string `yaml:"language" oneof:"auto|ja|en"`
		DetailLevel string `yaml:"detail_level" oneof:"full|summary"`
	} `yaml:"notification_format"`
	NotifyFetchFailure bool `yaml:"notify_fetch_failure"`
}

// CommentHandling is the follow-up after a task is done.
type CommentHandling struct {
	Enabled            bool     `yaml:"enabled"`
	CompletionKeywords []string `yaml:"completion_keywords"` // empty: the defaults
	MaxCommentCount    int      `yaml:"max_comment_count" min:"1"`
	TimeoutHours       int      `yaml:"timeout_hours" min:"1"`
}

// ContextStorage is about compaction and the age of contexts. 0 days means never.
type ContextStorage struct {
	CompressionThreshold float64 `yaml:"compression_threshold" min:"0.05" max:"1"`
	KeepRecentMessages   int     `yaml:"keep_recent_messages" min:"1"`
	ArchiveAfterDays     int     `yaml:"archive_after_days"`
	CleanupDays          int     `yaml:"cleanup_days"`
}

// ContextInheritance is what a new context takes over from the last one of its task.
type ContextInheritance struct {
	Enabled            bool `yaml:"enabled"`
	ContextExpiryDays  int  `yaml:"context_expiry_days" min:"1"`
	MaxInheritedTokens int  `yaml:"max_inherited_tokens" min:"1"`
	Planning           struct {
		InheritPlans            bool `yaml:"inherit_plans"`
		InheritVerifications    bool `yaml:"inherit_verifications"`
		InheritReflections      bool `yaml:"inherit_reflections"`
		MaxPreviousPlans        int  `yaml:"max_previous_plans"`
		ReuseSuccessfulPatterns bool `yaml:"reuse_successful_patterns"`
	} `yaml:"planning"`
}

// PauseResume is about pausing by a signal file.
type PauseResume struct {
	Enabled              bool   `yaml:"enabled"`
	SignalFile           string `yaml:"signal_file"` // after Load: never empty
	PausedTaskExpiryDays int    `yaml:"paused_task_expiry_days"`
}

// TaskStop is about stopping when the bot is unassigned.
type TaskStop struct {
	Enabled                 bool `yaml:"enabled"`
	CheckInterval           int  `yaml:"check_interval" min:"1"`
	MinCheckIntervalSeconds int  `yaml:"min_check_interval_seconds"`
}

// ChangeRequests is about opening pull and merge requests.
type ChangeRequests struct {
	Enabled        bool     `yaml:"enabled"`
	BranchPrefix   string   `yaml:"branch_prefix"`
	Draft          bool     `yaml:"draft"`
	Base           string   `yaml:"base"`      // branch that changes go to; empty: the default branch
	MaxFiles       int      `yaml:"max_files"` // more need a person; 0: no bound
	MaxLines       int      `yaml:"max_lines"` // added and removed
	Binary         string   `yaml:"binary" oneof:"ask|allow"`
	ProtectedPaths []string `yaml:"protected_paths"` // that need a person
}

// ProjectAgentRules is about the files with rules for agents in a repository's root.
type ProjectAgentRules struct {
	Enabled bool `yaml:"enabled"`
	Limits  struct {
		MaxFileSize  int `yaml:"max_file_size" min:"1" max:"1048576"`  // bytes
		MaxTotalSize int `yaml:"max_total_size" min:"1" max:"3145728"` // bytes
	} `yaml:"limits"`
}

// FileListContext is about the list of a repository's files.
type FileListContext struct {
	Enabled  bool `yaml:"enabled"`
	MaxDepth int  `yaml:"max_depth" min:"-1" max:"100"` // directories below the root; -1: all
}

// Loop is about running without cron.
type Loop struct {
	IntervalSeconds int `yaml:"interval_seconds" min:"1"`
}

// Log is the application's own log, not the event log.
type Log struct {
	Dir   string `yaml:"dir"`
	Level string `yaml:"level" oneof:"debug|info|warn|error"`
}
