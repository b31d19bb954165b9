package contexts

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"agent/forge"
)

// row is a line of the index: the fields that it is searched by, see [row.whole].
type row struct {
	UUID, TaskKey, State string

	line  []byte // with its checksum, good until the next row
	known *Info  // of a row that has no line: it is from the tail
}

// sealed appends the row as a line of a file, with its checksum.
func (r row) sealed(b []byte) []byte {
	if r.line != nil {
		return append(append(b, r.line...), '\n')
	}
	b, _ = seal(b, 0, r.known.body())
	return b
}

func tailRow(i Info) row { return row{UUID: i.UUID, TaskKey: i.TaskKey, State: i.State, known: &i} }

// parseRow checks a line. Lines of one task share its key with the row before.
func parseRow(line []byte, before string) (r row, err error) {
	body, _, ok := unseal(line, 0)
	var fields [searched][]byte
	for n := 0; ok && n < searched; n++ {
		var name []byte
		if ok = len(body) > 1; ok {
			name, fields[n], body, ok = cutField(body[1:])
			ok = ok && string(name) == indexFields[n].name
		}
	}
	for n, to := range []*string{&r.UUID, &r.TaskKey, &r.State} {
		if ok {
			*to, ok = unquote(fields[n], before, StateCompleted)
		}
	}
	if r.line = line; !ok || r.UUID == "" {
		return row{}, errIndex
	}
	return r, nil
}

func (r *row) whole() (Info, error) {
	if r.known != nil {
		return *r.known, nil
	}
	i, ok := parseInfo(r.line[:len(r.line)-crcSize])
	if !ok {
		return i, errIndex
	}
	return i, nil
}

func (r *row) over() bool {
	return r.State == StateCompleted || r.State == StateStopped || r.State == StateFailed
}

func compareRows(a, b row) int {
	return cmp.Or(forge.CompareKeys(a.TaskKey, b.TaskKey), strings.Compare(a.UUID, b.UUID))
}

// rows yields every context by task and uuid.
func (x *snapshot) rows() iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		var fresh []row
		for i := range maps.Values(x.tail) {
			if !i.gone {
				fresh = append(fresh, tailRow(i))
			}
		}
		slices.SortFunc(fresh, compareRows)
		n := 0
		for r, err := range x.sorted(span{0, x.trailer.Bytes}, readAhead) {
			if err != nil {
				yield(r, err)
				return
			}
			n++
			for ; len(fresh) > 0 && compareRows(fresh[0], r) < 0; fresh = fresh[1:] {
				if !yield(fresh[0], nil) {
					return
				}
			}
			if _, newer := x.tail[r.UUID]; !newer && !yield(r, nil) {
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

// readAhead is the buffer of those who read the file from one end to the other,
// probe that of a search.
const (
	readAhead = 256 << 10
	probe     = 4 << 10
)

// span is a part of contexts.jsonl, from the beginning of a line to that of another one.
type span struct{ from, to int64 }

// sorted yields the lines of a part of contexts.jsonl.
func (x *snapshot) sorted(of span, buffer int) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		lines := bufio.NewReaderSize(x.section(of), buffer)
		for before := (row{}); ; {
			line, err := readLine(lines)
			if errors.Is(err, io.EOF) {
				return
			}
			var r row
			if err == nil {
				r, err = parseRow(line, before.TaskKey)
			}
			if err == nil && before.UUID != "" && compareRows(before, r) >= 0 {
				err = errIndex
			}
			if !yield(r, err) || err != nil {
				return
			}
			before = r
		}
	}
}

func (x *snapshot) section(of span) io.Reader {
	return io.NewSectionReader(x.f, of.from, of.to-of.from)
}

// readLine reads a line without its newline, which is good until the next call.
// It is io.EOF at the end, and errIndex for what is no line.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) && len(long) <= maxLine {
			line, err = r.ReadSlice('\n')
			long = append(long, line...)
		}
		line = long
	}
	if err == nil {
		return line[:len(line)-1], nil
	}
	if errors.Is(err, bufio.ErrBufferFull) || errors.Is(err, io.EOF) && len(line) > 0 {
		err = errIndex
	}
	return nil, err
}

// from yields the lines of contexts.jsonl from the first one that is not before
// a task and uuid.
func (x *snapshot) from(task, uuid string) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		off, err := x.search(row{TaskKey: task, UUID: uuid})
		if err != nil {
			yield(row{}, err)
			return
		}
		x.sorted(span{off, x.trailer.Bytes}, probe)(yield)
	}
}

// search bisects for the offset of the first line that is not before want, and walks
// the last steps, which one read covers. Every line that it decides by is checked, and so
// are both neighbours of the answer: a damaged line between them would have been read.
func (x *snapshot) search(want row) (int64, error) {
	lo, hi := int64(0), x.trailer.Bytes
	lines := bufio.NewReaderSize(nil, probe)
	for hi-lo > probe {
		mid := lo + (hi-lo)/2
		at, known := x.steps[mid]
		if !known {
			start, r, err := x.lineAfter(mid, lines)
			if err != nil {
				return 0, err
			}
			at = probed{start, row{UUID: r.UUID, TaskKey: r.TaskKey}, r.line == nil}
			if x.steps != nil && len(x.steps) < maxSteps {
				x.steps[mid] = at
			}
		}
		if !at.end && compareRows(at.row, want) < 0 {
			lo = at.start + 1
		} else {
			hi = mid
		}
	}
	start, _, err := x.lineAfter(lo, lines)
	if err != nil {
		return 0, err
	}
	for r, err := range x.sorted(span{start, x.trailer.Bytes}, probe) {
		if err != nil {
			return 0, err
		}
		if compareRows(r, want) >= 0 {
			break
		}
		start += int64(len(r.line)) + 1
	}
	return start, nil
}

// probed is a line that searches came by. Those of the first steps are the same for all.
type probed struct {
	start int64
	row   row
	end   bool // no line follows
}

const maxSteps = 1 << 12

// lineAfter reads the first line that begins at off or later; its line is nil if
// none does.
func (x *snapshot) lineAfter(off int64, lines *bufio.Reader) (start int64, r row, err error) {
	lines.Reset(x.section(span{max(off-1, 0), x.trailer.Bytes}))
	start = off
	if off > 0 {
		rest, err := readLine(lines)
		if err != nil {
			return 0, r, err
		}
		start += int64(len(rest))
	}
	line, err := readLine(lines)
	if errors.Is(err, io.EOF) {
		return start, r, nil
	}
	if err == nil {
		r, err = parseRow(line, "")
	}
	return start, r, err
}
