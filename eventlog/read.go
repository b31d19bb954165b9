package eventlog

import (
	"bytes"
	"errors"
	"io"
	"iter"
)

// Read yields the valid records of a log from its start, and then at most one
// error: a [*TornError], a [*DamageError] or an error of the reader, which ends
// the sequence. A record is valid if Parse takes its line and seq and prev
// continue the record before. Memory is bounded by MaxLine.
//
// Of a bad last line it is told apart whether a write broke off or something
// changed it. It is torn if it has no newline, if it holds 8 or more NULs in a
// row, or if it starts with a NUL (blocks that never reached the disk read as
// zeros, and no single flipped bit makes such a line). It is damage
// nevertheless if it has no newline but holds a whole valid line followed by
// another byte than NUL: that byte was a newline once. So every flipped bit of
// a log is damage, and every truncation is torn or clean.
func Read(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		rd := reader{frames: frames{r: r}}
		var rec Record
		for {
			err := rd.next(&rec)
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// reader reads a log up to its first bad line.
type reader struct {
	frames
	head   Head
	before Head  // the head without the record that was read last
	off    int64 // where the line after head begins

	unanchored bool // the first valid line may follow any other
}

// next reads one record. io.EOF is the clean end.
func (r *reader) next(rec *Record) error {
	f, err := r.frames.next()
	if err != nil {
		return err
	}
	if f.long {
		return r.damage(errLong)
	}
	bad := r.valid(rec, f.line)
	if bad == nil && f.ended {
		rec.hash, rec.hashed = hash(f.line), true
		r.before, r.head = r.head, Head{Seq: rec.Seq, Hash: rec.hash}
		r.off += f.size
		return nil
	}
	return r.classify(f, bad)
}

// valid parses a line and holds it against the one before.
func (r *reader) valid(rec *Record, line []byte) error {
	if err := parse(rec, line); err != nil {
		return err
	}
	if r.unanchored {
		r.unanchored = false
		r.head = Head{Seq: rec.Seq - 1, Hash: rec.Prev}
	}
	if rec.Seq != r.head.Seq+1 {
		return errSeq
	}
	if rec.Prev != r.head.Hash {
		return errChain
	}
	return nil
}

const (
	errSeq     = lineError("seq does not follow the line before")
	errChain   = lineError("hash does not fit the line before")
	errNewline = lineError("newline after a valid line was changed")
)

// classify tells a torn tail from damage; bad is nil for a valid line that
// lacks only its newline.
func (r *reader) classify(f frame, bad error) error {
	if f.ended {
		more, err := r.more()
		if err != nil {
			return err
		}
		if more || !zeroed(f.line) {
			return r.damage(bad)
		}
	} else if bad != nil && r.holdsValid(f.line) {
		return r.damage(errNewline)
	}
	return &TornError{Seq: r.head.Seq + 1, Offset: r.off, Bytes: f.size}
}

func (r *reader) damage(reason error) error {
	return &DamageError{Seq: r.head.Seq + 1, Offset: r.off, Reason: reason.Error()}
}

// zeroed tells whether a line has holes that were never written.
func zeroed(line []byte) bool {
	return len(line) > 0 && line[0] == 0 || bytes.Contains(line, make([]byte, 8))
}

// holdsValid tells whether a tail begins with the whole next line of the log
// and goes on with something else than its newline or zeros.
func (r *reader) holdsValid(tail []byte) bool {
	var rec Record
	for at := 0; ; {
		i := bytes.Index(tail[at:], []byte(keyCRC))
		at += i + crcLen
		if i < 0 || at >= len(tail) {
			return false
		}
		if tail[at] != 0 && r.valid(&rec, tail[:at]) == nil {
			return true
		}
		at -= crcLen - len(keyCRC)
	}
}

// isVerdict tells whether an error speaks of the log and not of a file.
func isVerdict(err error) bool {
	var torn *TornError
	var damage *DamageError
	return errors.As(err, &torn) || errors.As(err, &damage)
}
