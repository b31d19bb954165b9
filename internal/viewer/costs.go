package viewer

import (
	"slices"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
)

// Outcomes of a model call.
const (
	CallReplied     = "replied"
	CallFailed      = "failed"
	CallInterrupted = "interrupted"
	CallOpen        = "open" // no outcome yet: it is still running, or its process died
)

// Spent is what one model call or several took. Tokens of a call without a reply are
// not known: an interrupted one counts with the estimate of its prompt.
type Spent struct {
	Calls           int     `json:"llm_begun"`
	Prompt          int     `json:"prompt_tokens"`
	Cached          int     `json:"cached_tokens"`
	Completion      int     `json:"completion_tokens"`
	Estimated       bool    `json:"estimated,omitempty"`        // some of the counts are
	EstimatedOutput bool    `json:"estimated_output,omitempty"` // some of those of the output, too
	CostUSD         float64 `json:"cost_usd"`
	Unpriced        int     `json:"unpriced_calls"` // which cost_usd lacks
	Seconds         float64 `json:"seconds"`

	timed bool // it is known of a call how long it took
}

func (s *Spent) add(c Spent) {
	s.Calls += c.Calls
	s.Prompt += c.Prompt
	s.Cached += c.Cached
	s.Completion += c.Completion
	s.Estimated, s.EstimatedOutput = s.Estimated || c.Estimated, s.EstimatedOutput || c.EstimatedOutput
	s.CostUSD += c.CostUSD
	s.Unpriced += c.Unpriced
	s.Seconds += c.Seconds
	s.timed = s.timed || c.timed
}

// Call is a model call.
type Call struct {
	Kind    string    `json:"kind"` // call
	Seq     uint64    `json:"seq"`
	Started time.Time `json:"started_at"`
	Phase   string    `json:"phase,omitempty"`  // of planning
	Action  string    `json:"action,omitempty"` // of the plan
	Purpose string    `json:"purpose"`
	Model   string    `json:"model"`
	Attempt int       `json:"attempt"`
	Outcome string    `json:"outcome"`         // replied | failed | interrupted | open
	Error   string    `json:"error,omitempty"` // kind of the failure
	Tools   []string  `json:"tools,omitempty"` // that the reply calls
	Finish  string    `json:"finish,omitempty"`
	Spent
}

// Sum is what a phase, a step of it, or the whole took.
type Sum struct {
	Kind   string `json:"kind"`             // phase | action | model | total
	Phase  string `json:"phase,omitempty"`  // without planning: the purpose of the calls
	Action string `json:"action,omitempty"` // of a phase
	Model  string `json:"model,omitempty"`
	Spent
}

// Ledger turns events into model calls and adds those up. Feed it every event in order.
type Ledger struct {
	Total Spent

	phase, action string
	open          *Call
	estimate      int         // tokens of the prompt of the open call
	asked         time.Time   // zero after the process died: nobody knows how long the call took
	phases        []*phaseSum // in the order of their first calls
	models        []*Sum
}

type phaseSum struct {
	Sum
	actions []*Sum
}

// Add gives the model call that ends with an event, false if none does.
func (l *Ledger) Add(r eventlog.Record) (Call, bool) {
	switch string(r.Type) {
	case "phase.entered", "action.started", "action.finished", "process.started", "llm.requested", "llm.replied", "llm.failed":
	default:
		return Call{}, false
	}
	ev, err := event.Decode(r)
	if err != nil {
		return Call{}, false
	}
	return l.AddEvent(ev)
}

// AddEvent is [Ledger.Add] of an event that is decoded.
func (l *Ledger) AddEvent(ev event.Event) (Call, bool) {
	switch b := ev.Body.(type) {
	case *event.PhaseEntered:
		l.phase, l.action = b.Phase, ""
	case *event.ActionStarted:
		l.action = b.Action
	case *event.ActionFinished:
		l.action = ""
	case *event.ProcessStarted:
		l.asked = time.Time{}
	case *event.LLMRequested:
		l.open = &Call{Kind: "call", Seq: ev.Seq, Started: ev.Time, Phase: l.phase, Action: l.action, Purpose: b.Purpose, Model: b.Model,
			Attempt: b.Attempt, Outcome: CallOpen, Spent: Spent{Calls: 1}}
		l.estimate, l.asked = b.Estimated, ev.Time
	case *event.LLMReplied:
		return l.replied(b)
	case *event.LLMFailed:
		return l.failed(ev.Time, b)
	}
	return Call{}, false
}

