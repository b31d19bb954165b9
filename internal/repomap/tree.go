package repomap

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"agent/internal/sanitize"
	"agent/llm"
)

// dir is a directory of the map.
type dir struct {
	name  string // relative to the directory that it is shown in
	path  string
	files []string
	dirs  []*dir // by name
	count int    // of files in it and below
	kinds map[string]int
	worth int // source files in it and below, and what the task is about
	own   int // files in it and below that people of the project write

	mostFiles int  // that it may name
	open      bool // it is shown from within
	names     int  // so many of its files are named then
	below     int  // and so many directories
}

const (
	hitWorth  = 300 // of a file that the task is about
	openFiles = 40  // files that an open directory names at most
	fewFiles  = 5   // fewer are not worth it, unless they are all
	smallTree = 300 // files of a repository in which each directory may name all of its own
	openDirs  = 60  // directories that one shows at most, but for the root
)

// newTree makes the directories of sorted paths. hits are files and directories that the task is about.
func newTree(paths, hits []string) *dir {
	most := openFiles
	if len(paths) <= smallTree {
		most = smallTree
	}
	root := &dir{kinds: map[string]int{}, mostFiles: most}
	byPath := map[string]*dir{".": root}
	var get func(p string) *dir
	get = func(p string) *dir {
		if d := byPath[p]; d != nil {
			return d
		}
		up := get(path.Dir(p))
		d := &dir{name: path.Base(p), path: p, kinds: map[string]int{}, mostFiles: most}
		up.dirs = append(up.dirs, d)
		byPath[p] = d
		return d
	}
	for _, p := range paths {
		d, base := get(path.Dir(p)), path.Base(p)
		d.files = append(d.files, base)
		d.count++
		d.kinds[kindOf(base)]++
		if isSource(p) {
			d.worth++
		}
		if !foreign(p) {
			d.own++
		}
	}
	for _, p := range hits {
		if d := byPath[path.Dir(strings.TrimSuffix(p, "/")+"/x")]; d != nil {
			d.worth += hitWorth
		} else if d := byPath[path.Dir(p)]; d != nil {
			d.worth += hitWorth
		}
	}
	root.sum()
	for _, d := range root.dirs {
		d.join()
	}
	return root
}

// sum adds what lies below.
func (d *dir) sum() {
	for _, sub := range d.dirs {
		sub.sum()
		d.count += sub.count
		d.worth += sub.worth
		d.own += sub.own
		for kind, n := range sub.kinds {
			d.kinds[kind] += n
		}
	}
	slices.SortFunc(d.dirs, func(a, b *dir) int { return strings.Compare(a.name, b.name) })
}

// join makes one of directories that hold nothing but the next one. A top-level
// directory keeps its own line.
func (d *dir) join() {
	for i, sub := range d.dirs {
		for len(sub.files) == 0 && len(sub.dirs) == 1 {
			only := sub.dirs[0]
			only.name = sub.name + "/" + only.name
			sub = only
		}
		d.dirs[i] = sub
		sub.join()
	}
}

