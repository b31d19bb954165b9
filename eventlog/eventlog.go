// Package eventlog is an append-only log of JSON lines that knows when it was damaged.
//
// It knows nothing of agents: an event here is a type, a version, a cause and
// one JSON value. The vocabulary is in package event.
//
// A line is
//
//	{"seq":17,"time":"2026-11-27T20:41:48.123456Z","type":"llm.replied","v":1,"cause":16,"data":{…},"prev":"<16 hex>","crc":"<8 hex>"}
//
// with exactly this field order and no spaces outside data, ended by one
// newline. seq counts 1, 2, 3 … without gaps. cause is the seq of the intent an
// outcome belongs to, or 0. crc is the CRC-32C of the raw bytes before `,"crc"`.
// prev is the first 16 hex digits of the SHA-256 of the previous whole line
// without its newline (16 zeros for the first): a hash chain. Lines are at most
// [MaxLine] bytes including the newline.
//
// Invariants: one event is one write and one fsync; an event is acknowledged
// when both returned nil; after any error of a write or an fsync the log is
// poisoned and accepts nothing more.
//
// What a reader finds behind the last valid line is judged by [Read]: a torn
// tail (no newline, or blocks that were never written) was not acknowledged and
// may be cut by the holder of the lock, who keeps a copy ([Open]). Anything else
// is damage ([DamageError]) and is never cut, except by [Salvage] when a person
// asks for it. The form of the envelope is fixed: other keys, another order or
// case, spaces, CRLF and a byte order mark are damage; data may hold any keys.
// The chain cannot show that whole lines are missing at the end (an old copy of
// the file): keep the [Head] elsewhere and compare.
//
// After a failed fsync the pages of the file may be gone without being on the
// disk. A marker file beside the log, events.jsonl.suspect, makes the next Open
// write the valid records to a new file before anything builds on them. It is
// made as well as the failing disk allows.
package eventlog

import (
	"errors"
	"fmt"
	"time"
)

const (
	// FileName is the name of the log in a context's directory.
	FileName = "events.jsonl"
	// MaxLine is the longest line in bytes, newline included.
	MaxLine = 1 << 20
	// TimeLayout is the form of the time field: UTC, microseconds, fixed width.
	TimeLayout = "2006-01-02T15:04:05.000000Z"
)

var (
	// ErrPoisoned is returned by every append after one that failed.
	ErrPoisoned = errors.New("log is poisoned by an earlier I/O error")
	// ErrTooLong is returned for an event that would pass MaxLine; nothing was written and the log stays usable.
	ErrTooLong = errors.New("event is longer than a line may be")
	// ErrDraft is returned for an event that has no valid line; nothing was written and the log stays usable.
	ErrDraft = errors.New("event cannot be written")
)

// Draft is an event that has no place in a log yet.
type Draft struct {
	Time  time.Time
	Type  string // lower case ASCII, digits, dots and underscores
	V     int    // version of the shape of Data, 1 or more
	Cause uint64
	Data  []byte // one compact JSON object
}

// Record is one line of a log. Its byte slices are valid until the next record
// is read; keep them with Clone.
type Record struct {
	Seq   uint64
	Time  []byte // in TimeLayout
	Type  []byte
	V     int
	Cause uint64
	Data  []byte
	Prev  uint64 // the 16 hex digits as a number
	CRC   uint32
	Line  []byte // the whole line without its newline

	hash    uint64 // of Line, if hashed
	hashed  bool
	checked bool
}

// Checked tells whether [CheckData] has passed the data of the record already.
func (r Record) Checked() bool { return r.checked }

// Head names the last line of a log.
type Head struct {
	Seq  uint64 `json:"seq"`
	Hash uint64 `json:"hash"` // first 8 bytes of the SHA-256 of the line, what the next line's prev must be
}

// DamageError says that a log holds a line that cannot be right. Everything
// before Offset is valid.
type DamageError struct {
	Seq    uint64 // the seq the bad line should have had
	Offset int64  // bytes from the start of the log
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("log is damaged at seq %d (byte %d): %s", e.Seq, e.Offset, e.Reason)
}

// TornError says that the log ends in the middle of a write. Everything before
// Offset is valid; the bytes after it were never acknowledged.
type TornError struct {
	Seq    uint64 // the seq the torn line would have had
	Offset int64
	Bytes  int64
	Copy   string // the file with the bytes, if they were cut
}

func (e *TornError) Error() string {
	return fmt.Sprintf("log has a torn tail of %d bytes after seq %d", e.Bytes, e.Seq-1)
}

// HeadOf names a line, which is the last one of a log that ends with it.
func HeadOf(r Record) Head {
	if r.hashed {
		return Head{Seq: r.Seq, Hash: r.hash}
	}
	return Head{Seq: r.Seq, Hash: hash(r.Line)}
}
