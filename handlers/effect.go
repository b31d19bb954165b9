// Package handlers decides what happens next.
//
// [Next] is a pure function from the state of a context to one [Effect]. It
// reads no clock, no file and no configuration besides what the log pinned, so
// a resume is "fold, then Next", and a replay folds every prefix, calls Next
// again and compares. The engine (package engine) performs effects and appends
// what became of them; it decides nothing.
package handlers

import (
	"time"

	"agent/eventlog/event"
	"agent/eventlog/versions"
	"agent/llm"
)

// Decisions is the version of Next. It rises whenever Next may decide
// differently on an old log, and is recorded in process.started.
const Decisions = versions.Decisions

// Effect is one step. The set is sealed.
type Effect interface{ effect() }

// Record appends a mark. Nothing outside is touched.
type Record struct{ Body event.Body }

// Act appends the intent, touches the world, and appends the outcome.
type Act struct {
	Intent  event.Body
	Request *llm.Request // of a model call
}

// Read gets something from outside and appends it as an input event. It may be
// repeated at will.
type Read struct {
	Want   Want
	Reason event.FetchReason // of WantComments
}

// Want says what to read: the type of the input event that holds it.
type Want string

// What can be read.
const (
	WantTask      Want = "task.fetched"
	WantWorkspace Want = "workspace.prepared"
	WantProject   Want = "project.read"
	WantTools     Want = "tools.listed"
	WantComments  Want = "comments.fetched"
	WantInherited Want = "context.inherited"
	WantMeasure   Want = "change.measured"
)

// Wait lets time pass until a moment, or until a signal comes.
type Wait struct{ Until time.Time }

// Idle means that nothing is to be done: the context is paused, waits, or has ended.
type Idle struct{}

func (Record) effect() {}
func (Act) effect()    {}
func (Read) effect()   {}
func (Wait) effect()   {}
func (Idle) effect()   {}
