// Package timeline turns the events of a log into rows that people read: a model
// call, a tool call, a comment, a pause. An intent and its outcome are one row, and so
// are a pause and what ended it. Rows belong to phases of a plan and to steps, a step
// being a turn of the model with the tool calls that it asked for.
//
// A [Timeline] is built event by event, so that it can follow a log that grows. It
// holds numbers and short strings, no bodies, and of a long log the latest rows only.
// Every text in it is one line and safe for a terminal. It is pure.
package timeline

import (
	"time"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/viewer"
)

// Kind says what a row is about.
type Kind string

// The kinds of rows.
const (
	Model        Kind = "model"
	Tool         Kind = "tool"
	Comment      Kind = "comment"
	Labels       Kind = "labels"
	Change       Kind = "change"       // the pull or merge request
	Files        Kind = "files"        // saved or made again; what a tool changed stands in its own row
	Message      Kind = "message"      // to the model, and summaries
	Phase        Kind = "phase"        // of a plan
	Action       Kind = "action"       // of a plan, begun or finished
	Plan         Kind = "plan"         // made or revised, and what the model made of the task and the work
	Input        Kind = "input"        // what was read: the task, comments, the project, tools, the configuration
	Process      Kind = "process"      // began, recovered, ended
	Interruption Kind = "interruption" // the process died, or its machine
	Pause        Kind = "pause"
	Await        Kind = "await" // for the answer of a person
	Resume       Kind = "resume"
	Request      Kind = "request" // somebody asked for a pause, a stop, or to go on
	Limit        Kind = "limit"
	End          Kind = "end"
	Other        Kind = "other"
)

// Status says what became of a row.
type Status string

// The statuses. A row that is no more than a fact is [Done].
const (
	Done        Status = "done"
	Open        Status = "open" // no outcome yet: it is going on, or its process died
	Failed      Status = "failed"
	Interrupted Status = "interrupted" // nobody knows what became of it
)

// Row is one thing that happened, or goes on.
type Row struct {
	Seq     uint64    `json:"seq"`               // of its first event
	Outcome uint64    `json:"outcome,omitempty"` // of the event that ended it
	Saved   uint64    `json:"saved,omitempty"`   // of the save of the files that it changed
	Kind    Kind      `json:"kind"`
	Type    string    `json:"type"` // of event Seq
	Status  Status    `json:"status"`
	Title   string    `json:"title"`
	Result  string    `json:"result,omitempty"`
	Phase   string    `json:"phase,omitempty"`
	Action  string    `json:"action,omitempty"`
	Step    int       `json:"step,omitempty"` // 0: before the first one
	Started time.Time `json:"started_at"`
	Ended   time.Time `json:"ended_at,omitzero"`
	Seconds float64   `json:"seconds,omitempty"`
	Timed   bool      `json:"timed,omitempty"` // Seconds is known

	Prompt     int     `json:"prompt_tokens,omitempty"`
	Cached     int     `json:"cached_tokens,omitempty"`
	Completion int     `json:"completion_tokens,omitempty"`
	Estimated  bool    `json:"estimated,omitempty"` // the tokens are
	CostUSD    float64 `json:"cost_usd,omitempty"`  // 0: not known, see [Row.Cost]

	Files   int `json:"files,omitempty"` // that it changed
	Added   int `json:"added,omitempty"` // lines
	Removed int `json:"removed,omitempty"`

	Until   event.Until `json:"until,omitzero"` // of a pause or wait: what ends it
	Minor   bool        `json:"minor,omitempty"`
	Purpose string      `json:"-"` // the purpose of a model call that belongs to no step: a summary
}

// Cost is what a model call cost; false if its model has no price, or it gave no reply.
func (r *Row) Cost() (usd float64, known bool) { return r.CostUSD, r.CostUSD > 0 }

// Tokens is what a model call used; false if that is not known.
func (r *Row) Tokens() (n int, known bool) {
	n = r.Prompt + r.Completion
	return n, n > 0
}

// Sum is what a phase or a step took.
type Sum struct {
	Phase   string    `json:"phase,omitempty"`
	Step    int       `json:"step,omitempty"`    // of a step
	Purpose string    `json:"purpose,omitempty"` // of a model call between steps: its purpose
	First   uint64    `json:"first_seq"`
	Last    uint64    `json:"last_seq"`
	Started time.Time `json:"started_at"`
	Ended   time.Time `json:"ended_at"` // of its latest event
	Rows    int       `json:"rows"`
	Failed  int       `json:"failed,omitempty"` // rows

	viewer.Spent         // of the model calls
	Tools        int     `json:"tool_calls"`
	ToolSeconds  float64 `json:"tool_seconds"`
	Files        int     `json:"files,omitempty"` // changes of files: one that two steps changed counts twice
	Added        int     `json:"added,omitempty"`
	Removed      int     `json:"removed,omitempty"`
}

