package eventlog

import (
	"bytes"
	"io"
)

// Last reads the last line of a log of a size, without looking at its neighbours: it
// says how far the log has come, not that what is before it is whole.
func Last(f io.ReaderAt, size int64) (Record, error) {
	for most := int64(4 << 10); ; most *= 8 { // what a pause ends with is short
		part := make([]byte, min(most, size))
		if _, err := f.ReadAt(part, size-int64(len(part))); err != nil {
			return Record{}, err
		}
		line, ended := bytes.CutSuffix(part, []byte("\n"))
		if !ended {
			return Record{}, errShort
		}
		if begins := bytes.LastIndexByte(line, '\n'); begins >= 0 || int64(len(part)) == size {
			return Parse(line[begins+1:])
		}
		if most > MaxLine {
			return Record{}, errLong
		}
	}
}
