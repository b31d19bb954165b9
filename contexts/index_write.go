package contexts

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"

	"agent/internal/fsx"
)

// note writes an entry to the index and then, if it is not nil, does the move
// that the entry announces. If the index was complete before, it is after.
func (s *Store) note(e entry, move func() error) error {
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
	before := x.h.id
	if x, err = s.add(x, e); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if move != nil {
		if err := move(); err != nil {
			return err
		}
	}
	if !x.stamped || move == nil && x.h.id == before {
		return nil
	}
	times, err := s.placeTimes()
	if err != nil {
		return err
	}
	return s.writeStamp(x, times)
}

// current loads the index for a writer, or begins a new one. Its stamped is
// whether it is complete at this moment. The caller holds the lock.
func (s *Store) current() (*snapshot, error) {
	if err := s.prepareDir(indexDir); err != nil {
		return nil, err
	}
	times, err := s.placeTimes()
	if err != nil {
		return nil, err
	}
	st, ok := s.readStamp()
	x, err := s.load(st)
	if errors.Is(err, errIndex) {
		return s.fresh()
	}
	if err == nil {
		x.stamped = x.stamped && ok && st.times == times
	}
	return x, err
}

// fresh begins an empty index. It is complete if there is no context.
func (s *Store) fresh() (*snapshot, error) {
	x, err := s.merge(nil, nil)
	if err != nil {
		return nil, err
	}
	x.stamped = true
	for _, p := range Places {
		names, err := s.names(p, func(error) {})
		if err != nil {
			x.Close()
			return nil, err
		}
		x.stamped = x.stamped && len(names) == 0
	}
	return x, nil
}

// add appends entries durably, or merges if there is no room for them. It
// returns the index to go on with, whose stamped says what that of x said.
func (s *Store) add(x *snapshot, entries ...entry) (*snapshot, error) {
	if x.torn || len(x.tail)+len(entries) > s.tail || x.end-x.h.tailAt() > maxTailSize/2 {
		return s.replaced(x, entries)
	}
	var b []byte
	crc := x.crc
	for _, e := range entries {
		from := len(b)
		b = append(append(append(b, e.rec[:]...), e.key...), e.title...)
		crc = crc32.Update(crc, castagnoli, b[from:])
		b = le.AppendUint32(b, crc)
	}
	if err := s.appendSynced(indexFile, b); err != nil {
		return x, err
	}
	for _, e := range entries {
		x.tail[e.rec.uuid()] = e
	}
	x.crc, x.end = crc, x.end+int64(len(b))
	return x, nil
}

func (s *Store) appendSynced(name string, data []byte) error {
	f, err := s.fs.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	n, err := f.Write(data)
	if err == nil && n != len(data) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// replaced merges. An index that turns out to be damaged is begun anew, empty
// but for the entries, and so incomplete.
func (s *Store) replaced(x *snapshot, entries []entry) (*snapshot, error) {
	merged, err := s.merge(x, entries)
	complete := x.stamped
	if errors.Is(err, errIndex) {
		merged, err = s.merge(nil, entries)
		complete = false
	}
	if err != nil {
		return x, err
	}
	x.Close()
	merged.stamped = complete
	return merged, nil
}

func (s *Store) writeStamp(x *snapshot, times [3]int64) error {
	t := stamp{id: x.h.id, end: x.end, crc: x.crc, times: times}
	tmp := stampFile + fsx.TempSuffix // nobody else writes: the lock is ours
	if err := s.overwrite(tmp, t.bytes()); err != nil {
		return err
	}
	return s.fs.Rename(tmp, stampFile) // not synced: one that is lost or old proves nothing, which is safe
}

// merge writes a new index with the content of x (nil is empty), its tail and
// more entries, puts it durably in the place of the old one, and opens it.
func (s *Store) merge(x *snapshot, more []entry) (*snapshot, error) {
	m := merger{old: x, newer: map[id16]entry{}}
	if x != nil {
		for id, e := range x.tail {
			m.newer[id] = e
		}
	}
	for _, e := range more {
		m.newer[e.rec.uuid()] = e
	}
	if _, err := io.ReadFull(s.o.Rand, m.h.id[:]); err != nil {
		return nil, err
	}
	if err := m.plan(); err != nil {
		return nil, err
	}
	tmp := indexFile + fsx.TempSuffix
	if err := s.writeMerged(tmp, &m); err != nil {
		_ = s.fs.Remove(tmp) // best effort: the next merge truncates it
		return nil, err
	}
	if err := s.fs.Rename(tmp, indexFile); err != nil {
		return nil, err
	}
	if err := errors.Join(s.fs.SyncDir(indexDir), s.fs.SyncDir(".")); err != nil {
		return nil, err
	}
	return s.load(stamp{})
}

func (s *Store) writeMerged(name string, m *merger) error {
	f, err := s.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fs.ErrInvalid)
	}
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(struct{ io.Writer }{f}, readAhead)
	err = m.write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// merger writes the sorted part of a new index, in one pass for each section,
