package contexts

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"agent/forge"
	"agent/internal/fsx"
)

// errIndex says that the index is missing or damaged; the logs have to be read.
var errIndex = errors.New("index is missing or damaged")

// snapshot is the index as it was at one moment. Its file stays readable when
// another one takes its place.
type snapshot struct {
	f        fsx.File         // contexts.jsonl; nil if all is in tail
	trailer  indexMark        // of f
	tail     map[string]Info  // the latest line of each context in the tail, by uuid
	size     int64            // of the valid part of the tail, bytes
	lines    int              // in it
	crc      uint32           // of it
	torn     bool             // something else follows, or the tail is that of another generation
	times    *[3]int64        // of the latest stamp
	complete bool             // it knows every context, see index.go
	steps    map[int64]probed // of earlier searches, for one that many are made in; nil keeps none
}

func (x *snapshot) Close() error {
	if x.f == nil {
		return nil
	}
	return x.f.Close()
}

// patience bounds how often a reader tries again while others are moving.
const (
	patience = 4
	breather = time.Millisecond
)

// snapshot reads the index. It is errIndex if there is none that can be used.
func (s *Store) snapshot() (*snapshot, error) {
	for try := 1; ; try++ {
		// In this order: what is read later may only know more.
		times, err := s.dirTimes()
		if err != nil {
			return nil, err
		}
		x, err := s.load()
		if err != nil {
			return nil, err
		}
		x.complete = x.times != nil && *x.times == times
		if x.complete || try == patience || !x.torn && !s.moving() {
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

// load opens the index without asking whether it is complete.
func (s *Store) load() (*snapshot, error) {
	f, err := s.fs.OpenFile(indexFile, os.O_RDONLY, 0)
	if err != nil {
		return nil, unusable(err)
	}
	x := &snapshot{f: f, tail: map[string]Info{}}
	if err := x.readTrailer(); err != nil {
		f.Close()
		return nil, err
	}
	data, err := fsx.ReadFile(s.fs, tailFile, 2*maxTailSize)
	if err != nil {
		if err = unusable(err); !errors.Is(err, errIndex) {
			f.Close()
			return nil, err
		}
		x.torn = true
		return x, nil
	}
	x.readTail(data)
	return x, nil
}

// unusable makes errIndex of errors that only a new index ends.
func unusable(err error) error {
	if isMissing(err) || errors.Is(err, fsx.ErrNotRegular) || errors.Is(err, fsx.ErrTooLarge) || ExitCode(err) == ExitDamage {
		return errIndex
	}
	return err
}

// readTrailer reads the last line, which shows that the file is whole.
func (x *snapshot) readTrailer() error {
	const longest = 512
	info, err := x.f.Stat()
	if err != nil {
		return err
	}
	b := make([]byte, min(longest, info.Size()))
	if err := x.at(b, info.Size()-int64(len(b))); err != nil {
		return err
	}
	line, whole := bytes.CutSuffix(b, []byte("\n"))
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	body, _, ok := unseal(line, 0)
	if !whole || !ok {
		return errIndex
	}
	x.trailer, ok = parseMark(body)
	if !ok || x.trailer.Format != indexFormat || x.trailer.Bytes != info.Size()-int64(len(line))-1 {
		return errIndex
	}
	return nil
}

func (x *snapshot) readTail(data []byte) {
	for len(data) > 0 {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		body, crc, ok := unseal(line, x.crc)
		if !whole || !ok || !x.take(body) {
			break
		}
		x.crc, x.size, x.lines = crc, x.size+int64(len(data)-len(rest)), x.lines+1
		data = rest
	}
	x.torn = x.lines == 0 || len(data) > 0
}

// take adds a line of the tail.
func (x *snapshot) take(body []byte) bool {
	if x.lines > 0 {
		if i, ok := parseInfo(body); ok {
			x.tail[i.UUID] = i
			return true
		}
	}
	m, ok := parseMark(body)
	if x.lines == 0 {
		return ok && m.Format == indexFormat && m.Generation == x.trailer.Generation
	}
	x.times = m.Stamp
	return ok && m.Stamp != nil
}

// at reads exactly; a file that ends too early is no index.
func (x *snapshot) at(b []byte, off int64) error {
	n, err := x.f.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return errIndex
	}
	return err
}

// get finds the line of a context.
func (x *snapshot) get(task, uuid string) (i Info, found bool, err error) {
	if i, ok := x.tail[uuid]; ok {
		return i, !i.gone, nil
	}
	for r, err := range x.from(task, uuid) {
		if err != nil || forge.CompareKeys(r.TaskKey, task) != 0 || r.UUID != uuid {
			return i, false, err
		}
		i, err = r.whole()
		return i, err == nil, err
	}
	return i, false, nil
}

// ofTask finds the lines of a task, in no order.
func (x *snapshot) ofTask(task string) (found []Info, err error) {
	for _, i := range x.tail {
		if forge.CompareKeys(i.TaskKey, task) == 0 && !i.gone {
			found = append(found, i)
		}
	}
	for r, err := range x.from(task, "") {
		if err != nil {
			return nil, err
		}
		if forge.CompareKeys(r.TaskKey, task) != 0 {
			break
		}
		if _, newer := x.tail[r.UUID]; newer {
			continue
		}
		i, err := r.whole()
		if err != nil {
			return nil, err
		}
		found = append(found, i)
	}
	return found, nil
}

// movedField is in the lines of contexts whose task has another address now.
var movedField = []byte(`"moved":"`)

// atAddress finds the lines of a task, also of one that was elsewhere when its context
// began. The index is sorted by those addresses, so all of it is looked through.
func (x *snapshot) atAddress(task string) ([]Info, error) {
	found, err := x.ofTask(task)
	if err != nil || task == "" {
		return found, err
	}
	for r, err := range x.rows() {
		if err != nil {
			return nil, err
		}
		if r.line != nil && !bytes.Contains(r.line, movedField) || forge.CompareKeys(r.TaskKey, task) == 0 {
			continue
		}
		i, err := r.whole()
		if err != nil {
			return nil, err
		}
		if i.at(task) {
			found = append(found, i)
		}
	}
	return found, nil
}

// byUUID finds the line of a context whose task is not known; zero if there is none.
func (x *snapshot) byUUID(uuid string) (Info, error) {
	found, err := x.prefixed(uuid)
	if err != nil || len(found) == 0 {
		return Info{}, err
	}
	return found[0], nil
}

// prefixed gives the contexts whose uuid begins with these characters. It reads
// every line: the index is sorted by task.
func (x *snapshot) prefixed(prefix string) (found []Info, err error) {
	for r, err := range x.rows() {
		if err == nil && !strings.HasPrefix(r.UUID, prefix) {
			continue
		}
		var i Info
		if err == nil {
			i, err = r.whole()
		}
		if err != nil {
			return nil, err
		}
		found = append(found, i)
	}
	slices.SortFunc(found, func(a, b Info) int { return strings.Compare(a.UUID, b.UUID) })
	return found, nil
}
