package eventlog

import (
	"bytes"
	"errors"
	"io"
	"iter"
)

// near is within how many bytes a search ends: to read them all costs less than to divide them again.
const near = 128 << 10

// Search gives the offset of a line of a log, not far before the first one for
// which before is false. before must be true of a beginning of the log and false
// of the rest. Few lines are read, so that also a large log answers at once;
// what is damaged on the way is passed over.
func Search(r io.ReaderAt, size int64, before func(Record) bool) (offset int64, err error) {
	lo, hi := int64(0), size // lines that begin in [lo, hi) are not decided; one begins at lo
	for hi-lo > near {
		mid := lo + (hi-lo)/2
		rec, at, end, err := lineAfter(r, mid, hi)
		switch {
		case errors.Is(err, io.EOF):
			hi = mid
		case err != nil:
			return 0, err
		case before(rec):
			lo = end
		default:
			hi = at
		}
	}
	return lo, nil
}

// lineAfter gives the first valid line that begins after mid and before hi, and
// where it begins and ends. io.EOF: there is none.
func lineAfter(r io.ReaderAt, mid, hi int64) (rec Record, at, end int64, err error) {
	f := frames{r: io.NewSectionReader(r, mid, hi-mid+MaxLine)}
	for at = mid; ; {
		line, err := f.next()
		if err != nil {
			return rec, 0, 0, err
		}
		if line.long {
			skipped, err := f.skip()
			if err != nil {
				return rec, 0, 0, err
			}
			at += skipped.size
			continue
		}
		if at >= hi || !line.ended {
			return rec, 0, 0, io.EOF
		}
		if at > mid && parse(&rec, bytes.Clone(line.line)) == nil { // the first piece is the end of some line
			return rec, at, at + line.size, nil
		}
		at += line.size
	}
}

// ReadAllFrom is [ReadAll] from an offset that [Search] gave: what the first line
// follows is not checked.
func ReadAllFrom(r io.Reader, offset int64) iter.Seq2[Line, error] {
	return eachLine(&reader{frames: frames{r: r}, off: offset, unanchored: offset > 0})
}
