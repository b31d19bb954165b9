package event

import "time"

// MessageAdded puts a system or user message, or an inherited assistant one, into the conversation.
type MessageAdded struct {
	mark
	Role     string         `json:"role"`
	Purpose  MessagePurpose `json:"purpose"`
	Content  Text           `json:"content"`
	Comments []string       `json:"comments,omitempty"` // ids of the comments in it
	Words    Text           `json:"words,omitzero"`     // the closing words that the model was asked something about
	Rules    []string       `json:"rules,omitempty"`    // of purpose rules: paths of the files with rules that were due
}

// LLMAdapted is one step towards a plainer shape of requests, after a refusal that
// nothing else explains, or that names the tool that is left out from now on.
type LLMAdapted struct {
	mark
	Step   string `json:"step"`           // of llm.Ladder, or without_tool
	Tool   string `json:"tool,omitempty"` // that is left out, under its native name
	Reason string `json:"reason"`         // the words of the refusal
}

// LLMSwitched is a change to another model server, because one is out of service.
type LLMSwitched struct {
	mark
	Provider      string `json:"provider"`
	Model         string `json:"model"`
	ContextLength int    `json:"context_length"`
	Profile       string `json:"profile,omitempty"`
	Reason        string `json:"reason"` // llm.Kind of the latest failure
}

// SummaryAdded is a summary of the messages from seq From to seq To.
type SummaryAdded struct {
	mark
	Purpose  SummaryPurpose `json:"purpose"`
	From     uint64         `json:"from"`
	To       uint64         `json:"to"`
	Text     Text           `json:"text"`
	Original int            `json:"original_tokens"`
	Tokens   int            `json:"summary_tokens"`
	Computed bool           `json:"computed,omitempty"` // made from events, without a model
	// Sources are the earlier contexts whose words may be in it.
	Sources []string `json:"sources,omitempty"`
}

// PhaseEntered begins a planning phase.
type PhaseEntered struct {
	mark
	Phase string `json:"phase"` // understanding | information | assumption | planning | execution | reflection | revision | replanning | verification
}

// UnderstandingMade says what the model takes the task to be.
type UnderstandingMade struct {
	mark
	Understanding Understanding `json:"understanding"`
	Fallback      bool          `json:"fallback,omitempty"` // the replies could not be used: made from the task alone
}

// InformationPlanned says what must be known before a plan can be made.
type InformationPlanned struct {
	mark
	Needs    Needs `json:"information_needs"`
	Fallback bool  `json:"fallback,omitempty"` // the replies could not be used: nothing is collected
}

// InformationCollected says how the collection of a piece of information ended.
type InformationCollected struct {
	mark
	ID      string `json:"info_id"`
	Status  string `json:"status"`  // collected | failed | gap: neither found nor assumed
	Summary string `json:"summary"` // at most 500 characters
	Tries   int    `json:"tool_calls_used"`
}

// AssumptionMade puts an assumption in the place of information that was not found.
type AssumptionMade struct {
	mark
	Assumption Assumption `json:"assumption"`
	Default    bool       `json:"default,omitempty"` // the one that was planned for this case
}

// PlanMade is a plan. Actions are in the order in which they will be done.
type PlanMade struct {
	mark
	Plan Plan `json:"plan"`
}

// PlanRevised changes what is left to do. What is finished stays finished.
type PlanRevised struct {
	mark
	Trigger  string   `json:"trigger"` // reflection | comments, or a replan type
	Revision Revision `json:"revision"`
	Fallback bool     `json:"fallback,omitempty"` // the replies could not be used: what is left stays as it is
}

// ActionStarted begins an action of the plan.
type ActionStarted struct {
	mark
	Action string `json:"action"`
}

// ActionFinished ends an action of the plan.
type ActionFinished struct {
	mark
	Action string `json:"action"`
	Status string `json:"status"` // success | failed
	Detail string `json:"detail,omitempty"`
}

// ReflectionMade is the model's evaluation of the work so far.
type ReflectionMade struct {
	mark
	Reflection Reflection `json:"evaluation"`
	Revision   Revision   `json:"plan_revision,omitzero"`    // what is left to do, if the model gave it at once
	Override   string     `json:"override_reason,omitempty"` // why the plan is not revised although the model wishes it
	Fallback   bool       `json:"fallback,omitempty"`        // the replies could not be used
	Comment    string     `json:"comment,omitempty"`
}

// VerificationMade is the model's verdict on the result.
type VerificationMade struct {
	mark
	Round    int          `json:"round"` // from 1
	Result   Verification `json:"verification_result"`
	Fallback bool         `json:"fallback,omitempty"` // the replies could not be used: it did not pass
	Comment  string       `json:"comment,omitempty"`
}

// ReplanDecided is a decision to plan again, or not to.
type ReplanDecided struct {
	mark
	Phase     string   `json:"phase"` // after which it was made
	Decision  Replan   `json:"llm_decision"`
	Executed  bool     `json:"executed"`
	Carried   string   `json:"executed_type,omitempty"`   // the replan type that is carried out
	Override  string   `json:"override_reason,omitempty"` // why it is another one than the model's, or none
	Questions []string `json:"questions,omitempty"`       // to people
	Fallback  bool     `json:"fallback,omitempty"`        // the replies could not be used
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
	Reason PauseReason `json:"reason"`
	Until  Until       `json:"until"`
}

// ContextResumed says that work goes on.
type ContextResumed struct{ mark }

// ContextAwaiting says that the task waits for a person's comment.
type ContextAwaiting struct {
	mark
	Reason string `json:"reason,omitempty"` // empty: for an answer to the closing words | clarification: for an answer to a question
	Rounds int    `json:"rounds"`           // answered comments so far
	Until  Until  `json:"until"`            // when it ends without an answer
}

// ContextCompleted ends a context well. Partial says that not everything was done.
type ContextCompleted struct {
	mark
	Partial bool      `json:"partial,omitempty"`
	Reason  EndReason `json:"reason"`
}

// ContextStopped ends a context because a person wished it.
type ContextStopped struct {
	mark
	Reason EndReason `json:"reason"`
}

// ContextFailed ends a context with an error.
type ContextFailed struct {
	mark
	Reason EndReason `json:"reason"`
}

// LimitReached says that a limit was reached; a person must act, except for calls.
type LimitReached struct {
	mark
	Limit string  `json:"limit"` // calls | tokens | cost | minutes | tokens_per_day | cost_per_day
	Max   float64 `json:"max"`
	Used  float64 `json:"used"`
}
