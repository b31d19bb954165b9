package engine

import (
	"time"

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

// Where no limit holds, calls are counted some at a time: rewriting the ledger
// costs as much as all else that a step does.
const (
	mostUnspent  = 64
	spendingTime = time.Second // after which the ledger is brought up to date
)

// spend counts the end of a model call in the ledger of its day.
func (e *Engine) spend(ev event.Event) {
	c, ok := e.costOf(ev)
	if !ok {
		return
	}
	e.unspent = append(e.unspent, c)
	limited := e.p.DayLimits != contexts.DayLimits{}
	if limited || len(e.unspent) >= mostUnspent || e.p.Now().Sub(e.spent) >= spendingTime {
		e.spendAll()
	}
}

// spendAll counts what is not counted yet. The logs are the truth, so a ledger
// that cannot be written stops nobody; it is tried again.
func (e *Engine) spendAll() {
	e.spent = e.p.Now()
	if err := e.p.Store.Spend(e.log.UUID(), e.unspent...); err != nil {
		e.p.Log.Warn("the day's spending could not be noted", "error", err)
		return
	}
	e.unspent = e.unspent[:0]
}

// costOf gives what an event spent; ok is false for those that spend nothing.
func (e *Engine) costOf(ev event.Event) (c contexts.Call, ok bool) {
	tokens, usd, ok := e.spending.Of(ev)
	return contexts.Call{Seq: ev.Seq, Day: contexts.Day(ev.Time), Tokens: tokens, USD: usd}, ok
}

// remember keeps the latest calls of a log that is opened: a process that died
// may not have counted them.
func (e *Engine) remember(ev event.Event) {
	if _, forked := ev.Body.(*event.ContextForked); forked {
		e.unspent = e.unspent[:0] // those are its origin's
		return
	}
	if c, ok := e.costOf(ev); ok {
		if len(e.unspent) == mostUnspent {
			e.unspent = append(e.unspent[:0], e.unspent[1:]...)
		}
		e.unspent = append(e.unspent, c)
	}
}
