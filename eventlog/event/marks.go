package event

import (
	"encoding/json"
	"time"
)

// MessageAdded puts a system or user message, or an inherited assistant one, into the conversation.
type MessageAdded struct {
	mark
	Role     string   `json:"role"`
	Purpose  string   `json:"purpose"` // system | task | comments | correction | inherited
	Content  Text     `json:"content"`
	Comments []string `json:"comments,omitempty"` // ids of the comments in it
}

// SummaryAdded is a summary of the messages from seq From to seq To.
type SummaryAdded struct {
	mark
	Purpose  string `json:"purpose"` // compaction | final
	From     uint64 `json:"from"`
	To       uint64 `json:"to"`
	Text     Text   `json:"text"`
	Original int    `json:"original_tokens"`
	Tokens   int    `json:"summary_tokens"`
	Computed bool   `json:"computed,omitempty"` // made from events, without a model
}

// PhaseEntered begins a planning phase.
type PhaseEntered struct {
	mark
	Phase string `json:"phase"`
}

// PlanMade is a plan as the model gave it.
type PlanMade struct {
	mark
	Plan json.RawMessage `json:"plan"`
}

// PlanRevised changes the plan.
type PlanRevised struct {
	mark
	Reason  string          `json:"reason"`
	Changes json.RawMessage `json:"changes"`
	Plan    json.RawMessage `json:"plan"`
}

// ActionStarted begins an action of the plan.
type ActionStarted struct {
	mark
	Action string `json:"action"`
	Index  int    `json:"index"`
}

// ActionFinished ends an action of the plan.
type ActionFinished struct {
	mark
	Action string `json:"action"`
	Index  int    `json:"index"`
	Status string `json:"status"` // success | failed | skipped
	Detail string `json:"detail,omitempty"`
}

// ReflectionMade is the model's evaluation of the work so far.
type ReflectionMade struct {
	mark
	Evaluation json.RawMessage `json:"evaluation"`
}

// VerificationMade is the model's verdict on the result.
type VerificationMade struct {
	mark
	Round  int             `json:"round"`
	Passed bool            `json:"passed"`
	Result json.RawMessage `json:"result"`
}

// ReplanDecided is a decision to plan again, or not to.
type ReplanDecided struct {
	mark
	Phase    string          `json:"phase"`
	Decision json.RawMessage `json:"decision"`
	Executed bool            `json:"executed"`
	Override string          `json:"override,omitempty"`
}

// TaskSkipped says why a task was not worked on after its context was made.
type TaskSkipped struct {
	mark
	Reason string `json:"reason"`
}

// Until says what ends a pause.
type Until struct {
	Kind string    `json:"kind"`          // signal | time | person | comment
	Time time.Time `json:"time,omitzero"` // for kind time
}

// ContextPaused says that work rests, why, and until when.
type ContextPaused struct {
	mark
	Reason string `json:"reason"`
	Until  Until  `json:"until"`
}

// ContextResumed says that work goes on.
type ContextResumed struct{ mark }

// ContextAwaiting says that the task waits for a person's comment.
type ContextAwaiting struct {
	mark
	Rounds int   `json:"rounds"` // answered comments so far
	Until  Until `json:"until"`  // when it ends without an answer
}

// ContextCompleted ends a context well. Partial says that not everything was done.
type ContextCompleted struct {
	mark
	Partial bool   `json:"partial,omitempty"`
	Reason  string `json:"reason"` // done | max_calls | keyword | timeout | max_rounds
}

// ContextStopped ends a context because a person wished it.
type ContextStopped struct {
	mark
	Reason string `json:"reason"`
}

// ContextFailed ends a context with an error.
type ContextFailed struct {
	mark
	Reason string `json:"reason"`
}

// LimitReached says that a limit was reached; a person must act, except for calls.
type LimitReached struct {
	mark
	Limit string  `json:"limit"` // calls | tokens | cost | minutes | tokens_per_day | cost_per_day
	Max   float64 `json:"max"`
	Used  float64 `json:"used"`
}
