// Package repomap makes a map of a repository for a model: what there is and where,
// in as many tokens as it may cost. It knows the paths of the files and the text of the
// task, and nothing else: the same paths, task and details always give the same bytes.
//
// The map names every top-level directory with its files counted by kind, the files
// that the task names or probably means, manifests, entry points, tests, and the
// directories that bring rules of their own. What room is left shows directories from
// within, those with the most source and the likely files first.
package repomap

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"agent/internal/sanitize"
	"agent/llm"
)

// Map is what is known of a repository.
type Map struct {
	paths  []string
	root   *dir
	words  map[string]bool // of the task, in lower case
	named  []string        // files and directories that the task names; the latter end in a slash
	likely []string        // files that it probably means, the likeliest first
}

// Detail is what is known of one file beside its path.
type Detail struct {
	Size    int64
	Symbols []Symbol // in the order of their lines
}

// Symbol is something that a file defines.
type Symbol struct {
	Kind string
	Name string
	Line int
}

// Options say how a map is written.
type Options struct {
	Tokens  int               // that it may cost, by our own estimate
	Depth   int               // levels of directories that are shown from within; -1: all
	Details map[string]Detail // by path
}

// New takes the paths of a repository, with slashes, and the text of the task.
func New(paths []string, task string) *Map {
	m := &Map{paths: slices.Compact(slices.Sorted(slices.Values(paths)))}
	m.named, m.likely = newIndex(m.paths).find(task)
	m.words = map[string]bool{}
	for _, word := range identifier.FindAllString(strings.ToLower(task), -1) {
		m.words[word] = true
	}
	m.root = newTree(m.paths, slices.Concat(m.named, m.likely))
	return m
}

// Wanted are the files whose details are of use, the likeliest first.
func (m *Map) Wanted() []string {
	files := slices.DeleteFunc(slices.Concat(m.named, m.likely), func(p string) bool { return strings.HasSuffix(p, "/") })
	return files[:min(len(files), maxDetails)]
}

// Rules are the files with rules for agents below the root, nearest to it first.
func (m *Map) Rules() []string {
	return m.filter(func(p string) bool {
		dir, base := path.Split(p)
		return dir != "" && slices.Contains(RuleFiles, base)
	})
}

// RuleFiles are the names of files with rules for agents, in the order in which they are shown.
var RuleFiles = []string{"AGENTS.md", "CLAUDE.md", "AGENT.md"}

const (
	maxDetails = 16 // files whose details are shown
	maxSymbols = 10 // of one file
	maxNamed   = 60
	maxLikely  = 12
	maxPlaces  = 12 // of one kind, as manifests
)

// section is a part of the map with so much room.
type section struct {
	text strings.Builder
	left int // tokens
}

// add adds a line if it has room.
func (s *section) add(line string) bool {
	cost := llm.Estimate(line + "\n")
	if cost > s.left {
		return false
	}
	s.left -= cost
	s.text.WriteString(line + "\n")
	return true
}

// Text writes the map.
func (m *Map) Text(o Options) string {
	head := &section{left: o.Tokens}
	head.add(fmt.Sprintf("%d files%s", len(m.paths), m.root.kindsText(8, ": ")))
	need := min(m.root.leastCost(), o.Tokens*6/10)
	facts := &section{left: head.left - need}
	m.addFiles(facts, o)
	m.addPlaces(facts)
	tree := &section{left: need + facts.left}
	m.root.write(tree, o.Depth)
	return strings.TrimSuffix(head.text.String()+facts.text.String()+tree.text.String(), "\n")
}

// addFiles names the files that the task is about: all by their paths before any
// takes room for details.
func (m *Map) addFiles(s *section, o Options) {
	lines := &section{left: s.left * 6 / 10}
	var shown []string
	for _, group := range []struct {
		head  string
		paths []string
		most  int
	}{{"Named by the task:", m.named, maxNamed}, {"Perhaps meant by the task:", m.likely, maxLikely}} {
		if len(group.paths) == 0 || !lines.add(group.head) {
			continue
		}
		for i, p := range group.paths {
			if i == group.most || !lines.add("- "+sanitize.Path(p)+sizeText(o.Details[p].Size)) {
				lines.add(fmt.Sprintf("- and %d more", len(group.paths)-i))
				break
			}
			shown = append(shown, p)
		}
	}
	s.left -= lines.used(s.left * 6 / 10)
	text := lines.text.String()
	for _, p := range shown {
		text = m.withSymbols(s, text, p, o.Details[p])
	}
	s.text.WriteString(text)
}

func (s *section) used(had int) int { return had - s.left }

// withSymbols adds the symbols of a file to its line, as far as a third of the room goes.
func (m *Map) withSymbols(s *section, text, p string, d Detail) string {
	more := m.symbols(d.Symbols)
	cost := llm.Estimate(more)
	if more == "" || cost > s.left/3 {
		return text
	}
	s.left -= cost
	line := "- " + sanitize.Path(p) + sizeText(d.Size)
	return strings.Replace(text, line+"\n", line+more+"\n", 1)
}

// symbols are some of what a file defines: what the task names, then what stands first.
func (m *Map) symbols(all []Symbol) string {
	rank := func(y Symbol) int {
		_, name, _ := strings.Cut("."+y.Name, ".")
		if m.words[strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])] {
			return 0
		}
		return 1
	}
	most := slices.Clone(all)
	slices.SortStableFunc(most, func(a, b Symbol) int { return rank(a) - rank(b) })
	most = most[:min(len(most), maxSymbols)]
	slices.SortStableFunc(most, func(a, b Symbol) int { return a.Line - b.Line })
	var shown []string
	for _, y := range most {
		shown = append(shown, fmt.Sprintf("%s %s:%d", y.Kind, sanitize.Path(y.Name), y.Line))
	}
	if shown == nil {
		return ""
	}
	return ": " + strings.Join(shown, ", ")
}

func sizeText(n int64) string {
	if n < 10<<10 {
		return "" // what can be read at once needs no word
	}
	return fmt.Sprintf(" (%d KB)", n>>10)
}

// addPlaces says where things are that every work on a project needs.
func (m *Map) addPlaces(s *section) {
	for _, group := range []struct{ head, list string }{
		{"Rules for directories, shown when work goes there", places(m.Rules())},
		{"Manifests", places(m.filter(isManifest))},
		{"Entry points", places(m.filter(isEntry))},
		{"Tests", m.tests()},
	} {
		if group.list != "" {
			s.add(group.head + ": " + group.list)
		}
	}
}

// filter is what a predicate takes, nearest to the root first.
func (m *Map) filter(take func(p string) bool) (list []string) {
	for _, p := range m.paths {
		if take(p) && !foreign(p) {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return list
}

// places are the first of some paths, and how many more there are.
func places(paths []string) string {
	var shown []string
	for _, p := range paths[:min(len(paths), maxPlaces)] {
		shown = append(shown, sanitize.Path(p))
	}
	text := strings.Join(shown, ", ")
	if more := len(paths) - len(shown); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// tests counts tests by where they lie: in directories of their own, or beside the source.
func (m *Map) tests() string {
	counts := map[string]int{}
	for _, p := range m.paths {
		if where := testPlace(p); where != "" && !foreign(p) {
			counts[where]++
		}
	}
	var all []string
	for where := range counts {
		all = append(all, where)
	}
	slices.SortFunc(all, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	var shown []string
	for _, where := range all[:min(len(all), maxPlaces/2)] {
		shown = append(shown, fmt.Sprintf("%s %d", sanitize.Path(where), counts[where]))
	}
	return strings.Join(shown, ", ")
}
