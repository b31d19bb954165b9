// Package byproducts knows the files that programs leave beside their work:
// bytecode, caches, installed packages, results of builds and tests.
//
// list.txt holds a pattern a line, and after a tab what makes such files. A
// pattern is compared with each part of a path, as in a .gitignore without
// slashes; one that ends in a slash stands for a directory. A match says only
// that a name is well known. Whether files of that name are the work itself, the
// caller decides with [Find]: a directory that holds a file that is part of the
// repository, or that somebody named, is none.
package byproducts

import (
	_ "embed"
	"path"
	"slices"
	"strings"
)

//go:embed list.txt
var list string

type pattern struct {
	glob, kind string
	dir        bool
}

var patterns = parse(list)

func parse(text string) (all []pattern) {
	for line := range strings.Lines(text) {
		glob, kind, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || strings.HasPrefix(glob, "#") {
			continue
		}
		name, dir := strings.CutSuffix(glob, "/")
		all = append(all, pattern{name, kind, dir})
	}
	return all
}

// Known says what makes files of a name, "" if the name is not well known.
func Known(name string, dir bool) (kind string) {
	for _, p := range patterns {
		if ok, err := path.Match(p.glob, name); ok && err == nil && p.dir == dir {
			return p.kind
		}
	}
	return ""
}

// Entry is a directory (its path ends in a slash) or a file.
type Entry struct{ Path, Kind string }

// Find names the by-products among new paths. kept are paths that are part of the
// repository or the work; neither they nor a directory above one is a by-product.
// A path of fresh that ends in a slash is a directory.
func Find(fresh, kept []string) (found []Entry) {
	above := map[string]bool{}
	for _, p := range kept {
		for ; p != "." && p != "/" && p != ""; p = path.Dir(p) {
			above[strings.TrimSuffix(p, "/")] = true
		}
	}
	for _, p := range fresh {
		if e := match(p, above); e.Path != "" && !slices.Contains(found[max(len(found)-1, 0):], e) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(found)
}

// match is the outermost by-product that a path is or lies in.
func match(p string, kept map[string]bool) Entry {
	for end := 0; end < len(p); end++ {
		slash := strings.IndexByte(p[end:], '/')
		dir := slash >= 0
		if !dir {
			slash = len(p) - end
		}
		start := end
		end += slash
		kind := Known(p[start:end], dir)
		switch {
		case kind == "" || kept[p[:end]]:
		case dir:
			return Entry{p[:end+1], kind}
		default:
			return Entry{p, kind}
		}
	}
	return Entry{}
}
