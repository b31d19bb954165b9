package event

import (
	"encoding/json"
	"strings"
	"time"
)

// Format is the version of the log as a whole, recorded in context.created.
const Format = 1

// ContextCreated is the first event of every log.
type ContextCreated struct {
	input
	Format  int    `json:"format"`
	UUID    string `json:"uuid"`
	TaskKey string `json:"task_key"` // text form, see forge.TaskKey
	Forge   string `json:"forge"`    // web host of the forge, with its path if it has one
	Kind    string `json:"kind"`     // forge.Kind
	User    string `json:"user"`     // author of the task
	Title   string `json:"title"`
	Trigger string `json:"trigger"` // label | command
	Version string `json:"version"` // of the program
	Host    string `json:"host"`
	PID     int    `json:"pid"`
}

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
	Setup         string      `json:"setup,omitempty"`  // commands that make the working copy ready: a JSON list of arguments a line
	Bot           string      `json:"bot"`              // configured bot_name
	Hash          string      `json:"hash"`             // of the whole configuration without secrets
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

// FollowUp says whether a task waits for its author's answer after each go.
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
}

// Notify says which parts of pre-planning people are told of.
type Notify struct {
	Start         bool `json:"start"`
	Understanding bool `json:"understanding"`
	Collection    bool `json:"collection"`
	Assumption    bool `json:"assumption"`
}

// Replans bounds how often and how deeply a plan is made anew.
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

// TaskFetched is the item as it was read. Title and Body are sanitised.
type TaskFetched struct {
	input
	Title        string   `json:"title"`
	Body         Text     `json:"body"`
	Author       string   `json:"author"`
	State        string   `json:"state"`
	Labels       []string `json:"labels"`
	Assignees    []string `json:"assignees"`
	URL          string   `json:"url"`
	Private      bool     `json:"private"`
	Branch       string   `json:"branch,omitempty"`       // head branch of a pull or merge request, if it is one of this repository
	Fork         bool     `json:"fork,omitempty"`         // its head branch is in another repository, or gone
	Confidential bool     `json:"confidential,omitempty"` // fewer people see it than the project's branches
	Assigned     bool     `json:"assigned"`               // the agent's own account is among the assignees
	Removed      []string `json:"removed,omitempty"`      // hidden text that was taken out, by class
	Hash         string   `json:"hash"`                   // hex SHA-256 of the raw title and body

	Edit TextEdit `json:"edit,omitzero"` // of a public project: what is known of edits
}

// TextEdit says who edited a text of a public project last, and whether somebody who
// may write has seen it since.
type TextEdit struct {
	By      string    `json:"by,omitempty"`
	At      time.Time `json:"at,omitzero"`       // by the forge's clock
	Unknown bool      `json:"unknown,omitempty"` // the forge does not tell of edits
	Asks    bool      `json:"asks,omitempty"`    // nobody who may write has set the label since: somebody has to approve the text
}

// WorkspacePrepared says where the files are.
type WorkspacePrepared struct {
	input
	Dir     string `json:"dir"`
	InPlace bool   `json:"in_place"`
	Base    string `json:"base,omitempty"`         // branch that a change goes to
	Commit  string `json:"commit,omitempty"`       // the commit that the work began on
	Missing string `json:"missing_base,omitempty"` // a branch that the task or the configuration names as the base, and that does not exist
	Error   string `json:"error,omitempty"`        // why there is none
	Reason  string `json:"reason,omitempty"`       // empty: the repository has no commit

	Continued Continued `json:"continued,omitzero"` // unfinished work of an earlier attempt that is in it, or was to be
}

// Continued is unfinished work that an earlier attempt at the task left. It is zero
// if there is none.
type Continued struct {
	From   string `json:"from"`             // uuid of its context
	Branch string `json:"branch,omitempty"` // that holds it; empty: its patch does
	Error  string `json:"error,omitempty"`  // why it could not be taken over: the work begins anew

	Files []string `json:"files,omitempty"` // that it added
}

// ProjectRead is what the working copy's repository says of itself. Nothing of
// it is trusted. It is read once; a failure leaves it empty and stops nothing.
type ProjectRead struct {
	input
	Rules []RuleFile `json:"rules,omitempty"`
	Files Text       `json:"files"` // sorted paths, one a line; a directory that is not shown in full ends in a slash
	Total int        `json:"total"` // files that were found
	More  int        `json:"more"`  // lines that had no room in Files
	Error string     `json:"error,omitempty"`
}

// RuleFile is a file with rules for agents. Text is sanitised.
type RuleFile struct {
	Path    string   `json:"path"`
	Text    Text     `json:"text"`
	Bytes   int64    `json:"bytes"` // of the file
	Cut     bool     `json:"cut,omitempty"`
	Removed []string `json:"removed,omitempty"`  // hidden text that was taken out
	Warning []string `json:"warnings,omitempty"` // injection patterns
}

// ChangeMeasured says what the working copy holds that was not there when the
// work began. What is published is this tree.
type ChangeMeasured struct {
	input
	Tree    string        `json:"tree,omitempty"` // name of the tree in git
	Files   []ChangedFile `json:"files"`          // the first ones, by path
	Count   int           `json:"count"`          // of all files
	Added   int           `json:"added"`          // lines, of all files
	Removed int           `json:"removed"`
	LeftOut []string      `json:"left_out,omitempty"` // files that are too large, and repositories inside of the working copy

	ByProducts []ByProduct `json:"by_products,omitempty"` // new files that tools leave beside the work: they are left out too
	Error      string      `json:"error,omitempty"`       // why it could not be measured
}

// ByProduct is a new file, or a directory whose path ends in a slash, of a
// well-known name, which no edit and no words of the task name.
type ByProduct struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // what makes such files
}