// Keep is how many rows, and how many sums, a timeline holds. Older ones are dropped.
const Keep = 20_000

// Timeline is the rows of a log. The zero value is one without events.
type Timeline struct {
	Blob  viewer.Blob         // may be nil: texts that are kept apart are then not shown
	Clean func(string) string // redacts, before a text is cut; may be nil
	Lang  i18n.Lang           // of our own sentences; empty: English

	Rows    []Row
	Dropped int // rows that were there before them
	Phases  []Sum
	Steps   []Sum
	Total   Sum
	Ledger  viewer.Ledger // sums by phase and action, as agent inspect --costs
	Status  string        // running | paused | awaiting | completed | stopped | failed
	Last    time.Time     // of the latest event

	keep    int    // 0: Keep
	open    uint64 // seq of the intent without an outcome
	paused  uint64 // seq of the pause or wait that was not ended
	retry   retry
	working bool // a process works on it
	replied bool // the current step has a reply
	outside bool // the latest request that was skipped is no step
	step    int
	phase   string
	action  string
	by      string // who asked to go on, in a sentence
	wish    viewer.Wish
}

// retry is a model call that waits before it is tried again.
type retry struct {
	seq       uint64
	since     time.Time
	notBefore time.Time
}

// Row gives the row with this seq, or with this outcome or save; nil if it is not held.
func (t *Timeline) Row(seq uint64) *Row {
	for i := len(t.Rows) - 1; i >= 0; i-- {
		if r := &t.Rows[i]; seq > 0 && (r.Seq == seq || r.Outcome == seq || r.Saved == seq) {
			return r
		}
	}
	return nil
}

// begun gives the row that began with this event; nil if it is not held.
func (t *Timeline) begun(seq uint64) *Row {
	for i := len(t.Rows) - 1; i >= 0 && seq > 0 && t.Rows[i].Seq >= seq; i-- {
		if t.Rows[i].Seq == seq {
			return &t.Rows[i]
		}
	}
	return nil
}

// Over reports whether the context has ended.
func (t *Timeline) Over() bool {
	return t.Status == "completed" || t.Status == "stopped" || t.Status == "failed"
}

// What a context waits for.
const (
	ForModel  = "model"
	ForTool   = "tool"
	ForForge  = "forge"
	ForPerson = "person"
	ForTime   = "time" // it goes on by itself
)

// Wait is what a context waits for.
type Wait struct {
	For    string    `json:"for"`
	Seq    uint64    `json:"seq"`
	What   string    `json:"what"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"`
	Kind   string    `json:"kind,omitempty"` // of a pause: signal | time | person | comment
	Broken bool      `json:"broken,omitempty"`
}

// Waiting says what the context waits for by its log; false if it waits for nothing.
// Whether a process is there to see the end of it the log does not tell.
func (t *Timeline) Waiting() (Wait, bool) {
	switch {
	case t.Over():
		return Wait{}, false
	case t.paused != 0:
		return t.waitOfPause()
	case t.open != 0:
		return t.waitOfCall()
	case t.retry.seq != 0:
		return Wait{For: ForModel, Seq: t.retry.seq, Since: t.retry.since, Until: t.retry.notBefore}, true
	}
	return Wait{}, false
}

func (t *Timeline) waitOfPause() (Wait, bool) {
	r := t.begun(t.paused)
	if r == nil {
		return Wait{}, false
	}
	w := Wait{For: ForPerson, Seq: r.Seq, What: r.Title, Since: r.Started, Until: r.Until.Time, Kind: r.Until.Kind}
	if r.Kind == Pause && r.Until.Kind == "time" {
		w.For = ForTime
	}
	return w, true
}

func (t *Timeline) waitOfCall() (Wait, bool) {
	r := t.begun(t.open)
	if r == nil {
		return Wait{}, false
	}
	w := Wait{For: ForForge, Seq: r.Seq, What: r.Title, Since: r.Started, Broken: !t.working}
	switch r.Kind {
	case Model:
		w.For = ForModel
	case Tool:
		w.For = ForTool
	default: // writes to the forge
	}
	return w, true
}
