package eventlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"agent/internal/fsx"
)

// ErrNothingValid is returned by [Salvage] for a log without one valid record.
var ErrNothingValid = errors.New("log has no valid record")

// Lost says what a log was cut by.
type Lost struct {
	Head   Head   // the last record that was kept
	Offset int64  // where the lost part began, in bytes
	Bytes  int64  // 0: nothing was wrong and nothing was changed
	Lines  int64  // the last one may be without a newline
	Reason string // of the first bad line
	Copy   string // the file that holds the original log
}

// Salvage cuts a damaged log down to its valid prefix, which is the one thing
// that gives up events that may have been acknowledged: a person asked for it
// and holds the context's lock. The whole original is first copied to
// <quarantine>-whole (see [Open]); then the prefix is written to a new file
// that takes the place of the old one. A torn tail is cut the same way.
func Salvage(fsys fsx.FS, dir, quarantine string) (Lost, error) {
	f, err := open(fsys, dir, os.O_RDONLY)
	if err != nil {
		return Lost{}, err
	}
	defer f.Close()
	lost, err := survey(f)
	if err != nil || lost.Bytes == 0 {
		return lost, err
	}
	if err := cut(fsys, dir, quarantine, f, &lost); err != nil {
		return Lost{}, fmt.Errorf("salvage log: %w", err)
	}
	return lost, nil
}

// survey finds the valid prefix and measures the rest.
func survey(f fsx.File) (Lost, error) {
	rd := reader{frames: frames{r: f}}
	torn, err := rd.all(func(Record) error { return nil })
	var damage *DamageError
	lost := Lost{Head: rd.head, Offset: rd.off}
	switch {
	case errors.As(err, &damage):
		lost.Reason = damage.Reason
		if damage.Offset < rd.off { // the envelope of the last record was good, its data was not
			lost.Offset, lost.Head = damage.Offset, rd.before
		}
	case err != nil:
		return Lost{}, err
	case torn != nil:
		lost.Reason = torn.Error()
	default:
		return lost, nil
	}
	if lost.Head.Seq == 0 {
		return Lost{}, ErrNothingValid
	}
	for line, err := range ReadAll(io.NewSectionReader(f, lost.Offset, 1<<62)) {
		if err != nil {
			return Lost{}, err
		}
		lost.Lines++
		lost.Bytes += line.Size
	}
	return lost, nil
}

func cut(fsys fsx.FS, dir, quarantine string, f fsx.File, lost *Lost) (err error) {
	whole := io.NewSectionReader(f, 0, lost.Offset+lost.Bytes)
	if lost.Copy, err = quarantineBytes(fsys, quarantine+"-whole", whole); err != nil {
		return err
	}
	if err := replace(fsys, dir, io.NewSectionReader(f, 0, lost.Offset)); err != nil {
		return err
	}
	err = fsys.Remove(path.Join(dir, suspectName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, fsys.SyncDir(dir))
}