func (l *Ledger) replied(b *event.LLMReplied) (Call, bool) {
	c, ok := l.close()
	c.Outcome, c.Finish = CallReplied, b.Finish
	c.Prompt, c.Cached, c.Completion, c.Estimated = b.Usage.Prompt, b.Usage.Cached, b.Usage.Completion, b.Usage.Estimated
	c.EstimatedOutput = c.Estimated
	c.CostUSD, c.Seconds, c.timed = b.CostUSD, float64(b.DurationMS)/1000, true
	if b.CostUSD == 0 {
		c.Unpriced = 1
	}
	for _, call := range b.Calls {
		c.Tools = append(c.Tools, call.Name)
	}
	return c, ok
}

func (l *Ledger) failed(at time.Time, b *event.LLMFailed) (Call, bool) {
	c, ok := l.close()
	c.Outcome, c.Error = CallFailed, b.Kind
	c.Prompt, c.Cached, c.Completion, c.CostUSD = b.Usage.Prompt, b.Usage.Cached, b.Usage.Completion, b.CostUSD
	if b.Usage != (event.Usage{}) && b.CostUSD == 0 {
		c.Unpriced = 1
	}
	if b.Kind == event.Interrupted { // as projections.Usage counts it
		c.Outcome, c.Error, c.Prompt, c.Estimated = CallInterrupted, "", l.estimate, true
	}
	if !l.asked.IsZero() {
		c.Seconds, c.timed = max(at.Sub(l.asked).Seconds(), 0), true
	}
	return c, ok
}

func (l *Ledger) close() (Call, bool) {
	if l.open == nil { // its intent lies in a damaged part
		return Call{}, false
	}
	c := *l.open
	l.open = nil
	return c, true
}

// Open is the call that has no outcome at the end of the log.
func (l *Ledger) Open() (Call, bool) { return l.close() }

// Count adds a call to the sums.
func (l *Ledger) Count(c Call) {
	l.Total.add(c.Spent)
	l.byModel(c)
	name, action := c.Step()
	p := findOr(&l.phases, func(p *phaseSum) bool { return p.Phase == name }, func() *phaseSum { return &phaseSum{Sum: Sum{Kind: "phase", Phase: name}} })
	p.add(c.Spent)
	if action != "" {
		findOr(&p.actions, func(s *Sum) bool { return s.Action == action }, func() *Sum { return &Sum{Kind: "action", Phase: name, Action: action} }).add(c.Spent)
	}
}

func (l *Ledger) byModel(c Call) {
	findOr(&l.models, func(s *Sum) bool { return s.Model == c.Model }, func() *Sum { return &Sum{Kind: "model", Model: c.Model} }).add(c.Spent)
}

// Models are the sums of the models, that of the most tokens first.
func (l *Ledger) Models() (all []Sum) {
	for _, s := range l.models {
		all = append(all, *s)
	}
	slices.SortStableFunc(all, func(a, b Sum) int { return b.Prompt + b.Completion - a.Prompt - a.Completion })
	return all
}

// mostSums bounds how many phases, and actions of a phase, have a sum of their own. A plan
// has fewer; a log that was made to harm may have any number. The rest is added to the last.
const mostSums = 200

func findOr[T any](all *[]T, is func(T) bool, fresh func() T) T {
	for _, v := range *all {
		if is(v) {
			return v
		}
	}
	if len(*all) == mostSums {
		return (*all)[mostSums-1]
	}
	v := fresh()
	*all = append(*all, v)
	return v
}

// Step is what the call belongs to: its phase and the action in it; without planning,
// and for a summary, its purpose.
func (c Call) Step() (phase, action string) {
	outside := (&event.LLMRequested{Purpose: c.Purpose}).OutsideConversation()
	if c.Phase == "" || outside {
		return c.Purpose, ""
	}
	return c.Phase, c.Action
}

// Sums are those of the phases, each followed by its actions, and the total.
func (l *Ledger) Sums() (all []Sum) {
	for _, p := range l.phases {
		all = append(all, p.Sum)
		for _, s := range p.actions {
			all = append(all, *s)
		}
	}
	return append(all, Sum{Kind: "total", Spent: l.Total})
}
