package workspace

import "bytes"

// folder hands on what a terminal would show in the end: without escape sequences,
// and of a line that was written over and over the last form.
type folder struct {
	line    []byte
	state   byte // what is being skipped: 0 nothing, or one of the states below
	returns bool // a carriage return came, whose line is written over unless a line end follows
	out     func(line []byte)
}

const (
	escape  = 'e' // after ESC
	control = '[' // in a control sequence
	title   = ']' // in an operating system command
	ending  = '\\'
)

// longestFolded bounds a line that is kept back.
const longestFolded = 64 << 10

func (f *folder) Write(p []byte) (int, error) {
	for _, c := range p {
		if f.state != 0 {
			f.skip(c)
			continue
		}
		f.take(c)
	}
	return len(p), nil
}

func (f *folder) take(c byte) {
	switch {
	case c == 0x1b:
		f.state = escape
	case c == '\n':
		f.returns = false
		f.flush(true)
	case c == '\r':
		f.returns = true
	case c == '\b' && len(f.line) > 0:
		f.line = f.line[:len(f.line)-1]
	case c < ' ' && c != '\t':
	default:
		if f.returns {
			f.line, f.returns = f.line[:0], false
		}
		if f.line = append(f.line, c); len(f.line) >= longestFolded {
			f.flush(false)
		}
	}
}

// skip goes on with an escape sequence.
func (f *folder) skip(c byte) {
	switch {
	case f.state == escape && (c == control || c == title):
		f.state = c
	case f.state == escape && bytes.IndexByte([]byte("PX^_"), c) >= 0:
		f.state = title
	case f.state == escape && c >= ' ' && c <= '/': // one of more letters
	case f.state == control && (c < '@' || c > '~'):
	case f.state == title && c == 0x1b:
		f.state = ending
	case f.state == title && c != 0x07:
	default:
		f.state = 0
	}
	if c == '\n' && f.state != 0 { // no sequence holds one: it was cut
		f.state = 0
		f.flush(true)
	}
}

// flush hands on the line; with end it is whole.
func (f *folder) flush(end bool) {
	if end {
		f.line = append(f.line, '\n')
	}
	if len(f.line) > 0 {
		f.out(f.line)
	}
	f.line = f.line[:0]
}
