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

// spend counts the end of a model call in the ledger of its day. The logs are
// the truth, so a ledger that cannot be written stops nobody.
func (e *Engine) spend(c cost) {
	if c.seq == 0 {
		return
	}
	if err := e.p.Store.Spend(e.log.UUID(), c.seq, c.day, c.tokens, c.usd); err != nil {
		e.p.Log.Warn("the day's spending could not be noted", "error", err)
	}
}

// cost is what one event spent; seq is 0 for those that spend nothing.
type cost struct {
	seq    uint64
	day    string
	tokens int
	usd    float64
}

func (e *Engine) costOf(ev event.Event) cost {
	tokens, usd, ok := e.spending.Of(ev)
	if !ok {
		return cost{}
	}
	return cost{ev.Seq, contexts.Day(ev.Time), tokens, usd}
}
