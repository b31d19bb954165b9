package projections

import (
	"time"

	"agent/eventlog/event"
)

// Usage is what a context has spent. Limits count the calls that were begun, so
// that one that a crash interrupted counts too; people are told of those that were
// completed.
type Usage struct {
	LLMBegun   int // model calls that were requested
	LLMCalls   int // turns of the conversation that brought a reply; drafts of summaries come after the last comment
	Summaries  int // replies outside the conversation
	Lost       int // calls that a crash or a pause interrupted
	Unpriced   int // replies of a model without a price
	ToolCalls  int // requested
	Prompt     int // tokens
	Completion int
	Cached     int
	Estimated  bool // some of the tokens are
	CostUSD    float64
	Active     time.Duration // time in which a process worked on it
	Ratio      float64       // the provider's count of prompt tokens over our uncalibrated estimate; 0 before the first reply
	estimated  int           // of the open model call
	open       bool          // a model call is
	outside    bool          // so is whether it is no turn of the conversation
}

// ModelCalls are all model calls that were begun, and those of them that were no turns of the
// conversation or brought no reply.
type ModelCalls struct{ All, Summaries, Interrupted, Failed int }

// Calls says what became of the model calls.
func (u Usage) Calls() ModelCalls {
	c := ModelCalls{u.LLMBegun, u.Summaries, u.Lost, u.LLMBegun - u.LLMCalls - u.Summaries - u.Lost}
	if u.open {
		c.Failed--
	}
	return c
}

// Tokens is the number that limits count.
func (u Usage) Tokens() int { return u.Prompt + u.Completion }

func (u *Usage) apply(e event.Event, before time.Time, status Status) {
	switch b := e.Body.(type) {
	case *event.ProcessStarted, *event.ContextForked:
		return // nobody worked between the last event and this one
	case *event.LLMRequested:
		u.LLMBegun++
		u.open = true
		u.estimated, u.outside = b.Estimated, b.OutsideConversation()
	case *event.LLMFailed:
		u.open = false
		if b.Kind == event.Interrupted {
			u.Prompt += u.estimated // the provider has counted it, too
			u.Estimated = u.Estimated || u.estimated > 0
			u.Lost++
		}
		if b.Usage != (event.Usage{}) { // an answer came
			u.spend(b.Usage, b.CostUSD)
		}
	case *event.ToolRequested:
		u.ToolCalls++
	case *event.LLMReplied:
		u.open = false
		if !u.outside {
			u.LLMCalls++
		} else {
			u.Summaries++
		}
		u.spend(b.Usage, b.CostUSD)
		u.calibrate(b.Usage)
	}
	if d := e.Time.Sub(before); status == Running && d > 0 && !before.IsZero() {
		u.Active += d
	}
}

func (u *Usage) spend(of event.Usage, usd float64) {
	u.Prompt += of.Prompt
	u.Completion += of.Completion
	u.Cached += of.Cached
	u.Estimated = u.Estimated || of.Estimated
	u.CostUSD += usd
	if usd == 0 {
		u.Unpriced++
	}
}

// calibrate learns how the provider counts. Estimates were made with the ratio
// known before, so the new one is a correction of it.
func (u *Usage) calibrate(reported event.Usage) {
	if reported.Estimated || u.estimated <= 0 || reported.Prompt <= 0 {
		return
	}
	u.Ratio = min(max(u.Scale(1)*float64(reported.Prompt)/float64(u.estimated), 0.5), 4)
}

// Scale turns an uncalibrated estimate into one that the provider would agree with.
func (u Usage) Scale(tokens float64) float64 {
	if u.Ratio == 0 {
		return tokens
	}
	return tokens * u.Ratio
}
