package event

import "strings"

// MessagePurpose says what a message is for.
type MessagePurpose string

// What messages are for.
const (
	SystemMessage     MessagePurpose = "system"
	TaskMessage       MessagePurpose = "task"
	CommentsMessage   MessagePurpose = "comments"
	EditedMessage     MessagePurpose = "edited" // the task's text was edited
	CorrectionMessage MessagePurpose = "correction"
	InheritedMessage  MessagePurpose = "inherited"
	PhaseMessage      MessagePurpose = "phase"
	ActionMessage     MessagePurpose = "action"
	NotCalledMessage  MessagePurpose = "not_called" // the plan named tools that were not called
	NewFilesMessage   MessagePurpose = "new_files"  // asks which new files belong to the change
	RestoredMessage   MessagePurpose = "restored"   // says what of the files was made again
	RulesMessage      MessagePurpose = "rules"      // files with rules for a directory
)

// SummaryMessage is no message of the log: in a conversation it takes the place of those that
// were summarised.
const SummaryMessage MessagePurpose = "summary"

// SummaryPurpose says what a summary is for.
type SummaryPurpose string

// What summaries are for.
const (
	CompactionSummary SummaryPurpose = "compaction" // takes the place of old messages
	FinalSummary      SummaryPurpose = "final"      // for the next attempt at the task
)

// PauseReason says why a context paused. That of a model's failure is [ModelPause].
type PauseReason string

// Why contexts pause.
const (
	PauseOnRequest       PauseReason = "requested"
	PauseForked          PauseReason = "forked"           // a fork waits for the person who made it
	PauseChange          PauseReason = "change"           // the change needs an approval
	PausePlan            PauseReason = "plan"             // the plan needs an approval
	PauseLimit           PauseReason = "limit"            // a limit was reached
	PauseText            PauseReason = "text"             // somebody who may not write edited the task after the label
	PauseLabels          PauseReason = "labels"           // the forge did not let us set the labels: the trigger label is still there
	PauseUnread          PauseReason = "unread"           // the forge does not let us read the item or its comments
	PauseImage           PauseReason = "image"            // the container image for commands cannot be had
	PauseRepeatedCall    PauseReason = "repeated_call"    // the model calls the same tool with the same arguments again and again
	PauseFilesChanged    PauseReason = "files_changed"    // a person changed the files of a working copy in place
	PauseFilesUnreadable PauseReason = "files_unreadable" // the saved files cannot be read
	PauseFilesLost       PauseReason = "files_lost"       // work was lost that was not saved
)

const modelPause = "model_"

// ModelPause is the reason of a pause because the model failed: kind is an llm.Kind.
func ModelPause(kind string) PauseReason { return modelPause + PauseReason(kind) }

// OfModel is the kind of failure of the model that a context paused for.
func (r PauseReason) OfModel() (kind string, ok bool) {
	return strings.CutPrefix(string(r), modelPause)
}

// EndReason says how a context came to its end. That of a stop is who stopped it; that of
// a failure may also be what a forge, git or a model's server said.
type EndReason string

// The reasons of ends that are decided here.
const (
	EndDone            EndReason = "done"
	EndAwaiting        EndReason = "await"      // the model is done, and an answer is waited for
	EndMaxCalls        EndReason = "max_calls"  // as many model calls as are allowed
	EndMaxRounds       EndReason = "max_rounds" // as many answered comments as are allowed
	EndKeyword         EndReason = "keyword"    // a comment said that all is done
	EndTimeout         EndReason = "timeout"    // nobody answered
	EndRetry           EndReason = "retry"      // a person asked for a fresh attempt
	EndActionFailed    EndReason = "action_failed"
	EndUnusableReplies EndReason = "unusable_replies"
	EndWorkspace       EndReason = "workspace" // there is no working copy
)

// CommentClass says what a comment is to the agent.
type CommentClass string

// What comments are. Only new and edited ones are passed to the model.
const (
	NewComment       CommentClass = "new"
	EditedComment    CommentClass = "edited"
	OwnComment       CommentClass = "own"
	BotComment       CommentClass = "bot"
	SystemComment    CommentClass = "system"
	InternalComment  CommentClass = "internal"
	UntrustedComment CommentClass = "untrusted"
	ApprovalComment  CommentClass = "approval"
	CommandComment   CommentClass = "command"
	OlderComment     CommentClass = "older"
	DeletedComment   CommentClass = "deleted"
)
