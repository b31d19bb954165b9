package logging

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agent/internal/fsx"
)

const (
	fileName = "agent.log"
	lockName = ".agent.log.lock"
	lockWait = 2 * time.Second
	dayForm  = time.DateOnly
	keepDays = 30
	maxSize  = 100 << 20 // bytes of a file
)

// daily is agent.log in a directory. A file whose first record is of an earlier day is
// rotated before anything is written: by whichever process writes first on a day,
// since most of them are too short to see midnight. Another process that has the
// file open notices the new day at its next record.
type daily struct {
	dir string
	now func() time.Time
	max int64 // bytes; a file that is longer is rotated within its day

	mu   sync.Mutex
	day  string // of the file that is open
	size int64
	file *os.File
}

// Write appends one record, to the file of its day.
func (d *daily) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if today := d.now().Format(dayForm); d.file == nil || d.day != today || d.size > d.max {
		if err := d.reopen(today); err != nil {
			return 0, err
		}
	}
	n, err := d.file.Write(p)
	d.size += int64(n)
	return n, err
}

// Close ends the file.
func (d *daily) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.close()
}

func (d *daily) close() (err error) {
	if d.file != nil {
		err = d.file.Close()
		d.file = nil
	}
	return err
}

// reopen goes on with the file that is there if it cannot be rotated: the records matter more.
func (d *daily) reopen(today string) error {
	_ = d.close() // nothing is buffered in it
	_ = d.rotate(today)
	f, err := os.OpenFile(filepath.Join(d.dir, fileName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	d.file, d.day, d.size = f, today, info.Size()
	return nil
}

// rotate moves the file out of the way if it is of an earlier day or too long, and compresses
// it. One process does it while the others wait for their first record.
func (d *daily) rotate(today string) error {
	if day, err := d.due(today); day == "" {
		return err
	}
	lock, err := d.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	day, err := d.due(today)
	if day == "" {
		return err
	}
	name, err := d.free(day)
	if err == nil {
		err = os.Rename(filepath.Join(d.dir, fileName), name)
	}
	if err == nil {
		err = errors.Join(compress(name), d.expire())
	}
	return err
}

// due is the day of the file if it is to be rotated, and "" if not.
func (d *daily) due(today string) (day string, err error) {
	name := filepath.Join(d.dir, fileName)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return "", nil
	}
	if err == nil {
		day, err = dayOf(name)
	}
	if err != nil || day >= today && info.Size() <= d.max {
		return "", err
	}
	return day, nil
}

func (d *daily) lock() (io.Closer, error) {
	disk, err := fsx.OpenOS(d.dir)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockWait); ; time.Sleep(5 * time.Millisecond) {
		lock, err := disk.TryLock(lockName)
		if err == nil || !errors.Is(err, fsx.ErrLocked) || time.Now().After(end) {
			return lock, errors.Join(err, disk.Close())
		}
	}
}

// free is a name for the records of a day that no file has yet, compressed or not.
func (d *daily) free(day string) (string, error) {
	for n := 1; ; n++ {
		name := filepath.Join(d.dir, "agent-"+day+".log")
		if n > 1 {
			name = filepath.Join(d.dir, fmt.Sprintf("agent-%s.%d.log", day, n))
		}
		there, err := filepath.Glob(name + "*")
		if err != nil || len(there) == 0 {
			return name, err
		}
	}
}

// compress replaces a file by its compressed form, which is there whole or not at all.
func compress(name string) (err error) {
	from, err := os.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	half := name + ".gz.tmp"
	to, err := os.OpenFile(half, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(to)
	_, err = io.Copy(z, from)
	if err = errors.Join(err, z.Close(), to.Sync(), to.Close()); err != nil {
		return err
	}
	if err := os.Rename(half, name+".gz"); err != nil {
		return err
	}
	return os.Remove(name)
}

// expire removes what is older than keepDays, by the days in the names.
func (d *daily) expire() error {
	old, err := filepath.Glob(filepath.Join(d.dir, "agent-*.log*"))
	if err != nil {
		return err
	}
	oldest := "agent-" + d.now().AddDate(0, 0, -keepDays).Format(dayForm)
	for _, name := range old {
		if filepath.Base(name) < oldest {
			err = errors.Join(err, os.Remove(name))
		}
	}
	return err
}

// dayOf is the local day of the first record of a file.
func dayOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var first struct{ Time time.Time }
	line, err := bufio.NewReaderSize(f, 64<<10).ReadSlice('\n')
	if err == nil {
		err = json.Unmarshal(line, &first)
	}
	if err == nil && !first.Time.IsZero() {
		return first.Time.Local().Format(dayForm), nil
	}
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return "", fs.ErrNotExist
	}
	return info.ModTime().Format(dayForm), nil
}
