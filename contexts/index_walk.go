package contexts

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
)

func compareIDs(a, b id16) int { return bytes.Compare(a[:], b[:]) }

func (x *snapshot) sortedTail() []id16 { return slices.SortedFunc(maps.Keys(x.tail), compareIDs) }

// readAhead is the buffer of those who read the file from one end to the other.
const readAhead = 256 << 10

func (x *snapshot) section(from, to int64) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(x.f, from, to-from), readAhead)
}

// all yields every entry by uuid.
func (x *snapshot) all() iter.Seq2[entry, error] { return x.walk(true).whole }

// sorted yields the sorted part of the file as it is.
func (x *snapshot) sorted() iter.Seq2[entry, error] { return x.walk(false).whole }

// walk goes through the index by uuid. The strings of an entry are read when
// they are asked for.
type walk struct {
	x           *snapshot
	recs, texts *bufio.Reader
	tail        []id16 // what is left of it
	i, at       int64  // of the next record and its strings
	text        int64  // where texts is
	before      id16   // the latest record
	sorted      entry  // the next one of the sorted part, if held
	held        bool
	now         entry // what next gave
}

func (x *snapshot) walk(withTail bool) *walk {
	w := &walk{x: x, recs: x.section(headerSize, x.h.keysAt()), texts: x.section(x.h.stringsAt(), x.h.tailAt())}
	if withTail {
		w.tail = x.sortedTail()
	}
	return w
}

// next gives the next entry, without its strings unless it is from the tail;
// nil at the end. It is good until the next call.
func (w *walk) next() (*entry, error) {
	for {
		if !w.held && w.i < w.x.h.n {
			if err := w.record(); err != nil {
				return nil, err
			}
		}
		if len(w.tail) == 0 {
			if !w.held {
				return nil, nil
			}
			w.held = false
			return &w.sorted, nil
		}
		order := -1
		if w.held {
			order = compareIDs(w.tail[0], w.before)
		}
		if order > 0 {
			w.held = false
			return &w.sorted, nil
		}
		if order == 0 {
			w.held = false // there is a newer one
		}
		w.now = w.x.tail[w.tail[0]]
		w.tail = w.tail[1:]
		if !w.now.rec.gone() {
			return &w.now, nil
		}
	}
}

// record reads the next one of the sorted part.
func (w *walk) record() error {
	b, err := w.recs.Peek(recordSize)
	if err != nil {
		return cut(err)
	}
	r := &w.sorted.rec
	copy(r[:], b)
	_, _ = w.recs.Discard(recordSize) // it is there
	id := r.uuid()
	if !r.valid() || w.i > 0 && compareIDs(w.before, id) >= 0 || r.offset() != w.at {
		return errIndex
	}
	w.sorted.key, w.sorted.title = "", ""
	w.before, w.held = id, true
	w.i, w.at = w.i+1, w.at+r.strings()
	return nil
}

func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return errIndex
	}
	return err
}

// strings adds the strings to an entry that next gave.
func (w *walk) strings(e *entry) error {
	if e != &w.sorted {
		return nil
	}
	if _, err := w.texts.Discard(int(e.rec.offset() - w.text)); err != nil {
		return cut(err)
	}
	b, err := w.texts.Peek(int(e.rec.strings()))
	if err != nil {
		return cut(err)
	}
	w.text = e.rec.offset()
	if !e.text(b) {
		return errIndex
	}
	return nil
}

func (w *walk) whole(yield func(entry, error) bool) {
	for {
		e, err := w.next()
		if err == nil && e == nil {
			return
		}
		if err == nil {
			err = w.strings(e)
		}
		if err != nil {
			yield(entry{}, err)
			return
		}
		if !yield(*e, nil) {
			return
		}
	}
}
