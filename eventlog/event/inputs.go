package event

import (
	"encoding/json"
	"time"

	"agent/eventlog/versions"
)

// Format is the version of the log as a whole, recorded in context.created.
const Format = versions.Format

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
	Trigger string `json:"trigger"` // label | command | comment
	Version string `json:"version"` // of the program
	Host    string `json:"host"`
	PID     int    `json:"pid"`

	Actor   string `json:"actor,omitempty"`   // who asked for it in a comment
	Comment string `json:"comment,omitempty"` // its id
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
	NoPush       bool     `json:"no_push,omitempty"`      // no branch is wanted: the work ends as a patch
	Assigned     bool     `json:"assigned"`               // the agent's own account is among the assignees
	Removed      []string `json:"removed,omitempty"`      // hidden text that was taken out, by class
	Hash         string   `json:"hash"`                   // hex SHA-256 of the raw title and body

	Edit TextEdit `json:"edit,omitzero"` // of a public project: what is known of edits

	ItemID    string `json:"item_id,omitempty"` // on all of the forge: another item may get the address
	ProjectID string `json:"project_id,omitempty"`
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
	Shallow bool   `json:"shallow,omitempty"`      // its history is cut

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
	Files Text       `json:"files"`        // of older releases: sorted paths, one a line; a directory that is not shown in full ends in a slash
	Map   Text       `json:"map,omitzero"` // what there is and where, as the model reads it
	Total int        `json:"total"`        // files that were found
	More  int        `json:"more"`         // lines that had no room in Files
	Error string     `json:"error,omitempty"`

	Nested []RuleFile `json:"nested,omitempty"` // files with rules for directories, shown when work goes there
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
	FetchPlan     FetchReason = "plan"    // before people are asked to approve a plan
)

// Comment is one comment and what was made of it.
type Comment struct {
	ID      string       `json:"id"`
	Kind    string       `json:"kind"`
	Author  string       `json:"author"`
	Created time.Time    `json:"created"`
	Updated time.Time    `json:"updated"`
	Hash    string       `json:"hash"` // hex SHA-256 of the raw body
	Verdict CommentClass `json:"verdict"`
	Body    Text         `json:"body,omitzero"`      // sanitised; only of comments that become messages
	Removed []string     `json:"removed,omitempty"`  // hidden text that was taken out
	Warning []string     `json:"warnings,omitempty"` // injection patterns
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
	Skipped bool      `json:"skipped,omitempty"` // there was an earlier attempt, and Reason says why it is not taken over
}

// ProcessStarted opens a process's part of a log.
type ProcessStarted struct {
	input
	Version   string `json:"version"`
	Decisions int    `json:"decisions"` // version of handlers.Next
	Host      string `json:"host"`
	PID       int    `json:"pid"`
	BootID    string `json:"boot_id,omitempty"` // of the machine: another one means that it was started anew
}

// ProcessRecovered says that the process before did not end properly.
type ProcessRecovered struct {
	input
	OpenSeq    uint64 `json:"open_seq,omitempty"` // intent without an outcome
	OpenType   string `json:"open_type,omitempty"`
	TornBytes  int64  `json:"torn_bytes,omitempty"`
	Quarantine string `json:"quarantine,omitempty"`
	GivenUp    int64  `json:"given_up_bytes,omitempty"` // by repair --accept-loss
	Saves      int    `json:"given_up_saves,omitempty"` // by it: earlier events workspace.saved whose files cannot be read
	Healed     int    `json:"healed,omitempty"`         // events that the cluster's history had lost, and that it has from this machine again
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

// ImageMissing says that the container image which the commands of this context run in cannot be had. Nothing
// is done without it.
type ImageMissing struct {
	input
	Message string `json:"message"`
	Lasting bool   `json:"lasting,omitempty"` // it was missing for a while: a person has to look
}

// Transferred is the reason of a move to another project.
const Transferred = "transferred"

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
	By string `json:"by"` // signal_file | command | comment

	Actor   string `json:"actor,omitempty"`   // who wrote the comment, or the account that ran the command
	Comment string `json:"comment,omitempty"` // its id
}

// ResumeRequested ends a pause. Only a person's resume grants more of a reached limit.
type ResumeRequested struct {
	input
	By     string  `json:"by"` // signal_file | command | timer | label | comment | reaction
	Person bool    `json:"person"`
	Add    float64 `json:"add,omitempty"`

	Actor   string `json:"actor,omitempty"`       // who did it: a login of the forge; of a command the account of the machine
	Event   string `json:"label_event,omitempty"` // id of the forge's event about the label
	Comment string `json:"comment,omitempty"`     // id of the comment, of a reaction that of the comment it is on
	Tree    string `json:"tree,omitempty"`        // that is approved: no other one may be published

	Reaction string `json:"reaction,omitempty"` // id of the reaction
	Plan     string `json:"plan,omitempty"`     // hash of the plan that is approved: no other one may be carried out
}

// StopRequested is a wish to stop for good.
type StopRequested struct {
	input
	By     string `json:"by"` // command | comment | retry | closed | unassigned | label_removed | gone | expired
	Reason string `json:"reason,omitempty"`

	Actor   string `json:"actor,omitempty"`   // who wrote the comment, or the account that ran the command
	Comment string `json:"comment,omitempty"` // its id
}

// StatusRequested is a person's wish to be told how far the work is.
type StatusRequested struct {
	input
	By      string `json:"by"` // comment
	Actor   string `json:"actor"`
	Comment string `json:"comment"` // its id
}

// LimitRaised says that a person granted more of a limit before it was reached. Of one that
// was reached [ResumeRequested] does.
type LimitRaised struct {
	input
	Limit   string  `json:"limit"` // tokens | cost | minutes; empty: the task has none, so nothing was granted
	Add     float64 `json:"add"`
	By      string  `json:"by"` // comment
	Actor   string  `json:"actor"`
	Comment string  `json:"comment"` // its id
}

// BlobForgotten says that a blob was removed on purpose.
type BlobForgotten struct {
	input
	Blob string `json:"blob"`
	By   string `json:"by"`
}
