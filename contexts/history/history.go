// Package history reads what earlier attempts at a task left (seeds/002): the text
// that a new attempt begins with ([Reader.Inherit]), and, on demand, the rest through
// a built-in read-only tool server of the name [Server] ([Reader.WithHistory]).
//
// Guarantees: only contexts of the same task key that completed or were stopped,
// and are not too old, are read, never the running one. Words of people that may
// not be input here are not shown (projections.Lineage.Admits). Logins and mail
// addresses are left out, hidden text is removed, and everything is bounded. A
// log that cannot be read gives a text that says so, never an error.
//
// Every text is returned with its sources, the contexts whose words may be in
// it, so that they can be forgotten, and with the lowest trust of these.
package history

import (
	"cmp"
	"errors"
	"time"

	"agent/contexts"
	"agent/eventlog"
	"agent/eventlog/event"
	"agent/projections"
)

// Reader reads earlier contexts of the task that a state is of.
type Reader struct {
	Store *contexts.Store
	Rules Rules
}

// Rules is the section context_inheritance.planning of the configuration.
type Rules struct {
	Plans         bool
	Verifications bool
	Reflections   bool
	Patterns      bool // actions that succeeded are named too
	MaxPlans      int  // plans and revisions shown at a time
}

// excluded says why a context is not read, "" if it may be.
func excluded(info contexts.Info, oldest time.Time) string {
	switch {
	case info.Err != nil:
		return "its log cannot be read"
	case info.State == contexts.StateFailed:
		return "it failed"
	case !info.Inheritable():
		return "it has not ended"
	case info.Ended.Before(oldest):
		return "it is too old"
	}
	return ""
}

// oldest is when a context must have ended to be read.
func oldest(s *projections.State) time.Time { return s.Now.AddDate(0, 0, -s.Config.Inherit.ExpiryDays) }

// earlier lists the attempts at the task before the one whose state is s, the latest
// first. A fork is none: it is an experiment. For a fork what began after its origin
// is not there, nor is the origin.
func (r Reader) earlier(s *projections.State) (all []contexts.Info, err error) {
	of, err := r.Store.Attempts(s.Created.TaskKey, s.Created.UUID)
	for _, info := range of {
		if info.Fork == "" && (s.Fork == nil || info.Created.Before(s.Started)) {
			all = append(all, info)
		}
	}
	return all, err
}

// newest finds the context that is inherited from: the latest one that did not
// fail. If that one cannot be read, none is: what came before it is outdated.
func (r Reader) newest(s *projections.State) (info contexts.Info, why string) {
	all, err := r.earlier(s)
	if err != nil {
		return info, "earlier attempts at this task cannot be read: " + err.Error()
	}
	reason := ""
	for _, info := range all {
		why := excluded(info, oldest(s))
		if why == "" {
			return info, ""
		}
		reason = cmp.Or(reason, info.UUID+": "+why)
		if info.Err != nil {
			break
		}
	}
	return info, cmp.Or(reason, noAttempt)
}

const noAttempt = "there was no earlier attempt at this task"

// attempts lists the contexts that may be read, and those that are damaged, the latest first.
func (r Reader) attempts(s *projections.State) ([]contexts.Info, error) {
	all, err := r.earlier(s)
	if err != nil {
		return nil, err
	}
	var open []contexts.Info
	for _, info := range all {
		if info.Err != nil || excluded(info, oldest(s)) == "" {
			open = append(open, info)
		}
	}
	return open, nil
}

// errUnreadable stands for whatever is wrong with a log.
var errUnreadable = errors.New("its log cannot be read")

// fold attempts through a log. A tail that is torn belongs to no event.
func (r Reader) fold(uuid string, apply func(event.Event)) error {
	for ev, err := range r.Store.Events(uuid) {
		var torn *eventlog.TornError
		if errors.As(err, &torn) {
			return nil
		}
		if err != nil {
			return errUnreadable
		}
		apply(ev)
	}
	return nil
}

// sourcesOf are the contexts whose words may be in what is read of one.
func sourcesOf(uuid string, l projections.Lineage) []string {
	return append([]string{uuid}, l.Sources...)
}
