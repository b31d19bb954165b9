package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Why a file is not saved.
const (
	Secret     = "secret"     // it holds a configured secret value
	TooLarge   = "too_large"  // it has more than the largest number of bytes
	Unreadable = "unreadable" // the system does not let us read it
	Nested     = "repository" // a repository inside of the copy
	Special    = "special"    // a FIFO, socket or device
	BadName    = "name"       // git takes no file of that name, or it lies too deep
)

// NotSaved is a path whose content is not in a saved tree. If an earlier one is
// known the tree holds that.
type NotSaved struct{ Path, Reason string }

// maxChanged bounds the files of a save that have changed.
const maxChanged = 200_000

var errTooMany = fmt.Errorf("more than %d files have changed", maxChanged)

// scanned is what differs from the last tree.
type scanned struct {
	changes map[string]*Entry // nil: it is gone
	blobs   map[string]object // contents that were read, by name
	not     []NotSaved
}

// candidate is a file or link that may have changed.
type candidate struct {
	path  string
	seen  stamp
	known Entry // in the last tree; the zero entry is none
	cache *cacheDir
}

func (c candidate) base() string { return c.path[strings.LastIndexByte(c.path, '/')+1:] }

// cacheDir remembers what the files of a directory held when they were last read. What
// is gone may stay in it.
type cacheDir struct {
	files map[string]cached
	dirs  map[string]*cacheDir
}

type cached struct {
	stamp
	name   string // of the content; empty: it is not saved
	reason string // why not
}

func newCacheDir() *cacheDir { return &cacheDir{map[string]cached{}, map[string]*cacheDir{}} }

func (c *cacheDir) sub(name string) *cacheDir {
	if c.dirs[name] == nil {
		c.dirs[name] = newCacheDir()
	}
	return c.dirs[name]
}

// scan finds what of all files that git would add differs from the last tree.
func (c *Copy) scan(ctx context.Context, without func([]string) []string) (*scanned, error) {
	root, err := openRoot(c.Dir)
	if err != nil {
		return nil, err
	}
	defer root.close()
	if c.cache == nil {
		c.cache = newCacheDir()
	}
	w := newWalker(ctx)
	err = w.walk(root, level{last: c.last, cache: c.cache})
	if err = errors.Join(err, w.wait()); err != nil {
		return nil, err
	}
	found := &scanned{changes: map[string]*Entry{}, blobs: map[string]object{}, not: w.not}
	for _, path := range w.gone {
		found.changes[path] = nil
	}
	return found, c.examine(ctx, root, found, c.wanted(w.candidates, without))
}

// walker reads directories, some at the same time.
type walker struct {
	ctx  context.Context
	free chan struct{} // one for each directory more that may be read at the same time
	done sync.WaitGroup

	sync.Mutex
	err        error
	candidates []candidate
	gone       []string
	not        []NotSaved
}

func newWalker(ctx context.Context) *walker {
	return &walker{ctx: ctx, free: make(chan struct{}, min(runtime.NumCPU(), 8)-1)}
}

func (w *walker) wait() error {
	w.done.Wait()
	return w.err
}

func (w *walker) leave(path, reason string) {
	w.Lock()
	defer w.Unlock()
	w.not = append(w.not, NotSaved{path, reason})
}

func (w *walker) vanished(paths ...string) {
	w.Lock()
	defer w.Unlock()
	w.gone = append(w.gone, paths...)
}

func (w *walker) found(c candidate) error {
	w.Lock()
	defer w.Unlock()
	if w.candidates = append(w.candidates, c); len(w.candidates) > maxChanged {
		return errTooMany
	}
	return nil
}

// level is a directory of the copy on the way down.
type level struct {
	prefix   string // its path, with a slash
	above    []rules
	last     *Tree // what the last tree has in it, or nil
	cache    *cacheDir
	excluded bool // only what last has counts
}

func (w *walker) walk(d directory, p level) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	names, err := d.names()
	if err != nil {
		return err
	}
	if !p.excluded {
		p.above = withIgnore(d, p.prefix, p.above)
	}
	if p.last == nil {
		p.last = &Tree{}
	}
	left := len(p.last.files) + len(p.last.dirs) // entries of the last tree that were not met yet
	for _, name := range names {
		if name == ".git" {
			continue
		}
		met, err := w.visit(d, &p, name)
		if err != nil {
			return err
		}
		left -= met
	}
	if left > 0 {
		w.missing(p, names)
	}
	return nil
}

