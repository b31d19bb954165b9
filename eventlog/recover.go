package eventlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"

	"agent/internal/fsx"
)

// Open reads a whole log, calls visit for each record (see [Record] for how
// long its slices are valid), and is then ready to append. The caller holds the
// context's lock.
//
// A torn tail is cut and reported as the second result: its bytes are first
// copied to the file named <quarantine>-<offset> (quarantine is a path below
// the root such as ".quarantine/<uuid>"; directories are made, a copy that is
// there already is kept and a number added), all of it durably. Damage is the
// error, a [*DamageError], and changes nothing. An error of visit, or data that
// [CheckData] refuses, stops it too. What was read is synced before Open
// returns, so that nothing is built on records that are in memory only; if a
// sync of this log failed earlier, it is written again to a new file.
func Open(fsys fsx.FS, dir, quarantine string, visit func(Record) error) (*Log, *TornError, error) {
	l, torn, err := openLog(fsys, dir, quarantine, visit)
	if err != nil && !isVerdict(err) {
		err = fmt.Errorf("open log: %w", err)
	}
	return l, torn, err
}

func openLog(fsys fsx.FS, dir, quarantine string, visit func(Record) error) (*Log, *TornError, error) {
	f, err := open(fsys, dir, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, nil, err
	}
	rd := reader{frames: frames{r: f}}
	torn, err := rd.all(visit)
	if err == nil && torn != nil {
		torn.Copy, err = quarantineTail(fsys, f, quarantine, torn)
	}
	if err == nil {
		f, err = settle(fsys, dir, f, rd.off, torn != nil)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return &Log{fsys: fsys, dir: dir, file: f, head: rd.head, size: rd.off}, torn, nil
}

// all visits every record; the torn end of the log is no error here.
func (r *reader) all(visit func(Record) error) (*TornError, error) {
	var rec Record
	for {
		err := r.next(&rec)
		var torn *TornError
		switch {
		case err == io.EOF:
			return nil, nil
		case errors.As(err, &torn):
			return torn, nil
		case err != nil:
			return nil, err
		}
		if err := CheckData(rec.Data); err != nil {
			return nil, &DamageError{Seq: rec.Seq, Offset: r.off - int64(len(rec.Line)) - 1, Reason: err.Error()}
		}
		rec.checked = true
		if err := visit(rec); err != nil {
			return nil, err
		}
	}
}

// settle makes the first size bytes of the log the whole durable log and
// returns its file. The one given is closed if it is not the one returned.
func settle(fsys fsx.FS, dir string, f fsx.File, size int64, cut bool) (fsx.File, error) {
	marker := path.Join(dir, suspectName)
	_, err := fsys.Lstat(marker)
	switch {
	case err == nil:
		return rewrite(fsys, dir, f, size, marker)
	case !errors.Is(err, fs.ErrNotExist):
		return f, err
	}
	if cut {
		if err := f.Truncate(size); err != nil {
			return f, err
		}
	}
	return f, errors.Join(f.Sync(), fsys.SyncDir(dir))
}

// rewrite replaces the log by a new file with the same records: after a failed
// sync the old file's pages may count as clean without being on the disk.
func rewrite(fsys fsx.FS, dir string, f fsx.File, size int64, marker string) (fsx.File, error) {
	if err := replace(fsys, dir, io.NewSectionReader(f, 0, size)); err != nil {
		return f, err
	}
	if err := errors.Join(fsys.Remove(marker), fsys.SyncDir(dir)); err != nil {
		return f, err
	}
	fresh, err := open(fsys, dir, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return f, err
	}
	f.Close()
	return fresh, nil
}

// replace puts a durable new log in the place of the old one.
func replace(fsys fsx.FS, dir string, content io.Reader) error {
	name := path.Join(dir, FileName)
	if err := copySynced(fsys, name+fsx.TempSuffix, content); err != nil {
		return err
	}
	if err := fsys.Rename(name+fsx.TempSuffix, name); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

// copySynced writes a file of any size and syncs it.
func copySynced(fsys fsx.FS, name string, content io.Reader) error {
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	// The wrapper keeps io.Copy from handing the file to the reader piecemeal.
	if _, err = io.CopyBuffer(struct{ io.Writer }{f}, struct{ io.Reader }{content}, make([]byte, firstBuffer)); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// quarantineTail copies the torn bytes to a new file and returns its name.
func quarantineTail(fsys fsx.FS, f fsx.File, prefix string, torn *TornError) (string, error) {
	return quarantineBytes(fsys, fmt.Sprintf("%s-%d", prefix, torn.Offset), io.NewSectionReader(f, torn.Offset, torn.Bytes))
}

func quarantineBytes(fsys fsx.FS, name string, content io.Reader) (string, error) {
	if err := fsx.MkdirSync(fsys, path.Dir(name)); err != nil {
		return "", err
	}
	free := name
	for i := 1; ; i++ {
		_, err := fsys.Lstat(free)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", err
		}
		free = fmt.Sprintf("%s.%d", name, i)
	}
	if err := copySynced(fsys, free+fsx.TempSuffix, content); err != nil {
		return "", err
	}
	if err := fsys.Rename(free+fsx.TempSuffix, free); err != nil {
		return "", err
	}
	return free, fsys.SyncDir(path.Dir(free))
}

// Restore puts a durable log of lines that another copy holds in the place of the one that
// is in a directory, if any, which goes to the file named quarantine as with [Open]. The
// lines come without newlines and must be a whole valid log, else nothing changes.
func Restore(fsys fsx.FS, dir, quarantine string, lines iter.Seq2[[]byte, error]) error {
	name := path.Join(dir, FileName)
	tmp := name + fsx.TempSuffix
	if err := copyLines(fsys, tmp, lines); err != nil {
		return fmt.Errorf("restore log: %w", err)
	}
	old, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err == nil {
		_, err = quarantineBytes(fsys, quarantine, io.NewSectionReader(old, 0, 1<<62))
		err = errors.Join(err, old.Close())
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = fsys.Rename(tmp, name)
	}
	if err != nil {
		_ = fsys.Remove(tmp) // best effort: the next one begins it anew
		return fmt.Errorf("restore log: %w", err)
	}
	return fsys.SyncDir(dir)
}

// copyLines writes lines that are a log to a new file, durably.
func copyLines(fsys fsx.FS, name string, lines iter.Seq2[[]byte, error]) error {
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	var rec Record
	var valid reader
	buf := make([]byte, 0, 2*firstBuffer)
	for line, err := range lines {
		if err == nil {
			err = valid.valid(&rec, line)
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
		valid.head = Head{Seq: rec.Seq, Hash: hash(line)}
		if buf = append(append(buf, line...), '\n'); len(buf) < firstBuffer {
			continue
		}
		if _, err := f.Write(buf); err != nil {
			return errors.Join(err, f.Close())
		}
		buf = buf[:0]
	}
	_, err = f.Write(buf)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Extend adds lines that another copy holds to a log, if they follow its last line, and
// tells whether they do. What it wrote is durable with the next [Open].
func Extend(fsys fsx.FS, dir string, lines [][]byte) (follows bool, err error) {
	f, err := open(fsys, dir, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	last, err := Last(f, info.Size())
	if err != nil {
		return false, nil // torn or damaged: the caller restores it
	}
	var rec Record
	var buf []byte
	valid := reader{head: HeadOf(last)}
	for _, line := range lines {
		if valid.valid(&rec, line) != nil {
			return false, nil
		}
		valid.head = Head{Seq: rec.Seq, Hash: hash(line)}
		buf = append(append(buf, line...), '\n')
	}
	n, err := f.Write(buf)
	if err == nil && n != len(buf) {
		err = io.ErrShortWrite
	}
	return err == nil, err
}
