package contexts

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"

	"agent/internal/fsx"
)

// update changes the index under its lock.
func (s *Store) update(change func(x *snapshot) error) error {
	lock, err := s.lockSoon(indexLock)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	defer lock.Close()
	x, err := s.current()
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	defer func() { x.Close() }()
	return change(x)
}

// note writes a line to the index and then, if it is not nil, does the move that
// the line announces. If the index was complete before, it is after.
func (s *Store) note(i Info, move func() error) error {
	return s.update(func(x *snapshot) error {
		if err := s.add(x, i); err != nil {
			return fmt.Errorf("index: %w", err)
		}
		if move != nil {
			if err := move(); err != nil {
				return err
			}
		}
		if !x.complete || move == nil && x.times != nil {
			return nil
		}
		return s.stamp(x)
	})
}

// stamp says that the index is complete now.
func (s *Store) stamp(x *snapshot) error {
	times, err := s.dirTimes()
	if err != nil {
		return err
	}
	b, _ := seal(nil, x.crc, indexMark{Stamp: &times}.body())
	return s.appendTail(b, false) // one that is lost proves nothing, which is safe
}

// dirTimes are the modification times of running/, paused/ and completed/. One
// that is missing (of a store that was never written) has 0.
func (s *Store) dirTimes() (times [3]int64, err error) {
	for n, p := range Dirs {
		info, err := s.fs.Lstat(string(p))
		if err != nil && !isMissing(err) {
			return times, fmt.Errorf("stat %s: %w", p, err)
		}
		if err == nil {
			times[n] = info.ModTime().UnixNano()
		}
	}
	return times, nil
}

// current loads the index for a writer, or begins a new one. The caller holds
// the lock.
func (s *Store) current() (*snapshot, error) {
	if err := s.prepareIndexDir(); err != nil {
		return nil, err
	}
	times, err := s.dirTimes()
	if err != nil {
		return nil, err
	}
	x, err := s.load()
	if errors.Is(err, errIndex) {
		return s.fresh()
	}
	if err == nil {
		x.complete = x.times != nil && *x.times == times
	}
	return x, err
}

// prepareIndexDir makes index/. What is there and is no directory is set aside.
func (s *Store) prepareIndexDir() error {
	info, err := s.fs.Lstat(indexDir)
	for n := 1; err == nil && !info.IsDir(); n++ {
		to := fmt.Sprintf("%s/index.%d", quarantineDir, n)
		if err = s.move(indexDir, to); errors.Is(err, errTaken) {
			err = nil
			continue
		}
		if err == nil {
			s.o.Warn(&Warning{Name: indexDir, Reason: "it is not a directory, and was moved to " + to})
			break
		}
	}
	if err != nil && !isMissing(err) {
		return err
	}
	return s.prepareDir(indexDir)
}

// fresh begins an empty index, in place of whatever is there. It is complete if
// there is no context.
func (s *Store) fresh() (*snapshot, error) {
	old, err := s.fs.ReadDir(indexDir)
	if err != nil {
		return nil, err
	}
	for _, e := range old {
		if err := s.fs.RemoveAll(indexDir + "/" + e.Name()); err != nil {
			return nil, err
		}
	}
	x, err := s.merge(&snapshot{}, nil)
	if err != nil {
		return nil, err
	}
	seen, problems := s.dirsOfAll(func(error) {}, Dirs...)
	x.complete = len(seen) == 0 && len(problems) == 0
	return x, nil
}

// add appends lines durably, or merges if there is no room for them.
func (s *Store) add(x *snapshot, infos ...Info) error {
	if x.torn || x.lines+len(infos) > s.tail || x.size > maxTailSize/2 {
		return s.replaced(x, infos)
	}
	var b []byte
	crc := x.crc
	for _, i := range infos {
		b, crc = seal(b, crc, i.body())
	}
	if err := s.appendTail(b, true); err != nil {
		return err
	}
	for _, i := range infos {
		x.tail[i.UUID] = i
	}
	x.crc, x.size, x.lines = crc, x.size+int64(len(b)), x.lines+len(infos)
	return nil
}

