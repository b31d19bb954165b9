package engine

import (
	"agent/contexts"
	"agent/eventlog/event"
)

// checkDay appends limit.reached if all contexts together have spent what a day
// allows, plus what persons granted to this one.
func (e *Engine) checkDay() (reached bool, err error) {
	max := e.p.DayLimits
	if max == (contexts.DayLimits{}) {
		return false, nil
	}
	max.MaxTokens += int(e.state.Grants["tokens_per_day"])
	max.MaxCostUSD += e.state.Grants["cost_per_day"]
	limit, err := e.p.Store.DayLimit(contexts.Day(e.p.Now()), max)
	if limit == nil || err != nil {
		return false, err
	}
	if limit.Limit == "tokens_per_day" {
		limit.Max = float64(e.p.DayLimits.MaxTokens) // what a resume grants once more
	} else {
		limit.Max = e.p.DayLimits.MaxCostUSD
	}
	return true, e.input(limit)
}

// spend counts a reply in the ledger of its day. The logs are the truth, so a
// ledger that cannot be written stops nobody.
func (e *Engine) spend(ev event.Event) {
	reply, ok := ev.Body.(*event.LLMReplied)
	if !ok {
		return
	}
	tokens := reply.Usage.Prompt + reply.Usage.Completion
	if err := e.p.Store.Spend(e.log.UUID(), ev.Seq, contexts.Day(ev.Time), tokens, reply.CostUSD); err != nil {
		e.p.Log.Warn("the day's spending could not be noted", "error", err)
	}
}
