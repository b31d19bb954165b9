// Package report computes what the commands list, status, why and stats show.
// Its functions read the store and the configuration, and return structs that
// marshal to what --json prints. Nothing here writes or prints.
package report

import (
	"fmt"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/projections"
)

// Source is what the reports are made from.
type Source struct {
	Store  *contexts.Store
	Config *config.Config
	Lang   i18n.Lang // of the sentences in reports
	Now    time.Time
	// Version of the program: notes of another one do not count.
	Version string
	Paused  bool        // the pause signal is set
	Warn    func(error) // takes entries of the store that are not contexts

	Progress func(done, of int) // told of logs that were read; may be nil
}

func (s Source) text(id i18n.ID, args ...any) string { return i18n.Text(s.Lang, id, args...) }

// entries lists the contexts.
func (s Source) entries() []contexts.Entry {
	var all []contexts.Entry
	for entry, err := range s.Store.List() {
		if err != nil {
			s.Warn(err)
			continue
		}
		all = append(all, entry)
	}
	return all
}

// folded is one context, folded as far as its log can be read.
type folded struct {
	state *projections.State
	last  event.Event
	err   error // why reading stopped early; a torn tail is no error
}

// fold reads a log. visit, if not nil, sees every event with the state after it.
func (s Source) fold(uuid string, visit func(event.Event, *projections.State)) folded {
	f := folded{state: projections.NewState()}
	for ev, err := range s.Store.Events(uuid) {
		if err != nil {
			if !contexts.IsTorn(err) {
				f.err = err
			}
			break
		}
		f.state.Apply(ev)
		f.last = ev
		if visit != nil {
			visit(ev, f.state)
		}
	}
	return f
}

// Age shows a duration in its largest unit: 42s, 12m, 5h, 3d. A negative one is 0s.
func Age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