// missing notes what the last tree has and the directory has not.
func (w *walker) missing(p level, names []string) {
	there := make(map[string]bool, len(names))
	for _, name := range names {
		there[name] = true
	}
	for name := range p.last.files {
		if !there[name] {
			w.vanished(p.prefix + name)
		}
	}
	for name, d := range p.last.dirs {
		if !there[name] {
			w.vanished(d.paths(p.prefix + name + "/")...)
		}
	}
}

func (t *Tree) paths(prefix string) (all []string) {
	t.walk(prefix, func(path string, _ Entry) { all = append(all, path) })
	return all
}

// withIgnore adds the rules of a directory.
func withIgnore(d directory, prefix string, above []rules) []rules {
	seen, err := d.stat(".gitignore")
	if err != nil || !seen.isRegular() {
		return above // git does not follow a link here either
	}
	text, err := d.read(".gitignore", seen, maxIgnore)
	if err != nil {
		return above
	}
	return append(above[:len(above):len(above)], parseIgnore(prefix, text))
}

// visit looks at a name. met is how many entries of the last tree were dealt with.
func (w *walker) visit(d directory, p *level, name string) (met int, err error) {
	known, tracked := p.last.files[name]
	below := p.last.dirs[name]
	if tracked || below != nil {
		met = 1
	}
	if known.Mode == ModeSubmodule {
		return met, nil // whatever is in it is another repository's
	}
	seen, err := d.stat(name)
	switch {
	case errors.Is(err, fs.ErrPermission):
		w.leave(p.prefix+name, Unreadable)
		return met, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return met, err
	case err == nil && seen.isDir():
		if tracked {
			w.vanished(p.prefix + name)
		}
		return met, w.enter(d, p, name, below)
	}
	if below != nil {
		w.vanished(below.paths(p.prefix + name + "/")...)
	}
	if err != nil {
		if tracked {
			w.vanished(p.prefix + name)
		}
		return met, nil
	}
	if old, ok := p.cache.files[name]; tracked && ok && old.stamp == seen && known == (Entry{seen.gitMode(), old.name}) {
		return met, nil
	}
	path := p.prefix + name
	switch {
	case !tracked && (p.excluded || ignored(p.above, path, false)):
		return met, nil
	case !seen.isRegular() && !seen.isLink():
		w.leave(path, Special)
	case !plainName(name) || tooDeep(path):
		w.leave(path, BadName)
	default:
		return met, w.found(candidate{path, seen, known, p.cache})
	}
	if tracked {
		w.vanished(path)
	}
	return met, nil
}

// enter goes into a directory. Of one that is excluded only files count that are
// in the last tree already.
func (w *walker) enter(d directory, p *level, name string, below *Tree) error {
	path := p.prefix + name
	excluded := p.excluded || ignored(p.above, path, true)
	if excluded && below == nil {
		return nil
	}
	if !plainName(name) || tooDeep(path+"/") {
		w.leave(path+"/", BadName)
		return nil
	}
	sub, err := d.sub(name)
	switch {
	case errors.Is(err, fs.ErrPermission):
		w.leave(path+"/", Unreadable)
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		if below != nil { // it was replaced since it was looked at
			w.vanished(below.paths(path + "/")...)
		}
		return nil
	case err != nil:
		return err
	}
	if _, err := sub.stat(".git"); err == nil {
		w.leave(path+"/", Nested)
		excluded = true
	}
	next := level{path + "/", p.above, below, p.cache.sub(name), excluded}
	if excluded && below == nil {
		sub.close()
		return nil
	}
	select {
	case w.free <- struct{}{}:
		w.done.Go(func() {
			defer func() { <-w.free }()
			defer sub.close()
			if err := w.walk(sub, next); err != nil {
				w.Lock()
				defer w.Unlock()
				w.err = errors.Join(w.err, err)
			}
		})
		return nil
	default:
		defer sub.close()
		return w.walk(sub, next)
	}
}
