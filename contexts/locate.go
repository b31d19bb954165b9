package contexts

import (
	"errors"
	"fmt"
	"path"

	"github.com/google/uuid"

	"agent/eventlog"
)

// canonical reports whether name is a UUID as this package prints it.
func canonical(name string) bool {
	id, err := uuid.Parse(name)
	return err == nil && id.String() == name
}

func checkUUID(id string) error {
	if !canonical(id) {
		return fmt.Errorf("%q: %w", id, ErrUnknown)
	}
	return nil
}

func dirOf(p Place, id string) string { return path.Join(string(p), id) }

// whereabouts lists the places that hold a context. Only for the holder of its
// lock is the answer true for longer than the call.
func (s *Store) whereabouts(id string) ([]Place, error) {
	var found []Place
	for _, p := range Places {
		info, err := s.fs.Lstat(dirOf(p, id))
		switch {
		case isMissing(err):
		case err != nil:
			return nil, err
		case !info.IsDir():
			return nil, &DamageError{Name: dirOf(p, id), Reason: "is not a directory"}
		default:
			found = append(found, p)
		}
	}
	return found, nil
}

// locate finds a context without its lock. One that is being moved right now
// may show up in no place for a moment, so it looks a few times.
func (s *Store) locate(id string) (Place, error) {
	if err := checkUUID(id); err != nil {
		return "", err
	}
	for range 3 {
		found, err := s.whereabouts(id)
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return s.longest(id, found), nil
		}
	}
	return "", fmt.Errorf("%s: %w", id, ErrUnknown)
}

// longest picks the place whose log has the longer valid chain.
func (s *Store) longest(id string, places []Place) Place {
	best, length := places[0], -1
	for _, p := range places {
		if len(places) == 1 {
			break
		}
		if n := s.chain(dirOf(p, id)); n > length {
			best, length = p, n
		}
	}
	return best
}

// chain counts the valid records from the start of a log.
func (s *Store) chain(dir string) (n int) {
	for _, err := range eventlog.ReadFile(s.fs, dir) {
		if err != nil {
			break
		}
		n++
	}
	return n
}

// unite leaves one copy of a context that lies in several places; the others
// go to quarantine. The caller holds the lock.
func (s *Store) unite(id string) (Place, error) {
	found, err := s.whereabouts(id)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s: %w", id, ErrUnknown)
	}
	keep := s.longest(id, found)
	for _, p := range found {
		if p == keep {
			continue
		}
		to, err := s.quarantine(p, id)
		if err != nil {
			return "", err
		}
		s.o.Warn(&Warning{Name: dirOf(p, id), Reason: fmt.Sprintf("a longer copy is in %s, moved to %s", keep, to)})
	}
	return keep, nil
}

// quarantine moves a directory out of a place and returns where it went.
func (s *Store) quarantine(p Place, id string) (string, error) {
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s/%s.%s.%d", quarantineDir, id, p, n)
		err := s.move(dirOf(p, id), to)
		if !errors.Is(err, errTaken) {
			return to, err
		}
	}
}
