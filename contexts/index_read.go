package contexts

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"agent/internal/fsx"
)

// errIndex says that the index is not there or cannot be what was written; the
// logs have to be asked.
var errIndex = errors.New("index is missing or damaged")

// snapshot is the index as it was at one moment. Its file stays readable when
// another one takes its place.
type snapshot struct {
	f       fsx.File
	h       header
	tail    map[id16]entry // the latest entry of each context
	end     int64          // of what is valid
	crc     uint32         // of the tail up to there
	torn    bool           // something else follows
	stamped bool           // it knows every context, see index.go
}

func (x *snapshot) Close() error { return x.f.Close() }

// patience bounds how often a reader looks again while others are moving.
const (
	patience = 4
	breather = time.Millisecond
)

// snapshot reads the index. It is errIndex if there is none that can be used.
func (s *Store) snapshot() (*snapshot, error) {
	for try := 1; ; try++ {
		// In this order: what comes later may only know more.
		times, err := s.placeTimes()
		if err != nil {
			return nil, err
		}
		st, stamped := s.readStamp()
		x, err := s.load(st)
		if err != nil {
			return nil, err
		}
		x.stamped = x.stamped && stamped && st.times == times
		if x.stamped || try == patience || !s.moving() {
			return x, nil
		}
		x.Close()
		time.Sleep(breather)
	}
}

// moving tells whether somebody may be between a move and its stamp. A store
// that is only read takes no lock, and so cannot know.
func (s *Store) moving() bool {
	lock, err := s.lock(indexLock)
	if err == nil {
		lock.Close()
	}
	return err != nil
}

// load reads the file, and tells whether it holds all that st was given for.
func (s *Store) load(st stamp) (*snapshot, error) {
	f, err := s.fs.OpenFile(indexFile, os.O_RDONLY, 0)
	switch {
	case isMissing(err), errors.Is(err, fsx.ErrNotRegular):
		return nil, errIndex
	case err != nil:
		return nil, err
	}
	x := &snapshot{f: f, tail: map[id16]entry{}}
	if err := x.read(st); err != nil {
		f.Close()
		return nil, err
	}
	return x, nil
}

func (x *snapshot) read(st stamp) error {
	b := make([]byte, headerSize)
	if err := x.at(b, 0); err != nil {
		return err
	}
	var ok bool
	if x.h, x.crc, ok = parseHeader(b); !ok {
		return errIndex
	}
	info, err := x.f.Stat()
	if err != nil {
		return err
	}
	x.end = x.h.tailAt()
	size := info.Size() - x.end
	if x.h.n < 0 || x.h.strings < 0 || size < 0 || size > maxTailSize {
		return errIndex
	}
	tail := make([]byte, size)
	if err := x.at(tail, x.end); err != nil {
		return err
	}
	x.readTail(tail, st)
	return nil
}

func (x *snapshot) readTail(b []byte, st stamp) {
	for {
		if x.h.id == st.id && x.end == st.end && x.crc == st.crc {
			x.stamped = true
		}
		if len(b) == 0 {
			return
		}
		var e entry
		size := 0
		if len(b) >= recordSize {
			e.rec = record(b[:recordSize])
			size = recordSize + int(e.rec.strings())
		}
		if size == 0 || len(b) < size+4 || !e.rec.valid() || !e.text(b[recordSize:size]) {
			break
		}
		crc := crc32.Update(x.crc, castagnoli, b[:size])
		if le.Uint32(b[size:]) != crc {
			break
		}
		x.tail[e.rec.uuid()] = e
		x.crc, x.end, b = crc, x.end+int64(size)+4, b[size+4:]
	}
	x.torn = true
}

// at reads exactly; a file that ends too early is no index.
func (x *snapshot) at(b []byte, off int64) error {
	n, err := x.f.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return errIndex
	}
	return err
}

// get finds the entry of a context.
func (x *snapshot) get(id id16) (e entry, found bool, err error) {
	if e, ok := x.tail[id]; ok {
		return e, !e.rec.gone(), nil
	}
	i, err := x.search(id)
	if err != nil || i == x.h.n {
		return entry{}, false, err
	}
	if e.rec, err = x.record(i); err != nil || e.rec.uuid() != id {
		return entry{}, false, err
	}
	return e, true, x.strings(&e)
}

// search gives the number of the first record whose uuid is not less than id.
func (x *snapshot) search(id id16) (int64, error) {
	return x.seek(part{at: headerSize, n: x.h.n, size: recordSize, valid: func(b []byte) bool { return (*record)(b).valid() }}, id[:])
}

// maxFits bounds how many contexts a prefix is said to fit.
const maxFits = 100

// prefixed gives the contexts whose uuid begins with these characters.
func (x *snapshot) prefixed(prefix string) (fits []string, err error) {
	const least = "00000000-0000-0000-0000-000000000000"
	i, err := x.search(idOf(prefix + least[len(prefix):]))
	for ; err == nil && i < x.h.n && len(fits) < maxFits; i++ {
		var r record
		if r, err = x.record(i); err != nil || !strings.HasPrefix(r.uuid().String(), prefix) {
			break
		}
		if _, newer := x.tail[r.uuid()]; !newer {
			fits = append(fits, r.uuid().String())
		}
	}
	for id, e := range x.tail {
		if !e.rec.gone() && strings.HasPrefix(id.String(), prefix) {
			fits = append(fits, id.String())
		}
	}
	slices.Sort(fits)
	return fits, err
}

func (x *snapshot) record(i int64) (r record, err error) {
	if err := x.at(r[:], headerSize+i*recordSize); err != nil {
		return r, err
	}
	if !r.valid() {
		return r, errIndex
	}
	return r, nil
}

func (x *snapshot) strings(e *entry) error {
	if e.rec.offset()+e.rec.strings() > x.h.strings || e.rec.offset() < 0 {
		return errIndex
	}
	b := make([]byte, e.rec.strings())
	if err := x.at(b, x.h.stringsAt()+e.rec.offset()); err != nil {
		return err
	}
	if !e.text(b) {
		return errIndex
	}
	return nil
}

// ofKey finds the entries of a TaskKey, in no order.
func (x *snapshot) ofKey(taskKey string) ([]entry, error) {
	var found []entry
	for _, e := range x.tail {
		if e.key == taskKey && !e.rec.gone() {
			found = append(found, e)
		}
	}
	hash := hashKey(taskKey)
	i, err := x.searchKey(hash)
	for ; err == nil && i < x.h.n; i++ {
		var k keyEntry
		if k, err = x.key(i); err != nil || !bytes.Equal(k[:12], hash[:12]) {
			break
		}
		if _, newer := x.tail[k.uuid()]; newer {
			continue
		}
		e, ok, err := x.get(k.uuid())
		if err == nil && !ok {
			err = errIndex
		}
		if err != nil {
			return nil, err
		}
		if e.key == taskKey {
			found = append(found, e)
		}
	}
	return found, err
}

// searchKey gives the number of the first key whose hash is not less than hash.
func (x *snapshot) searchKey(hash id16) (int64, error) {
	return x.seek(part{at: x.h.keysAt(), n: x.h.n, size: keySizeIdx, valid: func(b []byte) bool { return (*keyEntry)(b).valid() }}, hash[:12])
}

func (x *snapshot) key(i int64) (k keyEntry, err error) {
	if err := x.at(k[:], x.h.keysAt()+i*keySizeIdx); err != nil {
		return k, err
	}
	if !k.valid() {
		return k, errIndex
	}
	return k, nil
}
