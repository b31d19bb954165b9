package contexts

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"agent/forge"
)

// row is a line of the index. Of one from contexts.jsonl Info has only the
// fields that are searched, see [row.whole].
type row struct {
	Info
	line []byte // with its checksum, good until the next row; nil for one from the tail
}

func parseRow(line []byte) (row, error) {
	body, _, ok := unseal(line, 0)
	if ok {
		var i Info
		if i, ok = parseInfo(body, searched); ok {
			return row{i, line}, nil
		}
	}
	return row{}, errIndex
}

func (r *row) whole() (Info, error) {
	if r.line == nil {
		return r.Info, nil
	}
	i, ok := parseInfo(r.line[:len(r.line)-crcSize], math.MaxInt)
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
				fresh = append(fresh, row{Info: i})
			}
		}
		slices.SortFunc(fresh, compareRows)
		n := 0
		for r, err := range x.sorted(0, readAhead) {
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

// sorted yields the lines of contexts.jsonl from the one that begins at off.
func (x *snapshot) sorted(off int64, buffer int) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		lines := x.reader(off, buffer)
		for before := (row{}); ; {
			line, err := readLine(lines)
			if errors.Is(err, io.EOF) {
				return
			}
			var r row
			if err == nil {
				r, err = parseRow(line)
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

func (x *snapshot) reader(off int64, buffer int) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(x.f, off, x.trailer.Bytes-off), buffer)
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
		off, err := x.search(row{Info: Info{TaskKey: task, UUID: uuid}})
		if err != nil {
			yield(row{}, err)
			return
		}
		x.sorted(off, probe)(yield)
	}
}

// search bisects for the offset of the first line that is not before want. Every
// line that it decides by is checked, and so are both neighbours of the answer:
// a damaged line between them would have been read.
func (x *snapshot) search(want row) (int64, error) {
	lo, hi := int64(0), x.trailer.Bytes
	for lo < hi {
		mid := lo + (hi-lo)/2
		start, r, err := x.lineAfter(mid)
		if err != nil {
			return 0, err
		}
		if r.line != nil && compareRows(r, want) < 0 {
			lo = start + 1
		} else {
			hi = mid
		}
	}
	start, _, err := x.lineAfter(lo)
	return start, err
}

// lineAfter reads the first line that begins at off or later; its line is nil if
// none does.
func (x *snapshot) lineAfter(off int64) (start int64, r row, err error) {
	lines := x.reader(max(off-1, 0), probe)
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
		r, err = parseRow(line)
	}
	return start, r, err
}
