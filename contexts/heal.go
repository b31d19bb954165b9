package contexts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"agent/eventlog"
)

// healBatch is how many lines a heal keeps in memory.
const healBatch = 20_000

// Heal makes the index complete if it is not: what is missing or stale comes
// from the logs, what was never finished is dropped. It is called before much work, for
// the sake of speed, and gives the contexts that are lost, see [LostError]. If other
// processes keep moving contexts meanwhile it may end without being through.
// progress, if not nil, hears how many logs of how many were read. If ctx is done before all
// were, what was read is kept, and the error is that of ctx: the next heal goes on.
func (s *Store) Heal(ctx context.Context, progress func(done, of int)) (lost []Info, err error) {
	if s.o.ReadOnly {
		return nil, ErrReadOnly
	}
	x, err := s.snapshot()
	if err == nil {
		x.Close()
		if x.complete {
			return nil, nil
		}
	} else if !errors.Is(err, errIndex) {
		return nil, fmt.Errorf("heal index: %w", err)
	}
	for range patience {
		var done bool
		if lost, done, err = s.heal(ctx, progress); err != nil {
			return lost, fmt.Errorf("heal index: %w", err)
		}
		if done {
			break
		}
	}
	return lost, nil
}

// Indexed tells whether the index knows every context: a list makes it anew otherwise.
func (s *Store) Indexed() bool {
	if x, err := s.snapshot(); err == nil {
		x.Close()
		if x.complete {
			return true
		}
	}
	seen, _ := s.dirsOfAll(func(error) {}, Dirs...)
	return len(seen) == 0
}

