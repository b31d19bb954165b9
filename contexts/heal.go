package contexts

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"agent/eventlog"
)

// healBatch is how many entries a heal keeps in memory.
const healBatch = 20_000

// sight is a context that was seen in a place.
type sight struct {
	id    id16
	place Place
}

// Heal makes the index complete if it is not: what is missing or stale comes
// from the logs, what is gone is dropped. It is called before much work, for
// the sake of speed only. If other processes keep moving contexts meanwhile it
// may end without being through. progress, if not nil, hears how many logs of
// how many were read.
func (s *Store) Heal(progress func(done, of int)) error {
	if s.o.ReadOnly {
		return ErrReadOnly
	}
	x, err := s.snapshot()
	if err == nil {
		x.Close()
		if x.stamped {
			return nil
		}
	} else if !errors.Is(err, errIndex) {
		return fmt.Errorf("heal index: %w", err)
	}
	for range patience {
		if done, err := s.heal(progress); err != nil || done {
			if err != nil {
				err = fmt.Errorf("heal index: %w", err)
			}
			return err
		}
	}
	return nil
}

// Rebuild throws the index away and makes it anew from all logs.
func (s *Store) RebuildIndex(progress func(done, of int)) error {
	lock, err := s.lockSoon(indexLock)
	if err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	err = s.prepareDir(indexDir)
	if err == nil {
		var x *snapshot
		if x, err = s.merge(nil, nil); err == nil {
			x.Close() // empty, and no stamp is for it
		}
	}
	if err := errors.Join(err, lock.Close()); err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	return s.Heal(progress)
}

// heal compares once and reports whether the index is complete now.
func (s *Store) heal(progress func(done, of int)) (bool, error) {
	times, err := s.placeTimes()
	if err != nil {
		return false, err
	}
	seen, err := s.sights()
	if err != nil {
		return false, err
	}
	stale, gone, err := s.compareLocked(seen)
	if err != nil {
		return false, err
	}
	for done := 0; done < len(stale); {
		batch := stale[done:min(done+healBatch, len(stale))]
		if err := s.putAll(s.digests(batch, func(n int) {
			if progress != nil {
				progress(done+n, len(stale))
			}
		})); err != nil {
			return false, err
		}
		done += len(batch)
	}
	var dropped []entry
	for _, id := range gone {
		dropped = append(dropped, goneEntry(id.String()))
	}
	if err := s.putAll(dropped); err != nil {
		return false, err
	}
	return s.seal(times)
}

// sights lists every context in every place, sorted by uuid; running/ is read
// once more at the end, for what was resumed meanwhile.
func (s *Store) sights() ([]sight, error) {
	var seen []sight
	for _, p := range []Place{Running, Paused, Completed, Running} {
		names, err := s.names(p, func(error) {})
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			seen = append(seen, sight{idOf(n), p})
		}
	}
	slices.SortStableFunc(seen, func(a, b sight) int { return compareIDs(a.id, b.id) })
	return seen, nil
}

func (s *Store) compareLocked(seen []sight) (stale []sight, gone []id16, err error) {
	lock, err := s.lockSoon(indexLock)
	if err != nil {
		return nil, nil, err
	}
	defer lock.Close()
	x, err := s.current()
	if err != nil {
		return nil, nil, err
	}
	stale, gone, err = x.compare(seen)
	if errors.Is(err, errIndex) {
		x.Close()
		if x, err = s.merge(nil, nil); err != nil {
			return nil, nil, err
		}
		stale, gone, err = x.compare(seen)
	}
	return stale, gone, errors.Join(err, x.Close())
}

// compare tells which contexts the index does not know, or not that they ended,
// and which it knows that are in no place.
func (x *snapshot) compare(seen []sight) (stale []sight, gone []id16, err error) {
	for e, err := range x.all() {
		if err != nil {
			return nil, nil, err
		}
		id := e.rec.uuid()
		for len(seen) > 0 && compareIDs(seen[0].id, id) < 0 {
			stale, seen = addSight(stale, seen[0]), seen[1:]
		}
		known := false
		for ; len(seen) > 0 && seen[0].id == id; seen = seen[1:] {
			known = true
			if seen[0].place == Completed && !e.rec.over() {
				stale = addSight(stale, seen[0])
			}
		}
		if !known {
			gone = append(gone, id)
		}
	}
	for _, at := range seen {
		stale = addSight(stale, at)
	}
	return stale, gone, nil
}

// addSight adds each context once, though it may have been seen twice.
func addSight(all []sight, s sight) []sight {
	if len(all) > 0 && all[len(all)-1].id == s.id {
		return all
	}
	return append(all, s)
}

// digests folds logs, several at once, and gives the entries sorted by uuid.
func (s *Store) digests(of []sight, progress func(done int)) []entry {
	const readers = 4
	work := make(chan sight)
	var all []entry
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range readers {
		wait.Go(func() {
			for at := range work {
				info := s.digest(at.id.String(), eventlog.Head{})
				if errors.Is(info.Err, ErrUnknown) {
					continue // it was removed meanwhile
				}
				mu.Lock()
				all = append(all, entryOf(&info))
				progress(len(all))
				mu.Unlock()
			}
		})
	}
	for _, at := range of {
		work <- at
	}
	close(work)
	wait.Wait()
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(compareIDs(a.rec.uuid(), b.rec.uuid())) })
	return all
}

// putAll writes entries that were read without the lock, except where the index
// has learned more meanwhile.
func (s *Store) putAll(entries []entry) error {
	if len(entries) == 0 {
		return nil
	}
	lock, err := s.lockSoon(indexLock)
	if err != nil {
		return err
	}
	defer lock.Close()
	x, err := s.current()
	if err != nil {
		return err
	}
	defer func() { x.Close() }()
	var fresh []entry
	for _, e := range entries {
		old, found, err := x.get(e.rec.uuid())
		if err != nil && !errors.Is(err, errIndex) {
			return err
		}
		if e.rec.gone() || err != nil || !found || old.rec.head().Seq <= e.rec.head().Seq {
			fresh = append(fresh, e)
		}
	}
	x, err = s.add(x, fresh...)
	return err
}

// seal stamps the index if nothing moved since times.
func (s *Store) seal(times [3]int64) (bool, error) {
	lock, err := s.lockSoon(indexLock)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	now, err := s.placeTimes()
	if err != nil || now != times {
		return false, err
	}
	x, err := s.current()
	if err != nil {
		return false, err
	}
	return true, errors.Join(s.writeStamp(x, times), x.Close())
}

// whole is the index with everything that it lacks added in memory: the base of
// an answer that must be right, however slow.
func (s *Store) whole() (*snapshot, error) {
	x, err := s.snapshot()
	if errors.Is(err, errIndex) {
		return s.fromLogs()
	}
	if err != nil || x.stamped {
		return x, err
	}
	err = s.fill(x)
	if errors.Is(err, errIndex) {
		x.Close()
		return s.fromLogs()
	}
	return x, err
}

// fromLogs is an index in memory that was made from all logs.
func (s *Store) fromLogs() (*snapshot, error) {
	x := &snapshot{f: noFile{}, tail: map[id16]entry{}}
	return x, s.fill(x)
}

func (s *Store) fill(x *snapshot) error {
	seen, err := s.sights()
	if err != nil {
		return err
	}
	stale, gone, err := x.compare(seen)
	if err != nil {
		return err
	}
	for _, e := range s.digests(stale, func(int) {}) {
		x.tail[e.rec.uuid()] = e
	}
	for _, id := range gone {
		x.tail[id] = goneEntry(id.String())
	}
	x.stamped = true
	return nil
}
