package event

import (
	"strings"
	"time"
)

// LLMRequested is the intent of a model call.
type LLMRequested struct {
	intent
	Purpose   string `json:"purpose"`  // work | summary | compaction | a planning phase
	Protocol  string `json:"protocol"` // json | tools
	Model     string `json:"model"`
	SHA256    string `json:"sha256"` // of llm.Request.Canonical
	Messages  int    `json:"messages"`
	Estimated int    `json:"estimated_tokens"`
	Attempt   int    `json:"attempt"` // 1 for the first try
}

// OutsideConversation is true for a call that is no turn of the conversation: it writes a summary.
func (r *LLMRequested) OutsideConversation() bool {
	return r.Purpose == "summary" || r.Purpose == "compaction"
}

// LLMReplied is a whole reply of a model.
type LLMReplied struct {
	outcome
	Text       Text       `json:"text"`
	Reasoning  Text       `json:"reasoning,omitzero"`
	Calls      []ToolCall `json:"calls,omitempty"`
	Finish     string     `json:"finish"`
	Usage      Usage      `json:"usage"`
	Model      string     `json:"model"`
	API        string     `json:"api,omitempty"` // which API of the server was used
	CostUSD    float64    `json:"cost_usd,omitempty"`
	DurationMS int64      `json:"duration_ms"`
	Raw        Text       `json:"raw"`               // body as received
	Opaque     Text       `json:"opaque,omitzero"`   // JSON that goes back with this turn, to the server and model that gave it
	From       string     `json:"from,omitempty"`    // that server and model
	Shape      []string   `json:"shape,omitempty"`   // steps away from the profile that the request took, see llm.Profile
	Sources    []string   `json:"sources,omitempty"` // of the draft of a summary: earlier contexts whose words may be in it
}

// ToolCall is a call that a model asked for.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args Text   `json:"args"` // as the model sent it

	Written bool `json:"written,omitempty"` // read from the model's text, see package textcall
}

// Usage counts tokens. Estimated is set when the provider gave no usable count.
type Usage struct {
	Prompt     int  `json:"prompt"`
	Completion int  `json:"completion"`
	Cached     int  `json:"cached,omitempty"`
	Reasoning  int  `json:"reasoning,omitempty"`
	Estimated  bool `json:"estimated,omitempty"`
}

// Interrupted is the kind of failure of an intent whose process died or was told to stop.
const Interrupted = "interrupted"

// LLMFailed is a model call without a usable reply.
type LLMFailed struct {
	outcome
	Kind      string    `json:"kind"` // llm.Kind, or interrupted
	Status    int       `json:"status,omitempty"`
	Message   string    `json:"message"`
	Partial   Text      `json:"partial,omitzero"`
	NotBefore time.Time `json:"not_before,omitzero"` // earliest time of the next try, jitter included
	Window    int       `json:"window,omitempty"`    // tokens that the server says a prompt may have, of kind context_overflow
	Shape     []string  `json:"shape,omitempty"`     // steps away from the profile that the request took
	Usage     Usage     `json:"usage,omitzero"`      // of an answer that was whole and of no use
	CostUSD   float64   `json:"cost_usd,omitempty"`  // of that answer
}

// ToolRequested is the intent of a tool call.
type ToolRequested struct {
	intent
	Reply  uint64 `json:"reply"` // seq of the reply that asked for it
	Index  int    `json:"index"` // among that reply's calls
	CallID string `json:"call_id"`
	Server string `json:"server"`
	Tool   string `json:"tool"`
	Args   Text   `json:"args"`
	Need   string `json:"info_id,omitempty"` // the information that it collects for a plan
	Again  bool   `json:"again"`             // may be run again if its outcome is lost: read-only or idempotent
	Setup  bool   `json:"setup,omitempty"`   // the configuration asks for it, no reply does
}

// Name is the tool as "server/tool", or the name that the model used if no such tool is offered.
func (r *ToolRequested) Name() string {
	if r.Server == "" {
		return r.Tool
	}
	return r.Server + "/" + r.Tool
}

// ToolReplied is a tool's answer, also when the tool says that it failed.
type ToolReplied struct {
	outcome
	Content    Text     `json:"content"`
	IsError    bool     `json:"is_error,omitempty"`
	DurationMS int64    `json:"duration_ms"`
	Sources    []string `json:"sources,omitempty"` // of the tool history: earlier contexts whose words may be in it
	Trust      string   `json:"trust,omitempty"`   // lowest of those sources
}

// ToolFailed is a call without an answer.
type ToolFailed struct {
	outcome
	Kind       string `json:"kind"` // mcp.ErrorKind, or bad_arguments | not_offered | too_large | too_many
	Message    string `json:"message"`
	DurationMS int64  `json:"duration_ms"`
}

// ToolInterrupted is a call that may or may not have happened.
type ToolInterrupted struct {
	outcome
	Reason string `json:"reason"`
}

