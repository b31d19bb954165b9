package fsx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"
)

var (
	// ErrNotRegular is returned by an open of something that is not a regular
	// file: a link, a FIFO, a device, a directory.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge is returned by [ReadFile].
	ErrTooLarge = errors.New("file is too large")
)

// TempSuffix ends the names of files that [WriteFile] has not renamed yet. One
// that is found without a writer is left over from a crash and may be removed.
const TempSuffix = ".tmp"

// WriteFile replaces name by a file with this content, mode 0600, so that a
// crash leaves the old or the new content and nothing else; nil means durable.
// Two writers of one name must hold a lock.
func WriteFile(fsys FS, name string, data []byte) error {
	tmp := name + TempSuffix
	if err := writeSynced(fsys, tmp, data); err != nil {
		_ = fsys.Remove(tmp) // best effort: the error that matters is the first
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := fsys.Rename(tmp, name); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return fsys.SyncDir(path.Dir(name))
}

func writeSynced(fsys FS, name string, data []byte) error {
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// ReadFile returns the content of a file of at most limit bytes.
func ReadFile(fsys FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, min(info.Size(), limit)+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, &fs.PathError{Op: "read", Path: name, Err: ErrTooLarge}
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// MkdirSync creates a directory and the parents it lacks, mode 0700, and makes
// the names durable.
func MkdirSync(fsys FS, name string) error {
	for dir := range parents(name) {
		// One that exists may be left from a run that was killed before its sync.
		if err := fsys.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := fsys.SyncDir(path.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}

// parents yields a/b/c as a, a/b, a/b/c; the root itself is left out.
func parents(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if name == "." {
			return
		}
		for i := 0; i < len(name); {
			j := strings.IndexByte(name[i:], '/')
			if j < 0 {
				j = len(name) - i
			}
			if !yield(name[:i+j]) {
				return
			}
			i += j + 1
		}
	}
}
