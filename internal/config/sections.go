package config

// NewCommentHandling is about comments that arrive while a task is open.
type NewCommentHandling struct {
	// Read new comments when a task resumes.
	Enabled bool `yaml:"enabled" default:"true" env:"NEW_COMMENT_ENABLED" init:"yes"`
	// Ignore comments of bots.
	ExcludeBotComments bool `yaml:"exclude_bot_comments" default:"true" env:"NEW_COMMENT_EXCLUDE_BOT"`
	// Whose comments the agent reads. `auto`: everyone in private projects; in public ones the author of the item and people with write access. `any`: everyone. `author`: the author of the item. `trusted`: people with write access. Unless it is `any`, the label of an item in a public project counts only if someone with write access added it, because issue templates can add labels.
	Accept        string `yaml:"accept" default:"auto" oneof:"auto|any|author|trusted" init:"yes"`
	PeriodicCheck struct {
		// Also look for new comments while the agent works.
		Enabled bool `yaml:"enabled" env:"NEW_COMMENT_PERIODIC_CHECK"`
		// Tool calls between two checks.
		Interval int `yaml:"interval" default:"10" min:"1" env:"NEW_COMMENT_CHECK_INTERVAL"`
	} `yaml:"periodic_check"`
	Limits struct {
		// Comments per check. The newest are kept.
		MaxComments int `yaml:"max_comments" default:"50" min:"1" max:"10000" env:"NEW_COMMENT_MAX_COMMENTS"`
	} `yaml:"limits"`
	NotificationFormat struct {
		// Language of the message that tells the model about new comments. `auto`: the language of the task.
		Language string `yaml:"language" default:"auto" oneof:"auto|ja|en"`
		// How much of each comment the message holds.
		DetailLevel string `yaml:"detail_level" default:"full" oneof:"full|summary"`
	} `yaml:"notification_format"`
	// Say on the task that comments could not be read.
	NotifyFetchFailure bool `yaml:"notify_fetch_failure"`
}

// CommentHandling is the follow-up after a task is done.
type CommentHandling struct {
	// When the work is done, wait for the author's answer and continue with it.
	Enabled bool `yaml:"enabled"`
	// Phrases that end the wait. Empty: the built-in list.
	CompletionKeywords []string `yaml:"completion_keywords"`
	// Answers before the task ends anyway.
	MaxCommentCount int `yaml:"max_comment_count" default:"10" min:"1"`
	// Longest wait for one answer, in hours.
	TimeoutHours int `yaml:"timeout_hours" default:"24" min:"1"`
}

// Commands is about commands in comments.
type Commands struct {
	// Take lines like `/approve`, `/stop`, `@bot approve` and `agent approve` in comments of people with write access as commands. `false`: comments are comments, and a label or `agent resume` approves.
	Enabled bool `yaml:"enabled" default:"true"`
	// Seconds between two lists of the open items whose task has ended, by which their `/retry` and `/status` are found: three lists for each project, and the comments of those that have changed. 0: only hooks tell of them.
	EndedIntervalSeconds int `yaml:"ended_interval_seconds" default:"300" min:"0"`
}

// ContextStorage is about compaction and the age of contexts. 0 days means never.
type ContextStorage struct {
	// Share of the context window at which older messages are summarised.
	CompressionThreshold float64 `yaml:"compression_threshold" default:"0.7" min:"0.05" max:"1"`
	// Latest messages that are never summarised.
	KeepRecentMessages int `yaml:"keep_recent_messages" default:"5" min:"1"`
	// Days after its end until `agent gc` packs the log of a context. Every command still reads it. 0: never.
	ArchiveAfterDays int `yaml:"archive_after_days" default:"7"`
	// Days after its end until `agent gc` removes a context, unless the next attempt at its task inherits from it. 0: never.
	CleanupDays int `yaml:"cleanup_days"`
}

// ContextInheritance is what a new context takes over from the last one of its task.
type ContextInheritance struct {
	// Start a new context with the final summary of the last one of its task, and offer the tools `history` for earlier ones.
	Enabled bool `yaml:"enabled" default:"true"`
	// Age in days up to which a context is inherited from.
	ContextExpiryDays int `yaml:"context_expiry_days" default:"90" min:"1"`
	// Limit of the inherited text in tokens.
	MaxInheritedTokens int `yaml:"max_inherited_tokens" default:"8000" min:"1"`
	Planning           struct {
		// Inherit the last plan, its progress, and what is left of it. `history` shows plans, actions and replan decisions.
		InheritPlans bool `yaml:"inherit_plans" default:"true"`
		// Inherit the results of verifications. `history` shows them.
		InheritVerifications bool `yaml:"inherit_verifications" default:"true"`
		// Inherit the reasons for revisions of the plan. `history` shows reflections.
		InheritReflections bool `yaml:"inherit_reflections" default:"true"`
		// Plans and revisions that `history` shows at a time. 0: none.
		MaxPreviousPlans int `yaml:"max_previous_plans" default:"3"`
		// Inherit the actions that succeeded.
		ReuseSuccessfulPatterns bool `yaml:"reuse_successful_patterns" default:"true"`
	} `yaml:"planning"`
}

