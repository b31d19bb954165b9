package contexts

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// A context is lost if the index knows it and it lies in no directory, though
// nobody removed it through this package: somebody deleted or moved its
// directory, or a disk is not mounted. What is just being made or removed lies
// in .staging/ until the index knows better, so it is never taken for lost.
//
// The line of a lost context stays in the index, and the index is not stamped
// as complete, so that every command finds it again. [Store.Forget] or
// [Store.RebuildIndex] gives it up.

// LostError is damage: the directory of a context is gone.
type LostError struct{ UUID string }

func (e *LostError) Error() string {
	return fmt.Sprintf("%s is damaged: its directory is gone, though the index knows it", e.UUID)
}

// IsGone tells whether an error says that there is no such context, or no more.
func IsGone(err error) bool {
	var lost *LostError
	return errors.Is(err, ErrUnknown) || errors.As(err, &lost)
}

// nowhere is the error for a context that was found in no directory.
func (s *Store) nowhere(id string) error {
	if known, err := s.lost(id); err != nil || known.UUID != "" {
		if err == nil {
			err = &LostError{id}
		}
		return err
	}
	return fmt.Errorf("%s: %w", id, ErrUnknown)
}

// lost is what the index knows of a context that is lost, zero if it is not. It
// reads the index after it looked: one that was removed meanwhile is in it no more.
func (s *Store) lost(id string) (known Info, err error) {
	if there, err := s.somewhere(id); there || err != nil {
		return Info{}, err
	}
	x, err := s.load()
	if errors.Is(err, errIndex) {
		return Info{}, nil
	}
	if err == nil {
		defer x.Close()
		known, err = x.byUUID(id)
	}
	if errors.Is(err, errIndex) {
		return Info{}, nil
	}
	return known, err
}

// somewhere also sees what is being made, moved or removed. It looks into
// .staging/ between two looks at the directories: nothing slips past.
func (s *Store) somewhere(id string) (bool, error) {
	for range 2 {
		found, err := s.dirsWith(id)
		if err != nil || len(found) > 0 {
			return len(found) > 0, err
		}
		switch _, err := s.fs.Lstat(stagingDir + "/" + id); {
		case err == nil:
			return true, nil
		case !isMissing(err):
			return false, err
		}
	}
	return false, nil
}

// sift divides what was found in no directory: what was never finished or is
// removed already, and what is lost.
func (s *Store) sift(nowhere []Info) (gone, lost []Info, err error) {
	for _, i := range nowhere {
		found, err := s.dirsWith(i.UUID)
		if err != nil {
			return nil, nil, err
		}
		_, staged := s.fs.Lstat(stagingDir + "/" + i.UUID)
		switch {
		case len(found) > 0: // it has appeared meanwhile
		case staged == nil:
			gone = append(gone, Info{UUID: i.UUID, TaskKey: i.TaskKey, gone: true})
		default:
			lost = append(lost, i)
		}
	}
	return gone, lost, nil
}

// lostOnes lists the contexts that are lost, of which a complete index has none.
func (s *Store) lostOnes() (uuids []string, err error) {
	x, err := s.snapshot()
	if errors.Is(err, errIndex) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if x.complete {
		return nil, nil
	}
	lost, err := s.lostOf(x)
	if errors.Is(err, errIndex) {
		return nil, nil
	}
	if err != nil || len(lost) == 0 {
		return nil, err
	}
	later, err := s.load() // after it was looked for them: what was removed meanwhile is in it no more
	if errors.Is(err, errIndex) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer later.Close()
	for _, i := range lost {
		if there, err := s.somewhere(i.UUID); err != nil || there {
			continue
		}
		if _, known, err := later.get(i.TaskKey, i.UUID); err == nil && known {
			uuids = append(uuids, i.UUID)
		}
	}
	slices.Sort(uuids)
	return uuids, nil
}

// lostOf lists what an index knows that is lost.
func (s *Store) lostOf(x *snapshot) ([]Info, error) {
	seen, err := s.listed()
	if err != nil {
		return nil, err
	}
	_, nowhere, err := x.compare(seen)
	if err != nil {
		return nil, err
	}
	_, lost, err := s.sift(nowhere)
	return lost, err
}

// lostOfTask is the error if a context of a task is lost that had not ended.
// Another one must not begin: the first may be put back.
func (s *Store) lostOfTask(taskKey string) error {
	x, err := s.load()
	var known []Info
	if err == nil {
		known, err = x.ofTask(taskKey)
		x.Close()
	}
	if errors.Is(err, errIndex) {
		return nil
	}
	for _, i := range known {
		if i.Over() || i.Fork != "" && !i.Live {
			continue
		}
		if lost, err := s.lost(i.UUID); err != nil || lost.UUID != "" {
			return errors.Join(err, &LostError{i.UUID})
		}
	}
	return err
}

// forgetLost removes what later contexts have from one that is lost, and the
// line of the index.
func (s *Store) forgetLost(known Info, by string, at time.Time, refresh func(*Context) error) (Forgotten, error) {
	done := Forgotten{UUID: known.UUID}
	if err := s.forgetHeirs(known.TaskKey, by, at, refresh, &done); err != nil {
		return done, err
	}
	err := s.update(func(x *snapshot) error {
		return s.add(x, Info{UUID: known.UUID, TaskKey: known.TaskKey, gone: true})
	})
	return done, errors.Join(err, s.clean(known.UUID), s.forgetQuarantine(known.UUID))
}

// unmake drops the line of a context that is about to leave .staging/ for good,
// if it lies nowhere else: without both it would count as lost.
func (s *Store) unmake(id string) error {
	return s.update(func(x *snapshot) error {
		found, err := s.dirsWith(id)
		if err != nil || len(found) > 0 {
			return err
		}
		known, err := x.byUUID(id)
		if err != nil || known.UUID == "" {
			if errors.Is(err, errIndex) {
				err = nil
			}
			return err
		}
		return s.add(x, Info{UUID: id, TaskKey: known.TaskKey, gone: true})
	})
}
