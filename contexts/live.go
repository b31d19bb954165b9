package contexts

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"agent/forge"
)

// Active looks for the context of a task (TaskKey in text form) in running/ and
// paused/. It reads only first lines, so what it finds may turn out to be
// finished when it is acquired. Contexts whose first line is unreadable go to
// Options.Warn and are passed over. The caller holds the lock of the TaskKey.
// Where the index is complete only contexts of this task are looked at. One of
// the task that had not ended and is lost is a [LostError].
func (s *Store) Active(taskKey string) (uuid string, found bool, err error) {
	if s.o.Member != nil {
		if err := s.bringTask(taskKey); err != nil {
			return "", false, fmt.Errorf("look for a live context: %w", err)
		}
	}
	candidates, complete, err := s.candidates(taskKey)
	if err != nil {
		return "", false, fmt.Errorf("look for a live context: %w", err)
	}
	if !complete {
		return s.scanActive(taskKey)
	}
	dirs := map[Dir][]string{}
	for _, id := range candidates {
		found, err := s.dirsWith(id)
		for try := 0; err == nil && len(found) == 0 && try < 2; try++ {
			found, err = s.dirsWith(id) // it may be moving right now
		}
		if err != nil {
			return "", false, fmt.Errorf("look for a live context: %w", err)
		}
		for _, p := range found {
			dirs[p] = append(dirs[p], id)
		}
	}
	for _, id := range slices.Concat(dirs[Running], dirs[Paused]) {
		if s.begins(id, taskKey) {
			return id, true, nil
		}
	}
	return "", false, nil
}

// candidates are the contexts of a task, sorted; complete is whether the index
// knows of every context.
func (s *Store) candidates(taskKey string) (ids []string, complete bool, err error) {
	x, err := s.snapshot()
	if errors.Is(err, errIndex) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer x.Close()
	if !x.complete {
		return nil, false, nil
	}
	infos, err := x.ofTask(taskKey)
	if err == nil && taskKey != "" {
		var unread []Info // those whose first event could not be read, and perhaps can be now
		unread, err = x.ofTask("")
		infos = append(infos, unread...)
	}
	if errors.Is(err, errIndex) {
		return nil, false, nil
	}
	for _, i := range infos {
		ids = append(ids, i.UUID)
	}
	slices.Sort(ids)
	return ids, true, err
}

// begins tells whether a context works on this task: a fork that is not live does not.
func (s *Store) begins(id, taskKey string) bool {
	d, err := s.descent(id)
	if err != nil {
		s.o.Warn(err)
		return false
	}
	return forge.CompareKeys(d.first.TaskKey, taskKey) == 0 && (d.fork == nil || d.fork.Live)
}

func (s *Store) scanActive(taskKey string) (uuid string, found bool, err error) {
	seen := map[string]bool{}
	// One that is resumed while this runs moves behind its back; hence running/ twice.
	for _, p := range []Dir{Running, Paused, Running} {
		names, err := s.names(p, s.o.Warn)
		if err != nil {
			return "", false, fmt.Errorf("look for a live context: %w", err)
		}
		for _, id := range names {
			if seen[id] {
				continue
			}
			seen[id] = true
			if s.begins(id, taskKey) {
				return id, true, nil
			}
		}
	}
	if err := s.lostOfTask(taskKey); err != nil {
		return "", false, fmt.Errorf("look for a live context: %w", err)
	}
	return "", false, nil
}

// Unfinished yields the contexts in running/ and paused/, and no others.
func (s *Store) Unfinished() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s.survey(yield, Running, Paused)
	}
}

// names lists the contexts of a directory, sorted; what is none goes to
// warn. A link or a file with the name of a context is one that is damaged.
func (s *Store) names(p Dir, warn func(error)) ([]string, error) {
	entries, err := s.fs.ReadDir(string(p))
	if isMissing(err) && s.o.ReadOnly {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if canonical(e.Name()) {
			names = append(names, e.Name())
		} else {
			warn(&Warning{Name: pathOf(p, e.Name()), Reason: "its name is not a UUID in canonical form"})
		}
	}
	return names, nil
}
