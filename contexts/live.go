package contexts

import (
	"fmt"
	"io/fs"
)

// Live looks for the context of a task (TaskKey in text form) in running/ and
// paused/. It reads only first lines, so what it finds may turn out to be
// finished when it is acquired. Contexts whose first line is unreadable go to
// Options.Warn and are passed over. The caller holds the lock of the TaskKey.
func (s *Store) Live(taskKey string) (uuid string, found bool, err error) {
	seen := map[string]bool{}
	// One that is resumed while this runs moves behind its back; hence running/ twice.
	for _, p := range []Place{Running, Paused, Running} {
		names, err := s.names(p, s.o.Warn)
		if err != nil {
			return "", false, fmt.Errorf("look for a live context: %w", err)
		}
		for _, id := range names {
			if seen[id] {
				continue
			}
			seen[id] = true
			first, err := s.First(id)
			if err != nil {
				s.o.Warn(err)
			} else if first.TaskKey == taskKey {
				return id, true, nil
			}
		}
	}
	return "", false, nil
}

// names lists the contexts of a place, sorted; what is none goes to warn.
func (s *Store) names(p Place, warn func(error)) ([]string, error) {
	entries, err := s.fs.ReadDir(string(p))
	if isMissing(err) && s.o.ReadOnly {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if reason := stranger(e); reason != "" {
			warn(&Warning{Name: dirOf(p, e.Name()), Reason: reason})
		} else {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func stranger(e fs.DirEntry) string {
	switch {
	case !canonical(e.Name()):
		return "its name is not a UUID in canonical form"
	case e.Type()&fs.ModeSymlink != 0:
		return "it is a symbolic link"
	case !e.IsDir():
		return "it is not a directory"
	}
	return ""
}
