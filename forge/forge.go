// Package forge is the port to the places where tasks live: GitHub, GitLab, and directories of files.
//
// A task is an issue, a pull request or a merge request. Adapters in
// sub-packages translate; they never retry a write, and they say of each
// failed write whether it may have been done all the same (see [Ambiguous]).
package forge

import (
	"context"
	"fmt"
	"time"
)

// Task is an item as the forge shows it now. Text is raw: sanitising is the caller's.
type Task struct {
	Key          TaskKey
	Title        string
	Body         string
	Author       Account
	State        string // open | closed
	Labels       []string
	Assignees    []string
	URL          string
	Private      bool // the project is private or internal: its members are trusted
	Draft        bool
	Branch       string // head branch of a pull or merge request; lists may leave it out
	Fork         bool   // the head branch is in another repository or gone: this one has no such branch to push to; lists may leave it out
	Confidential bool   // fewer people see the item than the project's branches and requests
	NoPush       bool   // work on it ends as a patch: no branch is wanted
	UpdatedAt    time.Time

	ID      string // of the item, on all of the forge; "": the forge does not say
	Project string // the id of its project; "": the forge does not say
}

// InTurns is a client that asks its projects in turns if it cannot list all at once.
type InTurns interface {
	// EachWithin is about how long it takes until each was asked; 0: all are at each look.
	EachWithin() time.Duration
}

// Account is a person or a bot.
type Account struct {
	ID    string
	Login string
	Bot   bool
}

// Comment is one remark on a task, whatever the forge calls its kind.
type Comment struct {
	ID        string // as text, also where the forge uses numbers; unique within Kind
	Kind      string // comment | review | review_comment | note
	Author    Account
	Body      string
	State     string // resolved | approved | changes requested | dismissed; it may change without an edit. "": none, or the forge does not say
	System    bool   // written by the forge itself
	Internal  bool   // only members of the project see it
	URL       string
	CreatedAt time.Time
	UpdatedAt time.Time // zero: the forge does not say
}

// Emoji is a reaction to a comment.
type Emoji string

// The reactions that the agent makes and reads.
const (
	ThumbsUp Emoji = "thumbs_up"
	Eyes     Emoji = "eyes"
	Confused Emoji = "confused"
)

// Reaction is that somebody reacted to a comment. Ids rise over time.
type Reaction struct {
	ID string
	By Account
}

// Labelling is that somebody put a label on a task. Ids of events rise over time,
// whatever any clock says.
type Labelling struct {
	By     Account   // zero: the forge does not say
	Event  int64     // id of that event; 0: the forge does not say
	At     time.Time // by the forge's clock
	Latest int64     // id of the newest event about any label of the task; 0: there is none
}

// Edit is an edit of a task's title or body.
type Edit struct {
	By    Account
	At    time.Time // by the forge's clock; zero: it was never edited
	Known bool      // the forge tells
}

// Repository is what a working copy needs.
type Repository struct {
	CloneURL      string // https, or a local path
	DefaultBranch string
	Private       bool
	ID            string // "": the forge does not say
}

// Label is a label that the agent uses.
type Label struct {
	Name, Color, Description string // colour: six hex digits
}

// Change is a pull or merge request.
type Change struct {
	Number int
	URL    string
	Branch string
}

// ChangeSpec describes a change to open.
type ChangeSpec struct {
	Branch, Base, Title, Body string
	Draft                     bool
}

// Permission is what an account may do in a project. Anything unknown is None.
type Permission int

// The permissions, in rising order. Write and above are trusted.
const (
	None Permission = iota
	Read
	Write
	Admin
)

