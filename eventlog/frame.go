package eventlog

import (
	"bytes"
	"errors"
	"io"
)

// Most logs that are read by the hundred are short: those of contexts that wait.
const (
	shortBuffer = 4 << 10
	firstBuffer = 64 << 10 // of a log that does not fit into a short one
)

// frames cuts a stream into lines. It holds at most one line in memory; of a
// line longer than MaxLine it keeps nothing.
type frames struct {
	r          io.Reader
	buf        []byte
	start, end int // the bytes of buf that were read and not consumed
	eof        bool
}

// frame is one piece of the stream.
type frame struct {
	line  []byte // without the newline, valid until the next frame; nil if long
	size  int64  // bytes in the stream, newline included
	ended bool   // by a newline
	long  bool   // more than MaxLine bytes
}

// next returns the next frame, or io.EOF when there is none. The reader has
// consumed a long line only as far as it had to; skip drops the rest of it.
func (f *frames) next() (frame, error) {
	for seen := 0; ; {
		window := f.buf[f.start:f.end]
		if i := bytes.IndexByte(window[seen:], '\n'); i >= 0 && seen+i < MaxLine {
			n := seen + i
			f.start += n + 1
			return frame{line: window[:n:n], size: int64(n) + 1, ended: true}, nil
		}
		switch seen = len(window); {
		case seen >= MaxLine:
			return frame{long: true}, nil
		case f.eof && seen == 0:
			return frame{}, io.EOF
		case f.eof:
			f.start = f.end
			return frame{line: window[:seen:seen], size: int64(seen)}, nil
		}
		if err := f.fill(); err != nil {
			return frame{}, err
		}
	}
}

// more tells whether anything follows what was consumed.
func (f *frames) more() (bool, error) {
	for f.start == f.end && !f.eof {
		if err := f.peek(); err != nil {
			return false, err
		}
	}
	return f.start < f.end, nil
}

// skip consumes the rest of a long line and returns how much that was.
func (f *frames) skip() (fr frame, err error) {
	fr.long = true
	for {
		if i := bytes.IndexByte(f.buf[f.start:f.end], '\n'); i >= 0 {
			f.start += i + 1
			fr.size += int64(i) + 1
			fr.ended = true
			return fr, nil
		}
		fr.size += int64(f.end - f.start)
		f.start, f.end = 0, 0
		if f.eof {
			return fr, nil
		}
		if err := f.fill(); err != nil {
			return fr, err
		}
	}
}

// fill makes room and reads once.
func (f *frames) fill() error {
	into := f.buf
	if f.end == len(f.buf) && (f.start == 0 || len(f.buf) < firstBuffer) {
		into = make([]byte, f.larger())
	}
	f.start, f.end, f.buf = 0, copy(into, f.buf[f.start:f.end]), into
	return f.read(f.buf[f.end:])
}

// larger is the size of the next buffer.
func (f *frames) larger() int {
	switch n := len(f.buf); {
	case n == 0:
		return shortBuffer
	case n < firstBuffer:
		return firstBuffer
	default:
		return min(2*n, MaxLine)
	}
}

// peek reads behind the last line, which its frame still points to.
func (f *frames) peek() error {
	if f.end == len(f.buf) {
		f.buf = make([]byte, max(len(f.buf), firstBuffer))
		f.start, f.end = 0, 0
	}
	return f.read(f.buf[f.end:])
}

func (f *frames) read(into []byte) error {
	n, err := f.r.Read(into)
	f.end += n
	if errors.Is(err, io.EOF) {
		f.eof = true
		return nil
	}
	return err
}
