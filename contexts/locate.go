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

func pathOf(p Dir, id string) string { return path.Join(string(p), id) }

// dirsWith lists the directories that hold a context. Only for the holder of its
// lock is the answer true for longer than the call.
func (s *Store) dirsWith(id string) ([]Dir, error) {
	var found []Dir
	for _, p := range Dirs {
		info, err := s.fs.Lstat(pathOf(p, id))
		switch {
		case isMissing(err):
		case err != nil:
			return nil, err
		case !info.IsDir():
			return nil, &DamageError{Name: pathOf(p, id), Reason: "is not a directory"}
		default:
			found = append(found, p)
		}
	}
	return found, nil
}

// locate finds a context without its lock. One that is being moved right now
// may show up nowhere for a moment, so it looks a few times.
func (s *Store) locate(id string) (Dir, error) {
	if err := checkUUID(id); err != nil {
		return "", err
	}
	for range 3 {
		found, err := s.dirsWith(id)
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return s.longest(id, found), nil
		}
	}
	return "", s.nowhere(id)
}

// longest picks the directory whose log has the longer valid chain.
func (s *Store) longest(id string, dirs []Dir) Dir {
	best, length := dirs[0], -1
	for _, p := range dirs {
		if len(dirs) == 1 {
			break
		}
		if n := s.chain(pathOf(p, id)); n > length {
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

// keepLongest leaves one copy of a context that lies in several directories; the others
// go to quarantine. The caller holds the lock.
func (s *Store) keepLongest(id string) (Dir, error) {
	found, err := s.dirsWith(id)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", s.nowhere(id)
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
		s.o.Warn(&Warning{Name: pathOf(p, id), Reason: fmt.Sprintf("a longer copy is in %s, moved to %s", keep, to)})
	}
	return keep, nil
}

// quarantine moves a directory out of its place and returns where it went.
func (s *Store) quarantine(p Dir, id string) (string, error) {
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s/%s.%s.%d", quarantineDir, id, p, n)
		err := s.move(pathOf(p, id), to)
		if !errors.Is(err, errTaken) {
			return to, err
		}
	}
}
