package viewer

import (
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/watch"
	"agent/projections"
)

// times says where the time of a context went. Feed it every event in order.
type times struct {
	state *projections.State // whose usage is how long processes worked on it
	tools Tools
}

func (t *times) add(r eventlog.Record) {
	ev, err := event.Decode(r)
	if err != nil {
		return
	}
	if t.state == nil {
		t.state = projections.NewState()
	}
	t.state.Apply(ev)
	t.tools.Add(ev)
}

func (t *times) lines(lang i18n.Lang, model float64) []string {
	return TimeLines(lang, t.state, &t.tools, model)
}

// TimeLines say where time went, with figures that add up. There are none for a fork: what its origin
// took is no part of it. model is the time of the model calls in seconds.
func TimeLines(lang i18n.Lang, state *projections.State, calls *Tools, model float64) []string {
	if state == nil || state.Fork != nil {
		return nil
	}
	var tools float64
	for _, s := range calls.Sums() {
		tools += s.Seconds
	}
	whole, active := state.Now.Sub(state.Started), state.Usage.Active
	used := time.Duration((model + tools) * float64(time.Second))
	d := watch.Duration
	return []string{i18n.Text(lang, "costs.times", d(whole), d(active), d(whole-active)),
		i18n.Text(lang, "costs.active", seconds(model), seconds(tools), d(active-used))}
}