// CommentRequested is the intent to write a comment. The body is recorded
// without the hidden marker; the op in the marker is "uuid:seq" of this event.
type CommentRequested struct {
	intent
	Purpose string `json:"purpose"`        // progress | progress:STAGE | progress:call | checklist | completed | failed | paused | stopped | resumed | inherited | fetch | clarification | round | plan
	Edit    string `json:"edit,omitempty"` // id of the comment to edit; empty for a new one
	Body    Text   `json:"body"`
	Plan    string `json:"plan,omitempty"` // of purpose plan: hash of the plan that it asks to approve
}

// Repeated is true for a comment that says how far the work is: what it says is
// said again by the next one, so it may fail.
func (r *CommentRequested) Repeated() bool {
	return r.Purpose == "progress" || r.Purpose == "checklist" || strings.HasPrefix(r.Purpose, "progress:")
}

// What the outcome of a write says that a fork did not do.
const (
	Recorded = "recorded" // its origin did the same: the outcome is that one's
	NotDone  = "not_done"
)

// CommentPosted is a comment that stands on the forge.
type CommentPosted struct {
	outcome
	ID      string `json:"id"`
	URL     string `json:"url,omitempty"`
	Adopted bool   `json:"adopted,omitempty"` // found after its answer was lost

	Simulated string `json:"simulated,omitempty"` // in a fork nothing was written, see [Recorded] and [NotDone]
}

// CommentFailed is a comment that was not written: certainly not, or, if it is
// [CommentRequested.Repeated], not in a few tries.
type CommentFailed struct {
	outcome
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// ReactionRequested is the intent to answer a command in a comment with a reaction. It is
// best effort: nothing waits for it.
type ReactionRequested struct {
	intent
	Comment  string `json:"comment"`  // its id
	Reaction string `json:"reaction"` // thumbs_up | eyes | confused
}

// ReactionAdded is a reaction that stands on the forge.
type ReactionAdded struct {
	outcome
	Simulated string `json:"simulated,omitempty"` // as in comment.posted
}

// ReactionFailed is one that could not be added.
type ReactionFailed struct {
	outcome
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// LabelsRequested is the intent to add and remove labels.
type LabelsRequested struct {
	intent
	Purpose string   `json:"purpose"` // start | resumed | paused | completed | stopped | failed | awaiting
	Add     []string `json:"add"`
	Remove  []string `json:"remove"`
}

// LabelsChanged holds the labels as read back.
type LabelsChanged struct {
	outcome
	Labels []string `json:"labels"`
	Event  string   `json:"last_event,omitempty"` // of a pause or wait: id of the newest event about labels. Only a later one ends it

	Simulated string `json:"simulated,omitempty"` // as in comment.posted
}

// LabelsFailed is a label change that did not succeed.
type LabelsFailed struct {
	outcome
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// ChangeRequested is the intent to publish the work as a branch and a pull or merge request.
type ChangeRequested struct {
	intent
	Branch   string `json:"branch"` // empty: nothing may be pushed, a patch is made
	Base     string `json:"base"`
	Title    string `json:"title"`
	Body     Text   `json:"body"`
	Draft    bool   `json:"draft"`
	Tree     string `json:"tree,omitempty"`     // that was measured
	Existing bool   `json:"existing,omitempty"` // the branch is that of a pull or merge request, and must exist
	Reviewer string `json:"reviewer,omitempty"` // who is asked to review it

	// Unfinished keeps the work of an end that the model did not call one: the branch
	// is pushed and no request opened.
	Unfinished bool `json:"unfinished,omitempty"`
	Paused     bool `json:"paused,omitempty"` // it is kept because the work pauses: a patch of the files as they are, whatever was measured
}

// ChangeOpened is the published work. Number is 0 of a patch and of unfinished work.
type ChangeOpened struct {
	outcome
	Number   int      `json:"number"`
	URL      string   `json:"url,omitempty"`
	Commit   string   `json:"commit,omitempty"`
	Files    []string `json:"files,omitempty"`
	Reviewer string   `json:"reviewer,omitempty"` // who was asked to review it
	Patch    Text     `json:"patch,omitzero"`     // instead of a request

	Unfinished bool   `json:"unfinished,omitempty"` // the work was kept, and no request opened
	Branch     string `json:"branch,omitempty"`     // that holds unfinished work; empty: the patch does
	Paused     bool   `json:"paused,omitempty"`     // as in change.requested
	Rebased    bool   `json:"rebased,omitempty"`    // onto what others pushed: what was run before was not run on it

	Simulated string `json:"simulated,omitempty"` // as in comment.posted; not_done: the work is a patch
}

// ChangeFailed is work that could not be published. Its patch is kept beside the log as well, see [PatchFile].
type ChangeFailed struct {
	outcome
	Kind    string `json:"kind"` // moved | conflict | refused | gone | transferred | other, or forge.ErrorKind
	Message string `json:"message"`
	Commit  string `json:"commit,omitempty"`
	Pushed  bool   `json:"pushed,omitempty"` // the branch is there, the request is not
	Patch   Text   `json:"patch,omitzero"`

	Unfinished bool `json:"unfinished,omitempty"` // it was to be kept, and no request opened
	Paused     bool `json:"paused,omitempty"`     // as in change.requested
}

// PatchFile is the file in a context's directory that holds work which was not
// pushed, byte by byte as git made it.
const PatchFile = "change.patch"
