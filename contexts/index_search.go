package contexts

import (
	"bufio"
	"bytes"
	"errors"
	"iter"
)

// checkedRow reads a line of contexts.jsonl.
func checkedRow(line []byte) (row, error) {
	body, _, ok := unseal(line, 0)
	if ok {
		var r row
		if r, ok = parseRow(body); ok {
			r.line = line
			return r, nil
		}
	}
	return row{}, errIndex
}

// readLine reads a line without its newline. It is good until the next call.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err == nil {
		return line[:len(line)-1], nil
	}
	long := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) && len(long) <= maxLine {
		line, err = r.ReadSlice('\n')
		long = append(long, line...)
	}
	if err != nil {
		return long, err
	}
	return long[:len(long)-1], nil
}

// from yields the lines of contexts.jsonl from the first one that is not before
// a task and uuid.
func (x *snapshot) from(task, uuid string) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		if x.f == nil {
			return
		}
		off, err := x.search(row{task: []byte(task), uuid: []byte(uuid)})
		if err != nil {
			yield(row{}, err)
			return
		}
		x.sorted(off, windowSize)(yield)
	}
}

// search bisects for the offset of the first line that is not before want. Every
// line that it decides by is checked, and so are both neighbours of the answer:
// a damaged line between them would have been read.
func (x *snapshot) search(want row) (int64, error) {
	w := window{x: x}
	lo, hi := int64(0), x.trailer.Bytes
	for lo < hi {
		mid := lo + (hi-lo)/2
		start, line, err := w.lineAfter(mid)
		if err != nil {
			return 0, err
		}
		if line == nil {
			hi = mid
			continue
		}
		r, err := checkedRow(line)
		if err != nil {
			return 0, err
		}
		if compareRows(&r, &want) < 0 {
			lo = start + 1
		} else {
			hi = mid
		}
	}
	start, _, err := w.lineAfter(lo)
	return start, err
}

const windowSize = 4 << 10 // bytes that are read at once

// window keeps the part of the file that was read last: the end of a search
// stays within it.
type window struct {
	x    *snapshot
	off  int64
	data []byte
}

// lineAfter finds the first line that begins at off or later; nil if none does.
func (w *window) lineAfter(off int64) (start int64, line []byte, err error) {
	start = off
	if off > 0 {
		n, err := w.newline(off - 1)
		if err != nil {
			return 0, nil, err
		}
		start = n + 1
	}
	if start >= w.x.trailer.Bytes {
		return w.x.trailer.Bytes, nil, nil
	}
	end, err := w.newline(start)
	if err != nil {
		return 0, nil, err
	}
	return start, w.data[start-w.off : end-w.off], nil
}

// newline finds the first newline at off or later, and has the file in the
// window from off to there. Windows begin at multiples of their least size, so
// that the last steps of a search find what they need in the one that is there.
func (w *window) newline(off int64) (int64, error) {
	for size := int64(windowSize); size <= 2*maxLine; size *= 2 {
		if off < w.off || off >= w.end() {
			w.data = nil
		} else if n := bytes.IndexByte(w.data[off-w.off:], '\n'); n >= 0 {
			return off + int64(n), nil
		}
		if size <= int64(len(w.data)) {
			continue
		}
		w.off = off - off%windowSize
		w.data = make([]byte, min(size, w.x.trailer.Bytes-w.off))
		if err := w.x.at(w.data, w.off); err != nil {
			return 0, err
		}
	}
	return 0, errIndex
}

func (w *window) end() int64 { return w.off + int64(len(w.data)) }
