package event

import (
	"encoding/json"
	"strings"
)

// ConfigPinned is everything of the configuration that a decision may depend
// on. It is appended at the start and, if it differs, at a resume.
type ConfigPinned struct {
	input
	Provider      string      `json:"provider"`
	Model         string      `json:"model"`
	ContextLength int         `json:"context_length"`     // tokens
	Profile       string      `json:"profile,omitempty"`  // shape of requests, of llm.Profiles
	Fallback      string      `json:"fallback,omitempty"` // what is asked when the model server is out of service: a JSON [Fallback] a line
	Protocol      string      `json:"protocol"`           // auto | json | tools
	Language      string      `json:"language"`           // auto | ja | en
	Labels        Labels      `json:"labels"`
	Limits        Limits      `json:"limits"`
	Comments      CommentRule `json:"comments"`
	Storage       Storage     `json:"storage"`
	Inherit       Inherit     `json:"inherit"`
	FollowUp      FollowUp    `json:"follow_up"`
	Planning      Planning    `json:"planning,omitzero"`
	Change        ChangeRule  `json:"change"`
	Project       ProjectRule `json:"project,omitzero"`
	Prompt        string      `json:"prompt,omitempty"` // the system prompt template if it is not the embedded one
	PromptHash    string      `json:"prompt_hash"`      // hex SHA-256 of the template in force
	ProgressMS    int64       `json:"progress_ms"`      // least time between two edits of a progress comment
	Commands      CommandRule `json:"commands,omitzero"`
	Setup         string      `json:"setup,omitempty"` // commands that make the working copy ready: a JSON list of arguments a line
	Bot           string      `json:"bot"`             // configured bot_name
	Hash          string      `json:"hash"`            // of the whole configuration without secrets
}

// Fallback is another model server.
type Fallback struct {
	Provider      string `json:"provider"`
	Model         string `json:"model"`
	ContextLength int    `json:"context_length"`
	Profile       string `json:"profile,omitempty"`
}

// Fallbacks are those that are configured, in their order.
func (c *ConfigPinned) Fallbacks() (all []Fallback) {
	for line := range strings.Lines(c.Fallback) {
		var f Fallback
		if json.Unmarshal([]byte(line), &f) == nil {
			all = append(all, f)
		}
	}
	return all
}

// Labels are the names of the state machine's labels. Failed may be empty.
type Labels struct {
	Bot        string `json:"bot"`
	Processing string `json:"processing"`
	Done       string `json:"done"`
	Paused     string `json:"paused"`
	Stopped    string `json:"stopped"`
	Failed     string `json:"failed"`
	Awaiting   string `json:"awaiting"`
	Triggers   string `json:"triggers,omitempty"` // further trigger labels, one a line
}

// Limits bound one context; 0 means none, except MaxCalls.
type Limits struct {
	MaxCalls   int     `json:"max_calls"` // model calls, then finish with a comment
	MaxTokens  int     `json:"max_tokens"`
	MaxCostUSD float64 `json:"max_cost_usd"`
	MaxMinutes int     `json:"max_minutes"`

	RepeatedCalls int `json:"repeated_calls,omitempty"` // replies in a row that may ask for the same tool call; 0: 5
}

// CommentRule says which comments are input.
type CommentRule struct {
	Enabled     bool   `json:"enabled"`
	ExcludeBots bool   `json:"exclude_bots"`
	Accept      string `json:"accept"` // auto | any | author | trusted
	Max         int    `json:"max"`
	Interval    int    `json:"interval"` // tool calls between periodic checks; 0 = off
	Detail      string `json:"detail"`   // full | summary
	Notify      bool   `json:"notify_failure"`
	Language    string `json:"language,omitempty"` // of the message that holds new comments: en | ja; empty = the task's
}

// CommandRule says which lines of comments are commands.
type CommandRule struct {
	Enabled bool `json:"enabled"`
	Slash   bool `json:"slash,omitempty"` // also those that begin with a slash: they are not the forge's own

	Reactions bool `json:"reactions,omitempty"` // the forge has reactions to comments
}

// Storage says when a conversation is compacted.
type Storage struct {
	Threshold float64 `json:"compression_threshold"`
	Keep      int     `json:"keep_recent_messages"`
}

// Inherit says what a context takes over from the one before.
type Inherit struct {
	Enabled    bool `json:"enabled"`
	ExpiryDays int  `json:"context_expiry_days"`
	MaxTokens  int  `json:"max_inherited_tokens"`
}

