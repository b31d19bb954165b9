package mcp

import (
	"bufio"
	"errors"
	"io"
	"sync/atomic"
)

const (
	maxStderrLine = 4 << 10  // bytes handed on of a line
	maxStderr     = 64 << 10 // bytes handed on between two calls
)

// stderrReader hands on a server's standard error, line by line. It never
// stops reading, since a server with a full pipe stands still.
type stderrReader struct {
	line func(string)
	left atomic.Int64
}

func newStderrReader(line func(string)) *stderrReader {
	r := &stderrReader{line: line}
	r.renew()
	return r
}

// renew allows the next maxStderr bytes: a flood of one call must not hide what the next one says.
func (r *stderrReader) renew() { r.left.Store(maxStderr) }

func (r *stderrReader) drain(from io.Reader) {
	in := bufio.NewReaderSize(from, maxStderrLine)
	within := false // a line whose beginning was handed on
	for {
		part, err := in.ReadSlice('\n')
		if len(part) > 0 && !within {
			r.hand(string(part))
		}
		within = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !within {
			return
		}
	}
}

func (r *stderrReader) hand(text string) {
	size := int64(len(text))
	left := r.left.Add(-size)
	switch {
	case left >= 0:
		r.line(oneLine(text))
	case left+size >= 0:
		r.line("further output is dropped until the next call")
	}
}