// so that its memory does not grow with the number of contexts.
type merger struct {
	old   *snapshot
	newer map[id16]entry
	h     header
}

// plan counts what the new index will hold.
func (m *merger) plan() error {
	if m.old != nil {
		m.h.n, m.h.strings, m.h.counts = m.old.h.n, m.old.h.strings, m.old.h.counts
	}
	if m.old != nil && len(m.newer) > manyNewer {
		return m.planAll()
	}
	for id, e := range m.newer {
		if m.old != nil {
			was, found, err := m.old.sortedGet(id)
			if err != nil {
				return err
			}
			if found {
				m.count(&was, -1)
			}
		}
		if !e.rec.gone() {
			m.count(&e, 1)
		}
	}
	return nil
}

// manyNewer is from how many entries it is quicker to read the old index through
// than to look each of them up.
const manyNewer = 2000

func (m *merger) planAll() error {
	for was, err := range m.old.sorted() {
		if err != nil {
			return err
		}
		if _, newer := m.newer[was.rec.uuid()]; newer {
			m.count(&was, -1)
		}
	}
	for _, e := range m.newer {
		if !e.rec.gone() {
			m.count(&e, 1)
		}
	}
	return nil
}

func (m *merger) count(e *entry, n int64) {
	m.h.n += n
	m.h.strings += n * e.rec.strings()
	m.h.counts[e.rec[116]] += n
}

// sortedGet is get without the tail.
func (x *snapshot) sortedGet(id id16) (e entry, found bool, err error) {
	i, err := x.search(id)
	if err != nil || i == x.h.n {
		return e, false, err
	}
	e.rec, err = x.record(i)
	return e, err == nil && e.rec.uuid() == id, err
}

func (m *merger) write(w *bufio.Writer) error {
	w.Write(m.h.bytes()) // errors of a bufio.Writer stay until Flush
	if err := m.writeRecords(w); err != nil {
		return err
	}
	if err := m.writeKeys(w); err != nil {
		return err
	}
	for e, err := range m.entries() {
		if err != nil {
			return err
		}
		w.WriteString(e.key)
		w.WriteString(e.title)
	}
	return nil
}

func (m *merger) entries() iter.Seq2[entry, error] {
	old := &snapshot{tail: m.newer}
	if m.old != nil {
		old.f, old.h = m.old.f, m.old.h
	}
	return old.all()
}

func (m *merger) writeRecords(w *bufio.Writer) error {
	n, at := int64(0), int64(0)
	for e, err := range m.entries() {
		if err != nil {
			return err
		}
		e.rec.place(at)
		at += e.rec.strings()
		n++
		w.Write(e.rec[:])
	}
	if n != m.h.n || at != m.h.strings {
		return errIndex
	}
	return nil
}

// writeKeys merges the sorted old keys with those of the newer entries.
func (m *merger) writeKeys(w *bufio.Writer) error {
	var fresh []keyEntry
	for _, e := range m.newer {
		if !e.rec.gone() {
			fresh = append(fresh, keyEntryOf(&e.rec))
		}
	}
	slices.SortFunc(fresh, compareKeys)
	if m.old != nil {
		keys := m.old.section(m.old.h.keysAt(), m.old.h.stringsAt())
		for range m.old.h.n {
			var k keyEntry
			if _, err := io.ReadFull(keys, k[:]); err != nil || !k.valid() {
				return errors.Join(errIndex, err)
			}
			if _, newer := m.newer[k.uuid()]; newer {
				continue
			}
			for len(fresh) > 0 && compareKeys(fresh[0], k) < 0 {
				w.Write(fresh[0][:])
				fresh = fresh[1:]
			}
			w.Write(k[:])
		}
	}
	for _, k := range fresh {
		w.Write(k[:])
	}
	return nil
}
