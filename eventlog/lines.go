package eventlog

import (
	"errors"
	"io"
	"iter"
)

// Line is one line of a log that may be damaged.
type Line struct {
	Offset int64  // bytes from the start of the log
	Size   int64  // in bytes, with the newline if there is one
	Raw    []byte // without the newline, valid until the next line; nil if the line is longer than MaxLine
	// Record is set (its Line is not nil) if the line alone is valid, which it
	// may be although Err says that it does not follow the line before.
	Record Record
	// Err is nil for a valid line in its place, else a [*DamageError] or, for
	// the last line only, a [*TornError].
	Err error
}

// ReadAll yields every line of a log, good or bad, for those who look around
// damage; [Read] is for those who rely on what they read. After a bad line the
// next line that is valid by itself is what the one after it has to follow.
// The error is one of the reader and ends the sequence. Memory is bounded by MaxLine.
func ReadAll(r io.Reader) iter.Seq2[Line, error] {
	return eachLine(&reader{frames: frames{r: r}})
}

func eachLine(rd *reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for {
			line, err := rd.line()
			if err == io.EOF {
				return
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// line reads one line and goes on behind it whatever it is.
func (r *reader) line() (Line, error) {
	f, err := r.frames.next()
	if err != nil {
		return Line{}, err
	}
	if f.long {
		return r.longLine()
	}
	line := Line{Offset: r.off, Size: f.size, Raw: f.line}
	bad := r.valid(&line.Record, f.line)
	if bad != nil || !f.ended {
		line.Err = r.classify(f, bad)
		if !isVerdict(line.Err) {
			return Line{}, line.Err
		}
	}
	r.off += f.size
	if bad != nil && !errors.Is(bad, errSeq) && !errors.Is(bad, errChain) {
		line.Record = Record{}
		r.head.Seq++ // the best guess for the name of the next line
		r.head.Hash = hash(f.line)
		return line, nil
	}
	r.head = Head{Seq: line.Record.Seq, Hash: hash(f.line)}
	return line, nil
}

func (r *reader) longLine() (Line, error) {
	err := r.damage(errLong)
	f, ioErr := r.skip()
	line := Line{Offset: r.off, Size: f.size, Err: err}
	r.off += f.size
	r.head.Seq++
	return line, ioErr
}
