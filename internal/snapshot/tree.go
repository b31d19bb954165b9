package snapshot

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Modes of entries in trees.
const (
	ModeFile      = "100644"
	ModeProgram   = "100755"
	ModeLink      = "120000"
	ModeSubmodule = "160000"
	modeDir       = "40000"
)

// Entry is a file, link or submodule of a tree.
type Entry struct {
	Mode string
	Name string // of its content, or of the submodule's commit
}

// Tree is a directory with what is below it. It never changes; trees share what is
// the same in them.
type Tree struct {
	format int
	files  map[string]Entry
	dirs   map[string]*Tree
	name   string
	data   []byte // as git has it
	absent bool   // it is not stored: only its name is known
}

func newTree(format int, files map[string]Entry, dirs map[string]*Tree) *Tree {
	t := &Tree{format: format, files: files, dirs: dirs}
	type line struct{ key, mode, base, name string }
	lines := make([]line, 0, len(files)+len(dirs))
	for base, e := range files {
		lines = append(lines, line{base, e.Mode, base, e.Name})
	}
	for base, d := range dirs {
		lines = append(lines, line{base + "/", modeDir, base, d.name})
	}
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.key, b.key) })
	var out bytes.Buffer
	for _, l := range lines {
		name, _ := hex.DecodeString(l.name)
		out.WriteString(l.mode + " " + l.base + "\x00")
		out.Write(name)
	}
	t.data = out.Bytes()
	t.name = nameOf(format, kindTree, t.data)
	return t
}

// NewTree makes the tree of these paths.
func NewTree(format int, entries map[string]Entry) *Tree {
	changes := make(map[string]*Entry, len(entries))
	for path, e := range entries {
		changes[path] = &e
	}
	return newTree(format, nil, nil).With(changes)
}

// Name is the tree's name in git.
func (t *Tree) Name() string { return t.name }

// Absent reports whether nothing but the name of the tree is known.
func (t *Tree) Absent() bool { return t.absent }

// Whole reports whether every tree below is known.
func (t *Tree) Whole() bool {
	whole := !t.absent
	for _, d := range t.dirs {
		whole = whole && d.Whole()
	}
	return whole
}

// With is a tree with other entries at some paths; nil is none. What lay in the way of
// an entry, as a file where a directory is to be, is gone.
func (t *Tree) With(changes map[string]*Entry) *Tree {
	if len(changes) == 0 {
		return t
	}
	files, dirs := maps.Clone(t.files), maps.Clone(t.dirs)
	if files == nil {
		files = map[string]Entry{}
	}
	if dirs == nil {
		dirs = map[string]*Tree{}
	}
	below := map[string]map[string]*Entry{}
	for path, e := range changes {
		dir, left, isBelow := strings.Cut(path, "/")
		switch {
		case isBelow && below[dir] == nil:
			below[dir] = map[string]*Entry{left: e}
		case isBelow:
			below[dir][left] = e
		case e == nil:
			delete(files, path)
		}
	}
	for dir, list := range below {
		old := dirs[dir]
		if old == nil {
			old = newTree(t.format, nil, nil)
		}
		if next := old.With(list); len(next.files)+len(next.dirs) > 0 {
			dirs[dir] = next
			delete(files, dir)
		} else {
			delete(dirs, dir)
		}
	}
	for path, e := range changes {
		if e != nil && !strings.Contains(path, "/") {
			files[path] = *e
			delete(dirs, path)
		}
	}
	return newTree(t.format, files, dirs)
}

// Entry is what a path is in the tree; ok is false if it is none, or a directory.
func (t *Tree) Entry(path string) (e Entry, ok bool) {
	for {
		dir, left, isBelow := strings.Cut(path, "/")
		if !isBelow {
			e, ok = t.files[path]
			return e, ok
		}
		if t = t.dirs[dir]; t == nil {
			return Entry{}, false
		}
		path = left
	}
}

// Walk gives every entry to each, sorted by path. A subtree that is not stored is
// given once, by its path with a slash at the end, and the zero entry.
func (t *Tree) Walk(each func(path string, e Entry)) { t.walk("", each) }

func (t *Tree) walk(prefix string, each func(string, Entry)) {
	if t.absent {
		each(prefix, Entry{})
		return
	}
	for _, base := range t.bases(nil) {
		if e, ok := t.files[base]; ok {
			each(prefix+base, e)
		} else {
			t.dirs[base].walk(prefix+base+"/", each)
		}
	}
}

