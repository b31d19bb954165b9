package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"agent/forge"
	"agent/internal/fsx"
)

const (
	maxFile   = 8 << 20 // bytes of a task
	maxTries  = 20      // of a write, while people save the same file
	lockTime  = 20 * time.Second
	savedTime = 50 * time.Millisecond // in which an editor may still be writing
)

// file is a task that was read.
type file struct {
	name string
	raw  []byte
	doc  *document
	mode fs.FileMode
	time time.Time
}

// broken is a file that is meant to be a task and cannot be read as one.
type broken struct {
	name string
	err  error
}

func (b broken) Error() string { return b.name + ": " + oneLine(b.err.Error()) }

// tree opens the directory at its first use. It is never made.
func (c *Client) tree() (fsx.FS, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fs != nil {
		return c.fs, nil
	}
	info, err := os.Stat(c.cfg.Directory)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: c.cfg.Directory, Err: syscall.ENOTDIR}
	}
	opened, err := fsx.OpenOS(c.cfg.Directory)
	if err != nil {
		return nil, err // a nil *OS would be no nil FS
	}
	c.fs, c.opened = opened, info
	return opened, nil
}

// read reads one file. What an editor may still be writing is read again.
func (c *Client) read(ctx context.Context, fsys fsx.FS, name string) (file, error) {
	for try := 0; ; try++ {
		info, err := fsys.Lstat(name)
		if err != nil {
			return file{}, err
		}
		raw, err := fsx.ReadFile(fsys, name, maxFile)
		if err != nil {
			return file{}, err
		}
		f := file{name: name, raw: raw, mode: info.Mode().Perm(), time: info.ModTime()}
		if age := time.Since(info.ModTime()); c.cfg.FS == nil && age >= 0 && age < savedTime && try < 3 && !c.wrote(raw) {
			if err := pause(ctx, savedTime-age); err != nil {
				return file{}, err
			}
			continue
		}
		f.doc, err = parse(raw)
		return f, err
	}
}

// all reads all tasks of the directory, sorted by name, and names those that cannot be read.
func (c *Client) all(ctx context.Context, fsys fsx.FS) (tasks []file, bad []broken, err error) {
	entries, err := fsys.ReadDir(".")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".md") || strings.HasPrefix(e.Name(), ".") || e.IsDir() {
			continue
		}
		f, err := c.read(ctx, fsys, e.Name())
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case errors.Is(err, errNoTask) && len(bytes.TrimSpace(f.raw)) > 0, errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, errNoTask):
			bad = append(bad, broken{e.Name(), errors.New("it is empty")}) // an editor may be saving it
		case err != nil:
			bad = append(bad, broken{e.Name(), err})
		default:
			tasks = append(tasks, f)
		}
	}
	tasks, twice := unique(tasks)
	return tasks, append(bad, twice...), nil
}

// unique leaves out files with the same number: nobody can tell which is the task.
func unique(tasks []file) (one []file, bad []broken) {
	named := map[int][]string{}
	for _, f := range tasks {
		named[f.doc.head.Number] = append(named[f.doc.head.Number], f.name)
	}
	for _, f := range tasks {
		if same := named[f.doc.head.Number]; f.doc.head.Number != 0 && len(same) > 1 {
			bad = append(bad, broken{f.name, fmt.Errorf("number %d is also that of another file (%s): remove the line from the copy", f.doc.head.Number, strings.Join(same, ", "))})
			continue
		}
		one = append(one, f)
	}
	return one, bad
}

// errUnsure is a task that was not found among files of which some cannot be read.
var errUnsure = errors.New("unsure")

// find reads the task with a number, from the file that it was in before if it still is.
func (c *Client) find(ctx context.Context, fsys fsx.FS, number int) (file, error) {
	c.mu.Lock()
	name := c.names[number]
	c.mu.Unlock()
	if name != "" {
		if f, err := c.read(ctx, fsys, name); err == nil && f.doc.head.Number == number {
			return f, nil
		}
	}
	for try := 0; ; try++ {
		tasks, bad, err := c.all(ctx, fsys)
		if err != nil {
			return file{}, err
		}
		for _, f := range tasks {
			if f.doc.head.Number == number {
				c.remember(f)
				return f, nil
			}
		}
		switch {
		case len(bad) > 0:
			return file{}, fmt.Errorf("%w: no file has number %d, but not all can be read: %s", errUnsure, number, bad[0])
		case !c.ours(fsys):
			return file{}, fmt.Errorf("%w: no file has number %d, and the agent never worked in this directory: is it the right one?", errUnsure, number)
		case try > 0 || c.cfg.FS != nil: // some editors remove a file before they write it anew
			return file{}, fs.ErrNotExist
		}
		if err := pause(ctx, savedTime); err != nil {
			return file{}, err
		}
	}
}

// ours reports whether the open directory is still the one, and the agent has worked in
// it: one that was removed, or that something is to be mounted on, is empty too.
func (c *Client) ours(fsys fsx.FS) bool {
	if _, err := fsys.Lstat(ignore); err != nil || c.cfg.FS != nil {
		return err == nil
	}
	now, err := os.Stat(c.cfg.Directory)
	if err != nil || !os.SameFile(c.opened, now) {
		c.Close() // the next call opens it anew
		return false
	}
	return true
}

func (c *Client) remember(f file) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names[f.doc.head.Number] = f.name
}

// wrote reports whether bytes are what this client wrote last: then no editor did.
func (c *Client) wrote(raw []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last != nil && bytes.Equal(c.last, raw)
}