// PauseResume is about pausing by a signal file.
type PauseResume struct {
	// Watch for the signal file.
	Enabled bool `yaml:"enabled" default:"true"`
	// While this file exists, running tasks pause and none start. Empty: `pause_signal` in `contexts_dir`.
	SignalFile string `yaml:"signal_file" path:"abs"` // after Load: never empty
	// Days after which a paused task is stopped. 0: never.
	PausedTaskExpiryDays int `yaml:"paused_task_expiry_days" default:"30"`
}

// TaskStop is about stopping when the bot is unassigned.
type TaskStop struct {
	// Check whether the task was closed, unassigned or edited.
	Enabled bool `yaml:"enabled" default:"true"`
	// Accepted and checked, but not used yet.
	CheckInterval int `yaml:"check_interval" default:"1" min:"1"`
	// Least time between two checks, in seconds.
	MinCheckIntervalSeconds int `yaml:"min_check_interval_seconds" default:"30"`
}

// ChangeRequests is about opening pull and merge requests.
type ChangeRequests struct {
	// Push a branch and open a pull or merge request. Otherwise the work stays in its clone.
	Enabled bool `yaml:"enabled" default:"true" init:"yes"`
	// Start of the branch name. It continues like `issue-12-words-of-the-title-1a2b3c4d`.
	BranchPrefix string `yaml:"branch_prefix" default:"agent/" init:"yes"`
	// Open it as a draft.
	Draft bool `yaml:"draft" default:"true" init:"yes"`
	// Target branch. Empty: the default branch. A line like `Base: release-1.2` in the task's text wins if that branch exists.
	Base string `yaml:"base"`
	// Largest change in files. A larger one pauses the task and asks; `agent resume` publishes it as it is. 0: no limit.
	MaxFiles int `yaml:"max_files" default:"100"`
	// Largest change in lines, added and removed. 0: no limit.
	MaxLines int `yaml:"max_lines" default:"5000"`
	// Whether a binary file in a change pauses the task and asks.
	Binary string `yaml:"binary" default:"ask" oneof:"ask|allow"`
	// How work is kept when a task fails, reaches a limit or expires: `push` puts it on the task's branch without a request, `patch` into `change.patch` beside the log, `none` leaves it in its clone. `auto` is `patch` in public projects and `push` in others. After a stop by a person nothing is pushed, and what needs approval is a patch.
	Unfinished string `yaml:"unfinished" default:"auto" oneof:"auto|push|patch|none"`
	// Paths whose change pauses the task and asks: a directory (`deploy/`), a path (`docs/api.yaml`), or a name in any directory (`CODEOWNERS`). `*` stands for part of a name, `**` for any directories (`deploy/**`). Submodules, files over 50 MiB, and new lines with something like a secret always ask.
	ProtectedPaths []string `yaml:"protected_paths" default:".github/workflows/ .github/actions/ .gitlab-ci.yml .gitlab/ .circleci/ .buildkite/ Jenkinsfile azure-pipelines.yml .travis.yml .gitmodules CODEOWNERS .mcp.json .agent/ **/.claude/ **/.devcontainer/ **/.husky/ **/.vscode/ .envrc"`
}

// ProjectAgentRules is about the files with rules for agents in a repository's root.
type ProjectAgentRules struct {
	// Put `AGENTS.md`, `CLAUDE.md` and `AGENT.md` of the repository's root into the system prompt, and those of other directories into the conversation when work goes there. Links are not followed; files with the same content in one directory are shown once.
	Enabled bool `yaml:"enabled" default:"true" env:"PROJECT_AGENT_RULES_ENABLED"`
	Limits  struct {
		// Bytes read of one file. At most 100,000 characters of them are kept.
		MaxFileSize int `yaml:"max_file_size" default:"102400" min:"1" max:"1048576" env:"PROJECT_AGENT_RULES_MAX_FILE_SIZE"`
		// Bytes read of all files.
		MaxTotalSize int `yaml:"max_total_size" default:"512000" min:"1" max:"3145728" env:"PROJECT_AGENT_RULES_MAX_TOTAL_SIZE"`
	} `yaml:"limits"`
}

// FileListContext is about the map of a repository.
type FileListContext struct {
	// Put a map of the repository into the system prompt, at most 2,000 tokens: its directories with their files by kind, what the task names or may mean (with symbols where Universal Ctags is installed), manifests, entry points and tests. It covers the files that git tracks, or all without git.
	Enabled bool `yaml:"enabled" default:"true"`
	// Levels of directories that it may show from within. 0: the root only. -1: all.
	MaxDepth int `yaml:"max_depth" default:"-1" min:"-1" max:"100"`
}

// Loop is about running without cron.
type Loop struct {
	// Seconds between two rounds of `agent loop`.
	IntervalSeconds int `yaml:"interval_seconds" default:"30" min:"1" init:"yes"`
}

// Log is the application's own log, not the event log.
type Log struct {
	// Directory of the program's own log, `agent.log`, rotated daily. `LOGS` names a file in it.
	Dir string `yaml:"dir" default:"$XDG_STATE_HOME/agent/logs" env:"LOGS" path:"abs"`
	// Least level that is logged. `DEBUG=true` sets `debug`.
	Level string `yaml:"level" default:"info" oneof:"debug|info|warn|error" env:"DEBUG"`
}
