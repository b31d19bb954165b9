package contexts

import (
	"errors"
	"fmt"
	"iter"
)

// FabricateIndex fills an empty store's index with contexts that have no
// directories, for measuring what a large index costs. Nothing else may use the
// store meanwhile. What would look at one of their logs finds nothing.
func (s *Store) FabricateIndex(infos iter.Seq[Info]) error {
	lock, err := s.lockSoon(indexLock)
	if err != nil {
		return fmt.Errorf("fabricate index: %w", err)
	}
	defer lock.Close()
	if err := s.fabricate(infos); err != nil {
		return fmt.Errorf("fabricate index: %w", err)
	}
	return nil
}

func (s *Store) fabricate(infos iter.Seq[Info]) error {
	x, err := s.current()
	if err != nil {
		return err
	}
	defer func() { x.Close() }()
	batch := make([]entry, 0, 10*healBatch)
	for i := range infos {
		if batch = append(batch, entryOf(&i)); len(batch) < cap(batch) {
			continue
		}
		if x, err = s.add(x, batch...); err != nil {
			return err
		}
		batch = batch[:0]
	}
	if x, err = s.replaced(x, batch); err != nil {
		return err
	}
	times, err := s.placeTimes()
	return errors.Join(err, s.writeStamp(x, times))
}
