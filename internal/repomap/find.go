package repomap

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"
)

// index finds files by what a task says.
type index struct {
	paths  []string
	bases  map[string][]string // of files, in lower case
	dirs   map[string][]string // directories by their own names, in lower case
	stems  map[string][]string // by the name without its ending, see joined
	frames map[string][]string // by the name without its ending, in lower case
}

func newIndex(paths []string) *index {
	x := &index{paths: paths, bases: map[string][]string{}, dirs: map[string][]string{}, stems: map[string][]string{}, frames: map[string][]string{}}
	seen := map[string]bool{}
	for _, p := range paths {
		base := strings.ToLower(path.Base(p))
		x.bases[base] = append(x.bases[base], p)
		stem := strings.TrimSuffix(base, path.Ext(base))
		x.frames[stem] = append(x.frames[stem], p)
		x.stems[joined(subject(stem))] = append(x.stems[joined(subject(stem))], p)
		for d := path.Dir(p); d != "." && !seen[d]; d = path.Dir(d) {
			seen[d] = true
			name := strings.ToLower(path.Base(d))
			x.dirs[name] = append(x.dirs[name], d)
		}
	}
	return x
}

// subject is what a file of tests is about.
func subject(stem string) string {
	for _, affix := range []string{"_test", "_spec", ".test", ".spec", "tests", "test"} {
		if short := strings.TrimSuffix(stem, affix); short != "" && short != stem {
			return short
		}
	}
	return strings.TrimPrefix(stem, "test_")
}

const (
	maxSame = 8  // files of one name that a word can mean
	minWord = 3  // letters of a word that can mean a file
	weak    = 10 // files with a word of the task in their names, where the word says little
)

// find gives the files and directories that a text names, and those that it probably means.
func (x *index) find(text string) (named, likely []string) {
	points := map[string]float64{}
	for _, m := range mentions(text) {
		if found := x.named(m); found != nil {
			named = append(named, found...)
			continue
		}
		for _, p := range x.module(m.text) {
			points[p] += 6
		}
	}
	named = unique(named)
	x.score(text, points)
	for _, p := range named {
		delete(points, p)
	}
	return named, best(points)
}

// named are the files and directories that a word names by a path, whole or its end,
// as stack traces have it.
func (x *index) named(m mention) []string {
	word := strings.ToLower(strings.Trim(m.text, "/"))
	for rest := word; ; {
		found := ending(x.bases[path.Base(rest)], rest)
		if len(found) > maxSame || rest == path.Base(rest) && !x.isName(m, rest) {
			found = nil
		}
		if found != nil {
			return found
		}
		_, shorter, ok := strings.Cut(rest, "/")
		if !ok {
			break
		}
		rest = shorter
	}
	if !strings.Contains(m.text, "/") && !m.code {
		return nil
	}
	found := ending(x.dirs[path.Base(word)], word)
	if len(found) == 0 || len(found) > 2 {
		return nil
	}
	for i := range found {
		found[i] += "/"
	}
	return found
}

// isName tells a file's name from a word: one with an ending, in code, or written as the file is.
func (x *index) isName(m mention, base string) bool {
	if strings.Contains(strings.TrimPrefix(base, "."), ".") || m.code || strings.HasPrefix(base, ".") {
		return true
	}
	return slices.ContainsFunc(x.bases[base], func(p string) bool {
		return path.Base(p) == path.Base(m.text) && strings.ToLower(path.Base(p)) != path.Base(p)
	})
}

// ending are the paths that are, or end in, a word in lower case. A whole one is the only one.
func ending(paths []string, word string) (found []string) {
	for _, p := range paths {
		lower := strings.ToLower(p)
		if lower == word {
			return []string{p}
		}
		if strings.HasSuffix(lower, "/"+word) {
			found = append(found, p)
		}
	}
	if own := slices.DeleteFunc(slices.Clone(found), foreign); len(own) > 0 {
		return own
	}
	return found
}

// module are the files that dotted names mean: com.example.Shop.sell, app.models.user.
func (x *index) module(word string) []string {
	if strings.Contains(word, "/") || strings.Count(word, ".") == 0 {
		return nil
	}
	parts := strings.Split(strings.ToLower(word), ".")
	for n := len(parts); n > 1; n-- {
		for from := 0; from <= min(1, n-2); from++ { // a name may begin with that of the package
			want := strings.Join(parts[from:n], "/")
			var found []string
			for _, p := range x.frames[parts[n-1]] {
				stem := strings.ToLower(strings.TrimSuffix(p, path.Ext(p)))
				if stem == want || strings.HasSuffix(stem, "/"+want) {
					found = append(found, p)
				}
			}
			if len(found) > 0 && len(found) <= maxSame {
				return found
			}
		}
	}
	return nil
}

// score gives points to files whose names have words of the text.
func (x *index) score(text string, points map[string]float64) {
	title, _, _ := strings.Cut(text, "\n")
	weights := map[string]float64{}
	for i, part := range []string{title, text} {
		for _, word := range identifier.FindAllString(part, -1) {
			worth := 1.0
			if looksLikeCode(word) {
				worth = 2
			}
			if i == 0 {
				worth *= 1.5
			}
			if len(word) >= minWord && (looksLikeCode(word) || !stop[singular(strings.ToLower(word))]) {
				x.whole(word, worth, points)
			}
			for _, w := range wordsOf(word) {
				if !stop[w] {
					weights[w] = max(weights[w], worth)
				}
			}
		}
	}
	x.parts(weights, points)
}

// whole gives points to files whose whole name a word is, once for each word.
func (x *index) whole(word string, worth float64, points map[string]float64) {
	found := x.stems[joined(word)]
	for _, p := range found {
		if len(found) <= maxSame {
			points[p] = max(points[p], 2*worth/math.Sqrt(float64(len(found))))
		}
	}
}

// parts gives points to files of whose names some words are in the text: rare ones count more.
func (x *index) parts(weights map[string]float64, points map[string]float64) {
	count := map[string]int{}
	of := make([][]string, len(x.paths))
	for i, p := range x.paths {
		dir, base := path.Split(p)
		words := append(wordsOf(strings.TrimSuffix(base, path.Ext(base))), wordsOf(path.Base(dir))...)
		for _, w := range unique(words) {
			if weights[w] > 0 {
				count[w]++
				of[i] = append(of[i], w)
			}
		}
	}
	for i, p := range x.paths {
		sum := 0.0
		for _, w := range of[i] {
			sum += weights[w] / math.Sqrt(float64(max(count[w], 1)))
		}
		if len(of[i]) > 1 || len(of[i]) == 1 && count[of[i][0]] <= weak {
			points[p] += sum
		}
	}
}

// best are the files with most points, if they have many.
func best(points map[string]float64) []string {
	var all []string
	for p, n := range points {
		switch {
		case foreign(p):
			n /= 5
		case !isSource(p):
			n /= 2
		case testPlace(p) != "":
			n *= 0.8
		}
		if points[p] = math.Round(n*1000) / 1000; n >= 1 {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(points[b], points[a]), strings.Compare(a, b))
	})
	for i, p := range all {
		if i == maxLikely || points[p] < points[all[0]]/3 {
			return all[:i]
		}
	}
	return all
}

// unique keeps the first of equal texts, in order.
func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
}