func (s *Store) appendTail(data []byte, durable bool) error {
	f, err := s.fs.OpenFile(tailFile, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	n, err := f.Write(data)
	if err == nil && n != len(data) {
		err = io.ErrShortWrite
	}
	if err == nil && durable {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// replaced merges into x. An index that turns out to be damaged is replaced by
// one that holds nothing but infos, and so is incomplete.
func (s *Store) replaced(x *snapshot, infos []Info) error {
	merged, err := s.merge(x, infos)
	complete := x.complete
	if errors.Is(err, errIndex) {
		merged, err = s.merge(&snapshot{}, infos)
		complete = false
	}
	if err != nil {
		return err
	}
	x.Close()
	*x = *merged
	x.complete = complete
	return nil
}

// merge writes an index with the content of x and more lines, puts it durably in
// the place of the old one, and opens it.
func (s *Store) merge(x *snapshot, more []Info) (*snapshot, error) {
	all := &snapshot{f: x.f, trailer: x.trailer, tail: maps.Clone(x.tail)}
	if all.tail == nil {
		all.tail = map[string]Info{}
	}
	for _, i := range more {
		all.tail[i.UUID] = i
	}
	var random [16]byte
	if _, err := io.ReadFull(s.o.Rand, random[:]); err != nil {
		return nil, err
	}
	mark := indexMark{Format: indexFormat, Generation: hex.EncodeToString(random[:])}
	sum := newSumming(mark.Generation)
	if err := s.replace(indexFile, func(w io.Writer) error { return all.write(w, mark, sum) }); err != nil {
		return nil, err
	}
	// The tail may only be emptied when its lines are durable elsewhere.
	if err := errors.Join(s.fs.SyncDir(indexDir), s.fs.SyncDir(".")); err != nil {
		return nil, err
	}
	header, _ := seal(nil, 0, mark.body())
	err := s.replace(tailFile, func(w io.Writer) error { _, err := w.Write(header); return err })
	if err == nil {
		err = s.replace(summaryFile, sum.write)
	}
	if err := errors.Join(err, s.fs.SyncDir(indexDir)); err != nil {
		return nil, err
	}
	return s.load()
}

// replace writes a file of the index durably beside the old one and renames it.
func (s *Store) replace(name string, write func(io.Writer) error) error {
	tmp := name + fsx.TempSuffix // nobody else writes: the lock is ours
	f, err := s.fs.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(struct{ io.Writer }{f}, readAhead)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = s.fs.Remove(tmp) // best effort: the next merge truncates it
		return err
	}
	return s.fs.Rename(tmp, name)
}

// write writes all lines and the trailer.
func (x *snapshot) write(w io.Writer, trailer indexMark, sum *summing) error {
	var b []byte
	for r, err := range x.rows() {
		if err != nil {
			return err
		}
		b = r.sealed(b[:0])
		if _, err := w.Write(b); err != nil {
			return err
		}
		if err := sum.add(r, b); err != nil {
			return err
		}
		trailer.Contexts++
		trailer.Bytes += int64(len(b))
	}
	b, _ = seal(b[:0], 0, trailer.body())
	_, err := w.Write(b)
	return err
}

// SeedIndex adds contexts to the index that have no directories, to measure what
// a large index costs. Nothing else may use the store meanwhile.
func (s *Store) SeedIndex(infos iter.Seq[Info]) error {
	const batch = 200_000
	return s.update(func(x *snapshot) error {
		for i := range infos {
			if x.tail[i.UUID] = i; len(x.tail) < batch {
				continue
			}
			if err := s.replaced(x, nil); err != nil {
				return err
			}
		}
		return errors.Join(s.replaced(x, nil), s.stamp(x))
	})
}
