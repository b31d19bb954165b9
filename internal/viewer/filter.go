package viewer

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/search"
)

// Filter chooses the events that are shown. What is zero chooses all.
type Filter struct {
	Types  []string // as search.OfType: tool.replied, tool, *.failed
	Since  time.Time
	Phase  string         // of planning: planning, execution, …
	Failed bool           // only what failed
	Grep   *regexp.Regexp // in the event's data, as the log holds it

	phase string // that the log is in
}

// FilterOptions are what a person asks for: Since is an age (24h, 7d) or a day, Grep a regular expression.
type FilterOptions struct {
	Types              []string
	Phase, Since, Grep string
	Failed             bool
}

// Filter is the filter for what was asked for at a moment.
func (o FilterOptions) Filter(now time.Time) (*Filter, error) {
	f := &Filter{Types: o.Types, Phase: o.Phase, Failed: o.Failed}
	err := search.CheckTypes(o.Types)
	if err != nil {
		return nil, err
	}
	if f.Since, err = search.ParseMoment(o.Since, now); err != nil {
		return nil, err
	}
	if o.Grep != "" {
		if f.Grep, err = regexp.Compile(o.Grep); err != nil {
			return nil, fmt.Errorf("--grep: %w", err)
		}
	}
	return f, nil
}

// Fits follows the phases, so it wants every event of the log in order.
func (f *Filter) Fits(r eventlog.Record) bool {
	if string(r.Type) == "phase.entered" {
		if ev, err := event.Decode(r); err == nil {
			f.phase = string(ev.Body.(*event.PhaseEntered).Phase)
		}
	}
	return f.hasType(string(r.Type)) && (!f.Failed || failed(r)) && (f.Since.IsZero() || !r.When().Before(f.Since)) &&
		(f.Phase == "" || f.Phase == f.phase) && (f.Grep == nil || f.Grep.Match(r.Data))
}

func (f *Filter) hasType(kind string) bool {
	return len(f.Types) == 0 || slices.ContainsFunc(f.Types, func(asked string) bool { return search.OfType(kind, asked) })
}
