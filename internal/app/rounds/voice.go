package rounds

import (
	"cmp"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/watch"
	"agent/projections"
)

// Voice says things to people, a line at a time. Its functions may be called at the same time.
type Voice struct {
	Say     func(line string)            // an end that is not a good one
	Note    func(line string)            // something that goes well
	Trouble func(what string, err error) // something went wrong with one task or forge; the others go on
	Ended   func(o Outcome)              // nil: outcomes are said or noted as lines
	Watch   Watcher                      // nil: nobody watches
}

// Watcher sees tasks while they are worked on. Its methods may be called at the same time.
type Watcher interface {
	// Event sees each event of a task when it is durable, and the state after it,
	// which it must not keep.
	Event(ev event.Event, s *projections.State)
	// Left says that nobody works on a context any more.
	Left(uuid string)
}

// Skipped is the state of an outcome whose task was not worked on.
const Skipped = contexts.Skipped

// Outcome is the result of working on a task, as run --json prints it.
type Outcome struct {
	UUID      string  `json:"uuid,omitempty"`
	TaskKey   string  `json:"task_key"`
	Title     string  `json:"title,omitempty"`
	State     string  `json:"state"`             // of the context, or skipped
	Because   string  `json:"because,omitempty"` // in words
	Change    string  `json:"change,omitempty"`  // URL of the pull or merge request
	LLMCalls  int     `json:"llm_calls"`
	LLMBegun  int     `json:"llm_begun"`
	ToolCalls int     `json:"tool_calls"`
	Tokens    int     `json:"tokens"`
	CostUSD   float64 `json:"cost_usd"`
	Seconds   float64 `json:"seconds"` // of this run

	Attention bool   `json:"attention"`       // a person has to look at it
	Error     string `json:"error,omitempty"` // of state error: it could not be worked on

	calls projections.ModelCalls
}

func (r *round) outcome(s *projections.State, took time.Duration) Outcome {
	o := Outcome{UUID: s.Created.UUID, TaskKey: s.Key.String(), Title: s.Created.Title, State: string(s.Status), Change: report.Change(s),
		LLMCalls: s.Usage.LLMCalls, LLMBegun: s.Usage.LLMBegun, calls: s.Usage.Calls(), ToolCalls: s.Usage.ToolCalls, Tokens: s.Usage.Tokens(), CostUSD: s.Usage.CostUSD, Seconds: took.Round(time.Millisecond).Seconds(),
		Attention: s.Status == projections.Failed || report.NeedsPerson(s) || len(s.Refused) > 0}
	switch {
	case s.Status != projections.Completed, report.Work(s, r.Language()) != "", len(s.Refused) > 0:
		o.Because = report.Because(s, r.Language())
	case s.ChangedInPlace():
		o.Because = r.text("run.inplace", s.Workspace.Dir)
	}
	return o
}

func (v Voice) ended(o Outcome, lang i18n.Lang) {
	switch {
	case v.Ended != nil:
		v.Ended(o)
	case o.Attention:
		v.Say(o.Line(lang))
	default:
		v.Note(o.Line(lang))
	}
}

// Line is an outcome in one line, with a link to the change.
func (o Outcome) Line(lang i18n.Lang) string {
	if o.State == Skipped {
		return i18n.Text(lang, "round.skipped", cmp.Or(o.TaskKey, o.UUID), o.Because)
	}
	line := i18n.Text(lang, "round.line", i18n.State(lang, o.State), o.TaskKey, o.UUID, report.Calls(lang, o.calls), o.ToolCalls,
		watch.Duration(time.Duration(o.Seconds*float64(time.Second))))
	for _, more := range []string{o.Because, o.Change} {
		if more != "" {
			line += ": " + more
		}
	}
	return line
}