// kindsText are the most frequent kinds of files in a directory.
func (d *dir) kindsText(most int, before string) string {
	var kinds []string
	for kind := range d.kinds {
		if kind != "" {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b string) int {
		return cmp.Or(d.kinds[b]-d.kinds[a], strings.Compare(a, b))
	})
	var parts []string
	for _, kind := range kinds[:min(len(kinds), most)] {
		part := sanitize.Path(kind)
		if d.kinds[kind] < d.count {
			part += fmt.Sprint(" ", d.kinds[kind])
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return ""
	}
	return before + strings.Join(parts, ", ")
}

// line is what stands for a directory as long as it is closed.
func (d *dir) line() string {
	return fmt.Sprintf("%s/ %d%s", sanitize.Path(d.name), d.count, d.kindsText(3, " "))
}

// leastCost is what a line for every top-level directory costs.
func (d *dir) leastCost() (n int) {
	n = llm.Estimate("Directories, with the number of files in and below them:\n")
	for _, sub := range d.dirs {
		n += llm.Estimate(sub.line() + "\n")
	}
	return n
}

// write shows the tree in the room of a section.
func (d *dir) write(s *section, depth int) {
	if d.count == 0 || !s.add("Directories, with the number of files in and below them:") {
		return
	}
	if d.leastCost() > s.left {
		d.writePacked(s)
		return
	}
	left := s.left
	for _, sub := range d.dirs {
		left -= llm.Estimate(sub.line() + "\n")
	}
	d.open, d.below = true, len(d.dirs)
	left -= d.nameFiles(left)
	d.openBelow(left, depth)
	for _, line := range d.lines("") {
		s.text.WriteString(line + "\n")
	}
}

// writePacked shows as many top-level directories as have room, the largest first by
// their worth and then in order, where not each can have a line.
func (d *dir) writePacked(s *section) {
	order := slices.Clone(d.dirs)
	slices.SortStableFunc(order, func(a, b *dir) int { return cmp.Or(b.worth-a.worth, b.count-a.count) })
	room := s.left - llm.Estimate("and 100000 more directories with 10000000 files, from aaaaaaaaaaaaaaaa to zzzzzzzzzzzzzzzz\n")
	shown := 0
	for _, sub := range order {
		if room -= llm.Estimate(packed(sub) + ", "); room < 0 {
			break
		}
		shown++
	}
	rest := slices.Clone(order[shown:])
	order = order[:shown]
	byName := func(a, b *dir) int { return strings.Compare(a.name, b.name) }
	slices.SortFunc(order, byName)
	slices.SortFunc(rest, byName)
	var parts []string
	for _, sub := range order {
		parts = append(parts, packed(sub))
	}
	s.text.WriteString(strings.Join(parts, ", ") + "\n")
	if len(rest) > 0 {
		n := 0
		for _, sub := range rest {
			n += sub.count
		}
		s.text.WriteString(fmt.Sprintf("and %d more directories with %d files, from %s to %s\n", len(rest), n, short(rest[0].name), short(rest[len(rest)-1].name)))
	}
}

func packed(d *dir) string { return fmt.Sprintf("%s/ %d", sanitize.Path(d.name), d.count) }

func short(name string) string {
	name = sanitize.Path(name)
	if r := []rune(name); len(r) > 16 {
		return string(r[:15]) + "…"
	}
	return name
}

// openBelow opens directories while there is room, those of most worth first.
func (d *dir) openBelow(left, depth int) {
	type candidate struct {
		dir   *dir
		level int
	}
	var all []candidate
	add := func(of *dir, level int) {
		if depth >= 0 && level > depth {
			return
		}
		for _, sub := range of.shownDirs() {
			if sub.own > 0 {
				all = append(all, candidate{sub, level})
			}
		}
	}
	add(d, 1)
	for len(all) > 0 && left > 8 {
		best := 0
		for i, c := range all {
			if c.dir.worth>>c.level > all[best].dir.worth>>all[best].level {
				best = i
			}
		}
		c := all[best]
		all = slices.Delete(all, best, best+1)
		cost := c.dir.reveal(left, strings.Repeat("  ", c.level))
		if left -= cost; c.dir.open {
			add(c.dir, c.level+1)
		}
	}
}

// reveal opens a directory if what is in it has room, and says what that costs.
func (d *dir) reveal(left int, indent string) (cost int) {
	d.below = min(len(d.dirs), openDirs)
	for _, sub := range d.shownDirs() {
		cost += llm.Estimate(indent + sub.line() + "\n")
	}
	if d.below < len(d.dirs) {
		cost += llm.Estimate(indent + d.restText() + "\n")
	}
	if cost > left {
		d.below = 0
		return 0
	}
	d.open = true
	return cost + d.nameFiles(left-cost)
}

// nameFiles decides how many files are named, and says what that costs.
func (d *dir) nameFiles(left int) int {
	d.names = min(len(d.files), d.mostFiles)
	for d.names >= min(len(d.files), fewFiles) && d.names > 0 {
		cost := llm.Estimate(d.filesText() + "\n")
		if cost <= left {
			return cost
		}
		d.names = d.names * 2 / 3
	}
	d.names = 0
	return 0
}

// shownFiles are files that are named: where not all are, source before tests and the rest.
func (d *dir) shownFiles() []string {
	if d.names == len(d.files) {
		return d.files
	}
	rank := func(name string) int {
		switch p := path.Join(d.path, name); {
		case !isSource(p):
			return 2
		case testPlace(name) != "":
			return 1
		}
		return 0
	}
	most := slices.Clone(d.files)
	slices.SortStableFunc(most, func(a, b string) int { return rank(a) - rank(b) })
	most = most[:d.names]
	slices.Sort(most)
	return most
}

func (d *dir) filesText() string {
	if d.names == 0 {
		return ""
	}
	var names []string
	for _, name := range d.shownFiles() {
		names = append(names, sanitize.Path(name))
	}
	text := strings.Join(names, ", ")
	if more := len(d.files) - d.names; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// shownDirs are the directories of most worth, by name.
func (d *dir) shownDirs() []*dir {
	if d.below == len(d.dirs) {
		return d.dirs
	}
	most := slices.Clone(d.dirs)
	slices.SortStableFunc(most, func(a, b *dir) int { return cmp.Or(b.worth-a.worth, b.count-a.count) })
	most = most[:d.below]
	slices.SortFunc(most, func(a, b *dir) int { return strings.Compare(a.name, b.name) })
	return most
}

func (d *dir) restText() string {
	n := 0
	for _, sub := range d.dirs {
		n += sub.count
	}
	for _, sub := range d.shownDirs() {
		n -= sub.count
	}
	return fmt.Sprintf("and %d more directories with %d files", len(d.dirs)-d.below, n)
}

// lines show what is in an open directory. Files stand first.
func (d *dir) lines(indent string) (lines []string) {
	if text := d.filesText(); text != "" {
		lines = append(lines, indent+text)
	}
	for _, sub := range d.shownDirs() {
		switch {
		case sub.open && len(sub.dirs) == 0 && sub.names > 0:
			lines = append(lines, fmt.Sprintf("%s%s/ %d: %s", indent, sanitize.Path(sub.name), sub.count, sub.filesText()))
		case sub.open:
			lines = append(lines, indent+sub.line())
			lines = append(lines, sub.lines(indent+"  ")...)
		default:
			lines = append(lines, indent+sub.line())
		}
	}
	if d.below < len(d.dirs) {
		lines = append(lines, indent+d.restText())
	}
	return lines
}