// Client talks to one forge. Every error is an *Error or ctx's own error.
type Client interface {
	// Me is the account the token belongs to. The answer is cached.
	Me(ctx context.Context) (Account, error)
	// ListTasks returns the open items that carry label, oldest first, all pages. What was
	// found may come with an error about the rest.
	ListTasks(ctx context.Context, label string) ([]Task, error)
	Task(ctx context.Context, key TaskKey) (Task, error)
	Repository(ctx context.Context, key TaskKey) (Repository, error)
	// Comments returns every comment, oldest first by the server's time then id, all pages.
	// If since is set, only those updated at or after it.
	Comments(ctx context.Context, key TaskKey, since time.Time) ([]Comment, error)
	PostComment(ctx context.Context, key TaskKey, body string) (Comment, error)
	EditComment(ctx context.Context, key TaskKey, id, body string) (Comment, error)
	// React answers a comment. Reacting twice is as good as once. The ids of reviews and
	// review comments are not taken, as by EditComment. A forge without reactions does nothing.
	React(ctx context.Context, key TaskKey, id string, e Emoji) error
	// Reactions returns who reacted to a comment in that way, oldest first, all pages.
	Reactions(ctx context.Context, key TaskKey, id string, e Emoji) ([]Reaction, error)
	// ChangeLabels adds and removes labels one by one, never writing a whole
	// list, and returns the labels read back afterwards. Labels that are
	// already there or already gone are no error. Missing ones are created.
	ChangeLabels(ctx context.Context, key TaskKey, add []Label, remove []string) ([]string, error)
	Permission(ctx context.Context, key TaskKey, login string) (Permission, error)
	// LabelledBy is who put a label on the task, the last time that it was put
	// there. Without a label only Latest is set.
	LabelledBy(ctx context.Context, key TaskKey, label string) (Labelling, error)
	// LastEdit is the latest edit of the task's title or body.
	LastEdit(ctx context.Context, key TaskKey) (Edit, error)
	// FindChange returns the open change with this head branch, or nil.
	FindChange(ctx context.Context, key TaskKey, branch string) (*Change, error)
	OpenChange(ctx context.Context, key TaskKey, spec ChangeSpec) (Change, error)
	// AskReview asks an account to review the change. Asking twice is as good as
	// once. [Invalid] and [NotFound] mean that it cannot be asked.
	AskReview(ctx context.Context, key TaskKey, change int, login string) error
	// MaxComment is the longest comment body in characters.
	MaxComment() int
}

// ErrorKind says what an error means for the caller.
type ErrorKind string

// The kinds of error.
const (
	NotFound    ErrorKind = "not_found"    // gone: its repository can be read, and it is not in there
	Hidden      ErrorKind = "hidden"       // 404, and whether the item is gone cannot be told: it may come back
	Auth        ErrorKind = "auth"         // 401: a person must act
	Certificate ErrorKind = "certificate"  // the server's certificate is not one that this machine trusts: a person must act
	Forbidden   ErrorKind = "forbidden"    // 403 that is no rate limit: a permission is missing
	RateLimited ErrorKind = "rate_limited" // primary or secondary limit: wait RetryAfter
	Invalid     ErrorKind = "invalid"      // 422 and other 4xx: not done, and never will be
	Transient   ErrorKind = "transient"    // a read that failed, or a write that certainly did not arrive
	Moved       ErrorKind = "moved"        // not done: the address is an old one. To is the new one, if the forge names it
	Ambiguous   ErrorKind = "ambiguous"    // a write that may have been done: timeout, reset, 5xx, unreadable 2xx
)

// Error is a failed call. Message is one line and holds no secret.
type Error struct {
	Kind       ErrorKind
	Op         string // "post comment"
	Status     int
	Message    string
	RetryAfter time.Duration
	Err        error
	Local      bool // of task files: there is neither a server nor a token

	To          TaskKey // of [Moved]
	Transferred bool    // it is in another project; else the project has another name
}

func (e *Error) Error() string {
	if e.Local {
		return e.Op + ": " + e.Message
	}
	if e.Status != 0 {
		return fmt.Sprintf("%s: %s (%s, HTTP %d)", e.Op, e.Message, e.Kind, e.Status)
	}
	return fmt.Sprintf("%s: %s (%s)", e.Op, e.Message, e.Kind)
}

// NeedsPerson reports whether nothing that is sent to this forge is answered until a
// person changes the token, or the certificates of this machine.
func (k ErrorKind) NeedsPerson() bool { return k == Auth || k == Certificate }

// Lasting reports whether one thing is refused until a person changes a permission or
// a setting, while others are answered.
func (k ErrorKind) Lasting() bool { return k == Forbidden || k == Invalid }

func (e *Error) Unwrap() error { return e.Err }
