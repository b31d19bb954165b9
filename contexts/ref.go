package contexts

import (
	"errors"
	"fmt"
	"strings"

	"agent/eventlog"
	"agent/forge"
)

// RefError means that a reference looks like the address of an item, and is none.
type RefError struct{ Err error }

func (e *RefError) Error() string { return e.Err.Error() }
func (e *RefError) Unwrap() error { return e.Err }

// Named gives the contexts that a person means by ref, the newest first: all
// those of a task (URL or key of an item on one of hosts, possibly none), or the
// one with a uuid or a unique prefix of one. taskKey is "" if the first line of
// a context named by its uuid cannot be read. Errors are *[RefError] and those
// of [Store.Find].
func (s *Store) Named(ref string, hosts ...string) (taskKey string, uuids []string, err error) {
	uuids, err = lookFor(s, ref, hosts, func() (found []string, err error) {
		if taskKey, found, err = s.named(ref, hosts); err == nil && len(found) == 0 {
			err = errNone
		}
		return found, err
	})
	if errors.Is(err, errNone) {
		return taskKey, nil, nil
	}
	return taskKey, uuids, s.orBehind(ref, err)
}

// errNone says that a task has no contexts, which for some is an answer.
var errNone = fmt.Errorf("none of this task: %w", ErrUnknown)

func (s *Store) named(ref string, hosts []string) (taskKey string, uuids []string, err error) {
	key, isUUID, err := s.parse(ref, hosts)
	var lost *LostError
	if errors.As(err, &lost) { // it has a name still: whoever reads it hears that it is lost
		return "", []string{lost.UUID}, nil
	}
	if err != nil {
		return "", nil, err
	}
	if isUUID {
		if first, err := s.Creation(key); err == nil {
			taskKey = first.TaskKey
		}
		return taskKey, []string{key}, nil
	}
	all, err := s.OfTask(key)
	for _, info := range all {
		uuids = append(uuids, info.UUID)
	}
	return key, uuids, err
}

// Newest gives the newest context that ref names; see [Store.Named].
func (s *Store) Newest(ref string, hosts ...string) (string, error) {
	uuid, err := lookFor(s, ref, hosts, func() (string, error) { return s.newest(ref, hosts) })
	return uuid, s.orBehind(ref, err)
}

func (s *Store) newest(ref string, hosts []string) (string, error) {
	key, isUUID, err := s.parse(ref, hosts)
	if err != nil || isUUID {
		return key, err
	}
	all, err := s.OfTask(key)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: %w", key, ErrUnknown)
	}
	if err != nil {
		return "", err
	}
	return all[0].UUID, nil
}

// Live gives the context that ref names: one that is running or paused, if it is
// the address of an item; see [Store.Named].
func (s *Store) Live(ref string, hosts ...string) (string, error) {
	uuid, err := lookFor(s, ref, hosts, func() (string, error) { return s.liveOf(ref, hosts) })
	return uuid, s.orBehind(ref, err)
}

func (s *Store) liveOf(ref string, hosts []string) (string, error) {
	key, isUUID, err := s.parse(ref, hosts)
	if err != nil || isUUID {
		return key, err
	}
	uuid, live, err := s.Active(key)
	if err != nil || live {
		return uuid, err
	}
	all, err := s.OfTask(key) // begun at another address
	for _, i := range all {
		if !i.Over() && i.Err == nil && (i.Fork == "" || i.Live) {
			return i.UUID, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%s: %w", key, ErrUnknown)
	}
	return "", err
}

// parse gives a task key, or the uuid of a context that exists.
func (s *Store) parse(ref string, hosts []string) (key string, isUUID bool, err error) {
	if task, err := forge.ParseTaskKey(ref, hosts...); err == nil {
		return task.String(), false, nil
	}
	if _, err := forge.ParseTaskKey(ref); strings.Contains(ref, "/") && err != nil {
		return "", false, &RefError{err}
	}
	key, err = s.find(ref)
	return key, true, err
}

// IsTorn reports whether err is an incomplete last line, which the next run cuts off.
func IsTorn(err error) bool {
	var torn *eventlog.TornError
	return errors.As(err, &torn)
}