// lock keeps other agents from writing, and other goroutines of this one.
func (c *Client) lock(ctx context.Context, fsys fsx.FS) (io.Closer, error) {
	if err := makeSide(fsys); err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockTime); ; {
		held, err := fsys.TryLock(lockFile)
		if !errors.Is(err, fsx.ErrLocked) || time.Now().After(end) {
			return held, err
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// edit changes what a file says. It may run again, on what a person saved meanwhile.
type edit func(*document, *side) error

// update changes a task under the lock: it reads, changes and replaces the file whole.
// If a person saved meanwhile, it begins again. Ids of new comments are given on the way.
func (c *Client) update(ctx context.Context, number int, change edit) (f file, s side, err error) {
	fsys, err := c.tree()
	if err != nil {
		return f, s, err
	}
	if !c.cfg.ReadOnly {
		held, err := c.lock(ctx, fsys)
		if err != nil {
			return f, s, err
		}
		defer held.Close()
	}
	for range maxTries {
		if f, err = c.find(ctx, fsys, number); err != nil {
			return f, s, err
		}
		if s, err = readSide(fsys, number); err != nil {
			return f, s, err
		}
		noted, err := c.adopt(f.doc, &s, f.time)
		if err == nil && change != nil {
			err = change(f.doc, &s)
		}
		if err != nil || c.cfg.ReadOnly {
			return f, s, err
		}
		done, err := c.replace(fsys, &f, func() error {
			if change == nil && !noted {
				return nil
			}
			return writeJSON(fsys, sideFile(number), s)
		})
		if done || err != nil {
			return f, s, err
		}
	}
	return f, s, errors.New("somebody else saves the file again and again")
}

// adopt gives ids and times to the comments that people wrote, and notes their labels.
func (c *Client) adopt(d *document, s *side, saved time.Time) (noted bool, err error) {
	noted = s.observe(d.head.Labels, "", c.now())
	highest := s.Comments
	for _, p := range d.sections {
		highest = max(highest, p.id)
	}
	for i := range d.sections {
		p := d.sections[i]
		if p.id != 0 && !p.created.IsZero() {
			continue
		}
		if p.id == 0 {
			highest++
			p.id = highest
		}
		if p.created.IsZero() {
			p.created = saved.UTC().Truncate(time.Second)
		}
		if err := d.put(p.line, p.line+1, p.headLine()); err != nil {
			return noted, err
		}
	}
	noted = noted || highest != s.Comments
	s.Comments = highest
	return noted, nil
}

// replace writes a file that was changed, unless somebody saved it since it was read.
// What goes with it is written just before.
func (c *Client) replace(fsys fsx.FS, f *file, with func() error) (done bool, err error) {
	data := f.doc.bytes()
	if bytes.Equal(data, f.raw) {
		return true, with()
	}
	if c.before != nil {
		c.before()
	}
	tmp := "." + f.name + fsx.TempSuffix
	if err := writeNew(fsys, tmp, data, f.mode); err != nil {
		_ = fsys.Remove(tmp) // the error that matters is the first
		return false, err
	}
	if now, err := fsx.ReadFile(fsys, f.name, maxFile); err != nil || !bytes.Equal(now, f.raw) {
		return false, fsys.Remove(tmp)
	}
	if err := with(); err != nil {
		return false, err
	}
	if err := fsys.Rename(tmp, f.name); err != nil {
		return false, err
	}
	c.mu.Lock()
	c.last = data
	c.mu.Unlock()
	f.raw = data
	if err := fsys.SyncDir("."); err != nil {
		return false, &forge.Error{Kind: forge.Ambiguous, Message: oneLine(err.Error()), Err: err}
	}
	return true, nil
}

// writeNew writes a file with the permissions of the one that it will replace.
func writeNew(fsys fsx.FS, name string, data []byte, mode fs.FileMode) error {
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // left by a process that was killed
	}
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if chmod, can := fsys.(interface {
		Chmod(string, fs.FileMode) error
	}); can { // the umask took some away
		err = chmod.Chmod(name, mode)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// number gives the next free number to each task that has none.
func (c *Client) number(ctx context.Context, fsys fsx.FS, wanted func(file) bool) error {
	held, err := c.lock(ctx, fsys)
	if err != nil {
		return err
	}
	defer held.Close()
	tasks, _, err := c.all(ctx, fsys)
	if err != nil {
		return err
	}
	return numbered(fsys, tasks, wanted, func(f file) error {
		_, err := c.replace(fsys, &f, func() error { return writeJSON(fsys, lastFile, f.doc.head.Number) }) // one that was saved meanwhile gets its number in the next round
		return err
	})
}

// numbered gives numbers to tasks that have none, in memory, and each to save.
func numbered(fsys fsx.FS, tasks []file, wanted func(file) bool, save func(file) error) error {
	var last int
	if err := readJSON(fsys, lastFile, &last); err != nil {
		return err
	}
	for _, f := range tasks {
		last = max(last, f.doc.head.Number)
	}
	tasks = slices.Clone(tasks)
	slices.SortStableFunc(tasks, func(a, b file) int { return cmp.Or(a.time.Compare(b.time), strings.Compare(a.name, b.name)) })
	for _, f := range tasks {
		if f.doc.head.Number != 0 || !wanted(f) {
			continue
		}
		last++
		if err := f.doc.setNumber(last); err != nil {
			return broken{f.name, err}
		}
		if err := save(f); err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// path is where a file lies, for people.
func (c *Client) path(name string) string { return filepath.Join(c.cfg.Directory, name) }
