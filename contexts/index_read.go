package contexts

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"agent/internal/fsx"
)

// errIndex says that the index is missing or damaged; the logs have to be read.
var errIndex = errors.New("index is missing or damaged")

// snapshot is the index as it was at one moment. Its file stays readable when
// another one takes its place.
type snapshot struct {
	f        fsx.File        // contexts.jsonl; nil if all is in tail
	trailer  indexMark       // of f
	tail     map[string]Info // the latest line of each context in the tail, by uuid
	size     int64           // of the valid part of the tail, bytes
	lines    int             // in it
	crc      uint32          // of it
	torn     bool            // something else follows, or the tail is that of another generation
	times    *[3]int64       // of the latest stamp
	complete bool            // it knows every context, see index.go
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
		if err != nil || string(r.task) != task || string(r.uuid) != uuid {
			return i, false, err
		}
		i, err = r.info()
		return i, err == nil, err
	}
	return i, false, nil
}

// ofTask finds the lines of a task, in no order.
func (x *snapshot) ofTask(task string) (found []Info, err error) {
	for _, i := range x.tail {
		if i.TaskKey == task && !i.gone {
			found = append(found, i)
		}
	}
	for r, err := range x.from(task, "") {
		if err != nil {
			return nil, err
		}
		if string(r.task) != task {
			break
		}
		if _, newer := x.tail[string(r.uuid)]; newer {
			continue
		}
		i, err := r.info()
		if err != nil {
			return nil, err
		}
		found = append(found, i)
	}
	return found, nil
}

// find finds the line of a context whose task is not known.
func (x *snapshot) find(uuid string) (Info, bool, error) {
	found, err := x.prefixed(uuid)
	if err != nil || len(found) == 0 {
		return Info{}, false, err
	}
	return found[0], true, nil
}

// prefixed gives the contexts whose uuid begins with these characters. It reads
// every line: the index is sorted by task.
func (x *snapshot) prefixed(prefix string) (found []Info, err error) {
	for r, err := range x.rows() {
		if err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(r.uuid, []byte(prefix)) {
			continue
		}
		i, err := r.info()
		if err != nil {
			return nil, err
		}
		found = append(found, i)
	}
	slices.SortFunc(found, func(a, b Info) int { return strings.Compare(a.UUID, b.UUID) })
	return found, nil
}

// rows yields every context by task and uuid.
func (x *snapshot) rows() iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		fresh := x.sortedTail()
		n := 0
		for r, err := range x.sorted(0, readAhead) {
			if err != nil {
				yield(row{}, err)
				return
			}
			n++
			for ; len(fresh) > 0 && compareRows(&fresh[0], &r) < 0; fresh = fresh[1:] {
				if !yield(fresh[0], nil) {
					return
				}
			}
			if _, newer := x.tail[string(r.uuid)]; !newer && !yield(r, nil) {
				return
			}
		}
		if n != x.trailer.Contexts {
			yield(row{}, errIndex)
			return
		}
		for _, r := range fresh {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// sortedTail gives the entries of the tail that are not gone.
func (x *snapshot) sortedTail() []row {
	var fresh []row
	for i := range maps.Values(x.tail) {
		if !i.gone {
			fresh = append(fresh, row{uuid: []byte(i.UUID), task: []byte(i.TaskKey), state: i.State, newer: &i})
		}
	}
	slices.SortFunc(fresh, func(a, b row) int { return compareRows(&a, &b) })
	return fresh
}

// readAhead is the buffer of those who read the file from one end to the other.
const readAhead = 256 << 10

// sorted yields the lines of contexts.jsonl from the one that begins at off. A
// row is good until the next one.
func (x *snapshot) sorted(off int64, buffer int) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		if x.f == nil {
			return
		}
		lines := bufio.NewReaderSize(io.NewSectionReader(x.f, off, x.trailer.Bytes-off), buffer)
		var before row
		for {
			line, err := readLine(lines)
			if errors.Is(err, io.EOF) {
				if len(line) == 0 {
					return
				}
				err = errIndex
			}
			var r row
			if err == nil {
				r, err = checkedRow(line)
			}
			if err == nil && before.uuid != nil && compareRows(&before, &r) >= 0 {
				err = errIndex
			}
			if err != nil {
				yield(row{}, err)
				return
			}
			if !yield(r, nil) {
				return
			}
			before = row{uuid: append(before.uuid[:0], r.uuid...), task: append(before.task[:0], r.task...)}
		}
	}
}