// RebuildIndex deletes the index and makes it from all logs. It gives the
// contexts that were lost, which the index knows no more.
func (s *Store) RebuildIndex(progress func(done, of int)) (lost []Info, err error) {
	err = s.update(func(x *snapshot) error {
		if lost, err = s.lostOf(x); err != nil && !errors.Is(err, errIndex) {
			return err
		}
		x.Close()
		fresh, err := s.fresh()
		if err == nil {
			*x = *fresh
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("rebuild index: %w", err)
	}
	_, err = s.Heal(context.Background(), progress)
	return lost, err
}

// heal compares once and reports whether the index is as complete now as it can be.
func (s *Store) heal(ctx context.Context, progress func(done, of int)) (lost []Info, done bool, err error) {
	times, err := s.dirTimes()
	if err != nil {
		return nil, false, err
	}
	seen, err := s.listed()
	if err != nil {
		return nil, false, err
	}
	var stale []string
	var gone []Info
	if err := s.update(func(x *snapshot) (err error) {
		var nowhere []Info
		if stale, nowhere, err = x.compare(seen); errors.Is(err, errIndex) {
			if err = s.replaced(x, nil); err == nil {
				stale, nowhere, err = x.compare(seen)
			}
		}
		if err == nil {
			gone, lost, err = s.sift(nowhere) // under the lock nothing moves
		}
		return err
	}); err != nil {
		return nil, false, err
	}
	if err := s.supply(ctx, stale, gone, progress); err != nil || len(lost) > 0 {
		return lost, err == nil, err
	}
	done, err = s.stampUnmoved(times)
	return nil, done, err
}

// supply adds what the index lacks, until ctx is done.
func (s *Store) supply(ctx context.Context, stale []string, gone []Info, progress func(done, of int)) error {
	for done := 0; done < len(stale); {
		batch := stale[done:min(done+healBatch, len(stale))]
		if err := s.putAll(s.digests(ctx, batch, func(n int) {
			if progress != nil {
				progress(done+n, len(stale))
			}
		})); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		done += len(batch)
	}
	return s.putAll(gone)
}

// listed gives the directory of every context.
func (s *Store) listed() (map[string]Dir, error) {
	seen, problems := s.dirsOfAll(func(error) {}, Dirs...)
	return seen, errors.Join(problems...)
}

// compare tells which contexts the index does not know, or not that they ended,
// and which it knows that are in no directory.
func (x *snapshot) compare(seen map[string]Dir) (stale []string, nowhere []Info, err error) {
	unknown := maps.Clone(seen)
	for r, err := range x.rows() {
		if err != nil {
			return nil, nil, err
		}
		dir, exists := seen[r.UUID]
		if !exists {
			i, err := r.whole()
			if err != nil {
				return nil, nil, err
			}
			nowhere = append(nowhere, i)
		}
		if r.TaskKey != "" && (dir != Completed || r.over()) {
			delete(unknown, r.UUID)
		}
	}
	return slices.Sorted(maps.Keys(unknown)), nowhere, nil
}

// digests folds logs, several at once, until ctx is done, and gives them sorted by uuid.
func (s *Store) digests(ctx context.Context, of []string, progress func(done int)) []Info {
	const readers = 4
	work := make(chan string)
	var all []Info
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range readers {
		wait.Go(func() {
			for id := range work {
				info := s.digest(id, eventlog.Head{})
				if errors.Is(info.Err, ErrUnknown) {
					continue // it was removed meanwhile
				}
				mu.Lock()
				all = append(all, info)
				progress(len(all))
				mu.Unlock()
			}
		})
	}
	for _, id := range of {
		if ctx.Err() != nil {
			break
		}
		work <- id
	}
	close(work)
	wait.Wait()
	slices.SortFunc(all, func(a, b Info) int { return strings.Compare(a.UUID, b.UUID) })
	return all
}

// putAll writes lines that were made without the lock, except where the index
// has learned more meanwhile.
func (s *Store) putAll(infos []Info) error {
	if len(infos) == 0 {
		return nil
	}
	return s.update(func(x *snapshot) error {
		var fresh []Info
		for _, i := range infos {
			if i.TaskKey == "" && !i.gone { // its log cannot be read: what is known stays known
				if old, err := x.byUUID(i.UUID); err == nil {
					i.TaskKey, i.Title, i.Created, i.Head = old.TaskKey, old.Title, old.Created, old.Head
				}
			}
			old, found, err := x.get(i.TaskKey, i.UUID)
			if err != nil && !errors.Is(err, errIndex) {
				return err
			}
			if i.gone || err != nil || !found || old.Head.Seq <= i.Head.Seq {
				fresh = append(fresh, i)
			}
		}
		return s.add(x, fresh...)
	})
}

// stampUnmoved stamps the index if nothing moved since times.
func (s *Store) stampUnmoved(times [3]int64) (unmoved bool, err error) {
	err = s.update(func(x *snapshot) error {
		now, err := s.dirTimes()
		if err != nil || now != times {
			return err
		}
		unmoved = true
		if x.torn {
			err = s.replaced(x, nil)
		}
		return errors.Join(err, s.stamp(x))
	})
	return unmoved, err
}

// whole is the index with everything that it lacks added in memory: the base of
// an answer that must be right, however slow.
func (s *Store) whole() (*snapshot, error) {
	x, err := s.snapshot()
	if errors.Is(err, errIndex) {
		return s.fromLogs()
	}
	if err != nil || x.complete {
		return x, err
	}
	err = s.fill(x)
	if errors.Is(err, errIndex) {
		x.Close()
		return s.fromLogs()
	}
	return x, err
}

// withIndex reads the whole index, from the logs if it turns out to be damaged:
// then read is called again.
func (s *Store) withIndex(read func(*snapshot) error) error {
	x, err := s.whole()
	if err != nil {
		return err
	}
	err = read(x)
	x.Close()
	if errors.Is(err, errIndex) {
		if x, err = s.fromLogs(); err == nil {
			err = read(x)
		}
	}
	return err
}

// fromLogs is an index in memory that was made from all logs.
func (s *Store) fromLogs() (*snapshot, error) {
	x := &snapshot{tail: map[string]Info{}}
	return x, s.fill(x)
}

func (s *Store) fill(x *snapshot) error {
	seen, err := s.listed()
	if err != nil {
		return err
	}
	stale, nowhere, err := x.compare(seen)
	if err != nil {
		return err
	}
	gone, _, err := s.sift(nowhere) // the lost ones stay: they are said when they are read
	if err != nil {
		return err
	}
	for _, i := range append(s.digests(context.Background(), stale, func(int) {}), gone...) {
		x.tail[i.UUID] = i
	}
	x.complete = true
	return nil
}