// bases are the names in two directories, in the order of paths.
func (t *Tree) bases(other *Tree) []string {
	all := map[string]bool{}
	for _, one := range []*Tree{t, other} {
		if one == nil {
			continue
		}
		for base := range one.files {
			all[base] = true
		}
		for base := range one.dirs {
			all[base] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Compare(a, b) })
}

// Difference is a path that is not the same in two trees; the zero entry is none.
type Difference struct {
	Path        string
	Before, Now Entry
}

// Compare lists what differs between two trees. A subtree that is not stored is the same
// in both, or an error.
func Compare(before, now *Tree) ([]Difference, error) {
	return compare(nil, "", before, now)
}

func compare(list []Difference, prefix string, before, now *Tree) (_ []Difference, err error) {
	if before != nil && now != nil && before.name == now.name {
		return list, nil
	}
	for _, t := range []*Tree{before, now} {
		if t != nil && t.absent {
			return nil, fmt.Errorf("the tree of %q %w", prefix, ErrMissing)
		}
	}
	if before == nil {
		before = &Tree{}
	}
	for _, base := range before.bases(now) {
		var b, n Entry
		var bd, nd *Tree
		b, bd = before.files[base], before.dirs[base]
		if now != nil {
			n, nd = now.files[base], now.dirs[base]
		}
		if b != n {
			list = append(list, Difference{prefix + base, b, n})
		}
		if bd != nil || nd != nil {
			if list, err = compare(list, prefix+base+"/", bd, nd); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// onTheWay collects the trees from the root to a path, as far as there are any.
func (t *Tree) onTheWay(path string, into map[string]object) {
	for t != nil && !t.absent {
		into[t.name] = object{t.name, kindTree, t.data}
		dir, left, isBelow := strings.Cut(path, "/")
		if !isBelow {
			return
		}
		t, path = t.dirs[dir], left
	}
}

// Tree reads a stored tree. Of subtrees that are not stored only the name is known,
// unless base has them: it is the tree that the work began on, or nil.
func (s *Store) Tree(name string, base *Tree) (*Tree, error) {
	known := map[string]*Tree{}
	if base != nil {
		base.collect(known)
	}
	return s.tree(name, known, 0)
}

func (t *Tree) collect(into map[string]*Tree) {
	into[t.name] = t
	for _, d := range t.dirs {
		d.collect(into)
	}
}

// Bounds of paths. git takes none that is longer, so no commit has more directories in each
// other than maxDepth.
const (
	maxPath  = 4095
	maxDepth = maxPath/2 + 1
	maxOpen  = 500 // directories in each other that a scan enters, each of which stays open meanwhile
)

// tooDeep reports whether a scan leaves out a path.
func tooDeep(path string) bool { return len(path) > maxPath || strings.Count(path, "/") > maxOpen }

func (s *Store) tree(name string, known map[string]*Tree, depth int) (*Tree, error) {
	if t := known[name]; t != nil {
		return t, nil
	}
	data, ok := s.get(kindTree, name)
	switch {
	case name == EmptyTree(len(name)):
		return newTree(len(name), nil, nil), nil
	case !ok && depth == 0:
		return nil, fmt.Errorf("the tree %s %w", name, ErrMissing)
	case !ok:
		return &Tree{format: len(name), name: name, absent: true}, nil
	case depth > maxDepth:
		return nil, fmt.Errorf("the tree %s is too deep", name)
	}
	t := &Tree{format: len(name), files: map[string]Entry{}, dirs: map[string]*Tree{}, name: name, data: data}
	err := eachLine(name, data, func(mode, base, child string) (err error) {
		if mode == modeDir {
			t.dirs[base], err = s.tree(child, known, depth+1)
			return err
		}
		t.files[base] = Entry{mode, child}
		return nil
	})
	return t, err
}

// eachLine gives the lines of a tree's data.
func eachLine(name string, data []byte, each func(mode, base, child string) error) error {
	width := len(name) / 2
	for len(data) > 0 {
		head, left, ok := bytes.Cut(data, []byte{0})
		mode, base, isLine := strings.Cut(string(head), " ")
		if !ok || !isLine || len(left) < width || !plainName(base) {
			return fmt.Errorf("the tree %s is damaged", name)
		}
		if err := each(strings.TrimLeft(mode, "0"), base, hex.EncodeToString(left[:width])); err != nil {
			return err
		}
		data = left[width:]
	}
	return nil
}
