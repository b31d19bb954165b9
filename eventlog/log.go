package eventlog

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"syscall"

	"agent/internal/fsx"
)

// suspectName is a marker beside the log: a sync of it has failed, so what can
// be read of it may be in memory only.
const suspectName = FileName + ".suspect"

// Log is a log open for appending. It is used by one goroutine at a time, and
// its opener holds the lock of the context as long as it is open.
type Log struct {
	fsys fsx.FS
	dir  string
	file fsx.File
	head Head
	size int64
	buf  []byte
	rec  Record
	bad  error // the first error of a write or a sync
	also Replica
}

// Replica is a second copy of a log.
type Replica interface {
	// Send begins to append a line, without its newline, which is valid until wait
	// returned. With a nil error of wait the line is durable there.
	Send(seq uint64, line []byte) (wait func() error)
}

// Replicate lets a replica have each further line. A line is acknowledged when it is
// durable in both; the two wait at the same time.
func (l *Log) Replicate(r Replica) { l.also = r }

// Create makes an empty log in a directory that has none, durably. An empty log
// holds no event: until the first Append its directory is not a context.
func Create(fsys fsx.FS, dir string) (*Log, error) {
	f, err := fsys.OpenFile(path.Join(dir, FileName), os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create log: %w", err)
	}
	if err := errors.Join(f.Sync(), fsys.SyncDir(dir)); err != nil {
		f.Close()
		return nil, fmt.Errorf("create log: %w", err)
	}
	return &Log{fsys: fsys, dir: dir, file: f}, nil
}

// Append writes one event and makes it durable. The record, whose slices are
// valid until the next Append, is acknowledged if and only if the error is nil.
// ErrDraft and ErrTooLong leave the log usable. Any other error poisons it: the
// first call returns the cause, later ones ErrPoisoned.
func (l *Log) Append(d Draft) (Record, error) {
	if l.bad != nil {
		return Record{}, ErrPoisoned
	}
	line, err := AppendLine(l.buf[:0], l.head.Seq+1, l.head.Hash, d)
	if err != nil {
		return Record{}, err
	}
	if err := parse(&l.rec, line); err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrDraft, err)
	}
	l.buf = append(line, '\n')
	if err := l.write(); err != nil {
		return Record{}, fmt.Errorf("append to log: %w", err)
	}
	l.head = Head{Seq: l.head.Seq + 1, Hash: hash(line)}
	l.size += int64(len(l.buf))
	return l.rec, nil
}

// write waits for the replica in any case: what it took is then in the log as well, or the
// next one to open it finds the difference.
func (l *Log) write() error {
	if l.also == nil {
		return l.writeHere()
	}
	wait := l.also.Send(l.head.Seq+1, l.buf[:len(l.buf)-1])
	err := l.writeHere()
	if failed := wait(); err == nil && failed != nil {
		l.poison(failed, false)
		err = failed
	}
	return err
}

func (l *Log) writeHere() error {
	n, err := l.file.Write(l.buf)
	if err == nil && n != len(l.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		l.poison(err, !isFull(err))
		return err
	}
	if err := l.file.Sync(); err != nil {
		l.poison(err, true)
		return err
	}
	return nil
}

// poison ends the use of the log. After a failed sync nobody can tell which of
// the readable bytes are on the disk, so a marker makes the next Open write
// them again. (A full disk needs none: what was synced before is on it.)
func (l *Log) poison(err error, suspect bool) {
	l.bad = err
	if !suspect {
		return
	}
	// Best effort: the disk that failed is asked once more.
	if f, err := l.fsys.OpenFile(path.Join(l.dir, suspectName), os.O_WRONLY|os.O_CREATE, 0o600); err == nil {
		_ = f.Sync()
		_ = f.Close()
		_ = l.fsys.SyncDir(l.dir)
	}
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// Head names the last acknowledged record; it is zero for an empty log.
func (l *Log) Head() Head { return l.head }

// Size is the length of the log in bytes.
func (l *Log) Size() int64 { return l.size }

// Reopen gives a log that was opened before its new directory. It reads no more than the
// last line: the others were read when it was opened. It is damage if that is another one
// now, or stands elsewhere.
func (l *Log) Reopen(dir string) error {
	f, err := open(l.fsys, dir, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	err = l.endsAs(f)
	if err == nil {
		err = errors.Join(f.Sync(), l.fsys.SyncDir(dir))
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.dir, l.file = dir, f
	return nil
}

func (l *Log) endsAs(f fsx.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	damage := &DamageError{Seq: l.head.Seq, Offset: l.size, Reason: "somebody else wrote to it"}
	if info.Size() != l.size {
		return damage
	}
	if last, err := Last(f, l.size); err != nil || HeadOf(last) != l.head {
		return damage
	}
	return nil
}

// Close closes the file. Everything acknowledged is durable already.
func (l *Log) Close() error { return l.file.Close() }

// ReadFile reads the log of a directory, archived or not, as [Read] does. It takes no lock and
// writes nothing, so a torn tail may be an event that is just being appended.
// What is not a regular file is damage; other names of it (hard links, as
// backups make them) are none.
func ReadFile(fsys fsx.FS, dir string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		f, err := OpenRead(fsys, dir)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer f.Close()
		Read(f)(yield)
	}
}

// open opens the log file if it is one that a log may be in.
func open(fsys fsx.FS, dir string, flag int) (fsx.File, error) {
	f, err := fsys.OpenFile(path.Join(dir, FileName), flag, 0)
	if errors.Is(err, fsx.ErrNotRegular) {
		return nil, &DamageError{Seq: 1, Reason: "not a regular file"}
	}
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return f, nil
}