// FollowUp says whether a task waits for its author's answer after each attempt.
type FollowUp struct {
	Enabled      bool   `json:"enabled"`
	Keywords     string `json:"keywords,omitempty"` // phrases that end it, one a line; empty = the defaults
	MaxRounds    int    `json:"max_rounds"`
	TimeoutHours int    `json:"timeout_hours"`
}

// Planning is the planning mode and its limits.
type Planning struct {
	Enabled         bool    `json:"enabled"`
	MaxActions      int     `json:"max_subtasks"` // that are begun, repeated ones included
	ContinueOnError bool    `json:"continue_on_error"`
	Comments        string  `json:"llm_call_comments"`   // off | phase | task | call
	Checklist       bool    `json:"progress_comment"`    // the plan as a list that is kept up to date
	MaxHistory      int     `json:"max_history_entries"` // of a progress comment
	Understand      bool    `json:"understand"`
	MinUnderstood   float64 `json:"understanding_confidence_threshold"`
	Collect         bool    `json:"collect"`
	MaxRetries      int     `json:"max_retries_per_tool"` // of a collecting call
	Assume          bool    `json:"assume"`
	MinAssumed      float64 `json:"assumption_confidence_threshold"`
	Notify          Notify  `json:"notification"`
	ReflectEvery    int     `json:"reflection_interval"` // actions; 0 = never
	MaxRevisions    int     `json:"max_revisions"`
	VerifyRounds    int     `json:"verification_rounds"` // 0 = none
	Replan          Replans `json:"replanning"`
	Prompts         string  `json:"prompts,omitempty"` // JSON object: prompts that replace the embedded ones, by the name of their file

	Approval        string `json:"approval,omitempty"`         // always | auto; empty: plans need none
	ApprovalActions int    `json:"approval_actions,omitempty"` // of a plan that auto lets pass, and that a change of an approved plan may add
}

// Notify says which parts of pre-planning people are told of.
type Notify struct {
	Start         bool `json:"start"`
	Understanding bool `json:"understanding"`
	Collection    bool `json:"collection"`
	Assumption    bool `json:"assumption"`
}

// Replans bounds how often and how deeply a plan is remade.
type Replans struct {
	Enabled           bool    `json:"enabled"`
	EveryPhase        bool    `json:"every_phase"`
	MinConfidence     float64 `json:"min_confidence_threshold"`
	AskConfidence     float64 `json:"user_confirmation_threshold"` // from here to MinConfidence people are asked
	MaxClarifications int     `json:"max_clarification_requests"`
	MaxDecompositions int     `json:"max_redecomposition_attempts"`
	MaxRegenerations  int     `json:"max_regeneration_attempts"`
	MaxRetries        int     `json:"max_action_retries"` // of one action
	MaxPartial        int     `json:"max_partial_replans"`
	MaxReflected      int     `json:"max_plan_revisions"` // that a reflection asks for
	MaxTotal          int     `json:"max_total_replans"`
	SameTrigger       int     `json:"same_trigger_max_count"` // 0 = no guard against loops
}

// ChangeRule says whether and how a change (pull or merge request) is opened.
type ChangeRule struct {
	Enabled   bool   `json:"enabled"` // false when working in place
	Prefix    string `json:"branch_prefix"`
	Draft     bool   `json:"draft"`
	Base      string `json:"base,omitempty"`      // branch that changes go to; empty: the default branch
	MaxFiles  int    `json:"max_files,omitempty"` // more need a person, as do the next three; 0: no bound
	MaxLines  int    `json:"max_lines,omitempty"` // added and removed
	Binary    string `json:"binary,omitempty"`    // ask | allow
	Protected string `json:"protected,omitempty"` // paths, one a line

	Unfinished string `json:"unfinished,omitempty"` // auto | push | patch | none: how work is kept that did not come to its end; empty: auto
}

// ProjectRule says what of the repository stands in the system message.
type ProjectRule struct {
	Rules    bool `json:"rules"`          // AGENTS.md, CLAUDE.md, AGENT.md of its root
	MaxFile  int  `json:"max_file_size"`  // bytes of one of them
	MaxTotal int  `json:"max_total_size"` // bytes of all
	Files    bool `json:"files"`          // a list of its files
	MaxDepth int  `json:"max_depth"`      // directories below the root that the list looks into; -1 = all
}