// ChangedFile is one path of a change.
type ChangedFile struct {
	Path    string `json:"path"` // a long one is cut and ends in …
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Kind    string `json:"kind,omitempty"` // secret | binary | link | submodule | large; empty: text
	New     bool   `json:"new,omitempty"`  // the commit that the work began on does not have it
}

// ToolsListed holds what the tool servers offer, with full schemas.
type ToolsListed struct {
	input
	Servers []Server `json:"servers"`
}

// Server is one tool server.
type Server struct {
	Name   string `json:"name"`
	Prompt string `json:"prompt,omitempty"`
	Tools  []Tool `json:"tools"`
	Error  string `json:"error,omitempty"`
}

// Tool is one tool of a server.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	ReadOnly    bool            `json:"read_only,omitempty"`
	Idempotent  bool            `json:"idempotent,omitempty"`
}

// CommentsFetched says which comments were found. A fetch of many comments is
// split over several events of which only the last has Last set.
type CommentsFetched struct {
	input
	Reason   FetchReason `json:"reason"`
	Comments []Comment   `json:"comments"`
	Seen     int         `json:"seen"` // comments that earlier events already hold
	Last     bool        `json:"last"`
	Error    string      `json:"error,omitempty"`
}

// FetchReason says why comments were read.
type FetchReason string

// Why comments are read.
const (
	FetchStart    FetchReason = "start"
	FetchResume   FetchReason = "resume"
	FetchPeriodic FetchReason = "periodic"
	FetchPublish  FetchReason = "publish" // before the work is published
)

// Comment is one comment and what was made of it.
type Comment struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Author  string    `json:"author"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Hash    string    `json:"hash"`               // hex SHA-256 of the raw body
	Verdict string    `json:"verdict"`            // new | edited | own | bot | system | internal | untrusted | approval | older | deleted
	Body    Text      `json:"body,omitzero"`      // sanitised; only of comments that become messages
	Removed []string  `json:"removed,omitempty"`  // hidden text that was taken out
	Warning []string  `json:"warnings,omitempty"` // injection patterns
}

// ContextInherited says what was taken over from an earlier context, or why nothing was.
type ContextInherited struct {
	input
	From    string    `json:"from,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Seqs    []uint64  `json:"seqs,omitempty"`    // events of that log which the text comes from
	Sources []string  `json:"sources,omitempty"` // contexts whose words may be in it: From, and those that From has words of
	Summary Text      `json:"summary,omitzero"`
	Trust   string    `json:"trust,omitempty"` // lowest of its sources: members | author | anybody
	Reason  string    `json:"reason,omitempty"`
}

// ProcessStarted opens a process's part of a log.
type ProcessStarted struct {
	input
	Version   string `json:"version"`
	Decisions int    `json:"decisions"` // version of handlers.Next
	Host      string `json:"host"`
	PID       int    `json:"pid"`
}

// ProcessRecovered says that the process before did not end properly.
type ProcessRecovered struct {
	input
	OpenSeq    uint64 `json:"open_seq,omitempty"` // intent without an outcome
	OpenType   string `json:"open_type,omitempty"`
	TornBytes  int64  `json:"torn_bytes,omitempty"`
	Quarantine string `json:"quarantine,omitempty"`
	GivenUp    int64  `json:"given_up_bytes,omitempty"` // by repair --accept-loss
}

// ProcessEnded closes a process's part of a log.
type ProcessEnded struct {
	input
	Reason string `json:"reason"`
}

// TimerFired ends a wait.
type TimerFired struct {
	input
	Until time.Time `json:"until"`
}

// TaskChanged says that somebody changed the item.
type TaskChanged struct {
	input
	What    string   `json:"what"` // text
	Title   string   `json:"title,omitempty"`
	Body    Text     `json:"body,omitzero"`
	Removed []string `json:"removed,omitempty"` // hidden text that was taken out
	Hash    string   `json:"hash,omitempty"`    // hex SHA-256 of the raw title and body
	Edit    TextEdit `json:"edit,omitzero"`     // of a public project
}

// ReadRefused says that the forge refuses a read that the work cannot do without, and
// will do so until a person changes something.
type ReadRefused struct {
	input
	What    string `json:"what"` // task | comments
	Kind    string `json:"kind"` // forbidden | invalid
	Message string `json:"message"`
}

// TaskMoved says that the item has another address from now on, by what the forge said.
type TaskMoved struct {
	input
	From   string `json:"from"` // task keys
	To     string `json:"to"`
	Reason string `json:"reason"` // renamed: the project has another name | transferred: the item is in another project
}

// PauseRequested is a wish to pause.
type PauseRequested struct {
	input
	By string `json:"by"` // signal_file | command
}

// ResumeRequested ends a pause. Only a person's resume grants more of a reached limit.
type ResumeRequested struct {
	input
	By     string  `json:"by"` // signal_file | command | timer | label | comment
	Person bool    `json:"person"`
	Add    float64 `json:"add,omitempty"`

	Actor   string `json:"actor,omitempty"`       // who did it: a login of the forge; of a command the account of the machine
	Event   string `json:"label_event,omitempty"` // id of the forge's event about the label
	Comment string `json:"comment,omitempty"`     // id of the comment
	Tree    string `json:"tree,omitempty"`        // that is approved: no other one may be published
}

// StopRequested is a wish to stop for good.
type StopRequested struct {
	input
	By     string `json:"by"` // command | closed | unassigned | label_removed | gone | expired
	Reason string `json:"reason,omitempty"`
}

// BlobForgotten says that a blob was removed on purpose.
type BlobForgotten struct {
	input
	Blob string `json:"blob"`
	By   string `json:"by"`
}
